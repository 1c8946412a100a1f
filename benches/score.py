"""Scoring with boosted trees beside LightGBM, XGBoost and CatBoost: microseconds per document on one thread.

Each tool trains on the same synthetic data of MSLR's shape and scores the same test documents, all at once and in
small batches. Rankwise scores with LightGBM's trees, in compiled form and by walking the trees.

Child processes: score.py --child lightgbm|xgboost|catboost MODEL TREES
"""

import argparse
import json
import subprocess
import sys
import time

import common

FEATURES = 136
# Documents per batch, and how many batches of each size are timed.
BATCHES = (60_000, 100, 10, 1)
REQUESTS = 600
# After one run to warm up; as in score_bench.
RUNS = 5


def make_data(directory, queries):
    """The data of trees.py; four of five queries are for training, the others for testing."""
    import numpy

    bench = common.built("boost_bench")
    subprocess.run([bench, "make", f"mslr:{queries}", directory], check=True)
    values = numpy.fromfile(directory / "values.f32", numpy.float32).reshape(-1, FEATURES)
    values[train_rows(directory) :].tofile(directory / "test_x.f32")


def groups_in(directory):
    """Documents of each training query, and of each test query."""
    import numpy

    sizes = numpy.fromfile(directory / "sizes.u32", numpy.uint32)
    return sizes[: len(sizes) * 4 // 5], sizes[len(sizes) * 4 // 5 :]


def train_rows(directory):
    return int(groups_in(directory)[0].sum())


def test_rows(directory):
    import numpy

    return numpy.fromfile(directory / "test_x.f32", numpy.float32).reshape(-1, FEATURES)


def train(tool, leaves, trees, directory, threads):
    """Trains a model with the tool's own ranking loss and saves it."""
    import numpy

    path = directory / f"{tool}-{leaves}-{trees}.model"
    if path.exists():
        return path
    print(f"training {path.stem}", file=sys.stderr)
    rows, groups = train_rows(directory), groups_in(directory)[0]
    x = numpy.fromfile(directory / "values.f32", numpy.float32, rows * FEATURES).reshape(-1, FEATURES)
    y = numpy.fromfile(directory / "labels.f32", numpy.float32, rows)
    if tool == "lightgbm":
        import lightgbm

        settings = dict(objective="lambdarank", num_leaves=leaves, learning_rate=0.1, num_threads=threads, verbose=-1)
        lightgbm.train(settings, lightgbm.Dataset(x, y, group=groups), trees).save_model(path)
    elif tool == "xgboost":
        import xgboost

        settings = dict(objective="rank:ndcg", tree_method="hist", grow_policy="lossguide", max_leaves=leaves)
        data = xgboost.QuantileDMatrix(x, y, group=groups)
        model = xgboost.train(dict(settings, max_depth=0, eta=0.1, nthread=threads), data, trees)
        path.write_bytes(model.save_raw())
    else:
        import catboost

        query = numpy.repeat(numpy.arange(len(groups)), groups)
        model = catboost.CatBoost(
            dict(loss_function="QueryRMSE", depth=leaves.bit_length() - 1, iterations=trees, thread_count=threads,
                 allow_writing_files=False)
        )
        model.fit(catboost.Pool(x, y, group_id=query), verbose=False)
        model.save_model(path)
    return path


def predictor(tool, path, trees):
    """A function that scores rows with the first trees of a model, on one thread."""
    if tool == "lightgbm":
        import lightgbm

        model = lightgbm.Booster(model_file=path)
        return lambda rows: model.predict(rows, num_iteration=trees, num_threads=1)
    if tool == "xgboost":
        import xgboost

        model = xgboost.Booster({"nthread": 1}, model_file=path)
        return lambda rows: model.inplace_predict(rows, iteration_range=(0, trees), predict_type="margin")
    import catboost

    model = catboost.CatBoost().load_model(path)
    return lambda rows: model.predict(rows, ntree_end=trees, thread_count=1)


def child(tool, path, trees, directory):
    """Times one tool on every batch size."""
    predict, rows = predictor(tool, path, trees), test_rows(directory)
    result = {}
    for batch in BATCHES:
        chosen = rows[: min(len(rows), batch * REQUESTS)]
        requests = [chosen[i : i + batch] for i in range(0, len(chosen), batch)]
        seconds = float("inf")
        for _ in range(RUNS + 1):
            start = time.perf_counter()
            for request in requests:
                predict(request)
            seconds = min(seconds, time.perf_counter() - start)
        result[f"us{batch}"] = 1e6 * seconds / len(chosen)
    result["sum"] = float(predict(rows).sum(dtype="float64"))
    result["ndcg"] = ndcg(predict(rows), directory)
    print(json.dumps(result))


def ndcg(scores, directory, depth=10):
    """The mean NDCG@10 over the test queries with relevant documents."""
    import numpy

    gains = 2.0 ** numpy.fromfile(directory / "labels.f32", numpy.float32)[train_rows(directory) :] - 1
    discounts = 1 / numpy.log2(numpy.arange(2, depth + 2))
    values, start = [], 0
    for count in groups_in(directory)[1]:
        gain, score = gains[start : start + count], scores[start : start + count]
        start += count
        ideal = numpy.sort(gain)[::-1][:depth] @ discounts[:count]
        if ideal > 0:
            values.append(gain[numpy.argsort(-score, kind="stable")[:depth]] @ discounts[:count] / ideal)
    return float(numpy.mean(values))


def first_trees(path, trees):
    """A LightGBM model cut to its first trees."""
    import lightgbm

    target = path.with_name(f"{path.stem}-first-{trees}.txt")
    lightgbm.Booster(model_file=path).save_model(target, num_iteration=trees)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2500)
    parser.add_argument("--trees", type=int, nargs="+", default=(100, 300, 1000))
    parser.add_argument("--leaves", type=int, nargs="+", default=(31, 64))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="threads for training; scoring uses one")
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    parser.add_argument("--child", nargs=3, metavar=("TOOL", "MODEL", "TREES"))
    arguments = parser.parse_args()
    directory = common.DATA / f"mslr-{arguments.queries}"
    if arguments.child:
        tool, path, trees = arguments.child
        return child(tool, path, int(trees), directory)

    if not (directory / "test_x.f32").exists():
        make_data(directory, arguments.queries)
    bench = common.built("score_bench", arguments.profile)
    most, rows = max(arguments.trees), []
    models = {
        (tool, leaves): train(tool, leaves, most, directory, arguments.threads)
        for tool in ("lightgbm", "xgboost", "catboost")
        for leaves in (arguments.leaves if tool != "catboost" else [64])
    }
    for trees in arguments.trees:
        contenders = {
            (tool, leaves): [sys.executable, __file__, "--queries", arguments.queries, "--child", tool, path, trees]
            for (tool, leaves), path in models.items()
        }
        for leaves in arguments.leaves:
            ours = first_trees(models["lightgbm", leaves], trees)
            for form in ("compiled", "plain"):
                batches = [f"{batch}:{REQUESTS}" for batch in BATCHES]
                contenders[f"rankwise {form}", leaves] = [bench, ours, directory / "test_x.f32", form, *batches]
        results = common.interleaved(contenders, arguments.repeats, 1)
        for leaves in arguments.leaves:
            compiled, plain, theirs = (
                results[name, leaves][0]["sum"] for name in ("rankwise compiled", "rankwise plain", "lightgbm")
            )
            assert compiled == plain and abs(plain - theirs) < 1e-9 * abs(theirs), (compiled, plain, theirs)
        for (name, leaves), found in sorted(results.items(), key=lambda item: (item[0][1], item[0][0])):
            times = [common.median(found, f"us{batch}") for batch in BATCHES]
            quality = found[0].get("ndcg")
            rows.append((
                name, trees, leaves, *(f"{us:.2f}" for us in times), f"{quality:.4f}" if quality else "as LightGBM",
            ))

    common.heading("Scoring: microseconds per document", ["lightgbm", "xgboost", "catboost"], 1)
    common.table(("tool", "trees", "leaves", "all at once", "by 100", "by 10", "one by one", "NDCG@10"), rows)
    print(f"\nMedians of {arguments.repeats} processes, each the fastest of {RUNS} runs. Rankwise scores LightGBM's trees and")
    print("adds their values in the same order in both forms, so sums are equal. CatBoost's trees are oblivious, depth 6.")
    print("The other tools are called from Python, which is most of their cost for a small batch.")


if __name__ == "__main__":
    main()
