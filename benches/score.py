"""Scoring with boosted trees beside LightGBM, XGBoost, CatBoost and Treelite: microseconds per document on one thread.

Each tool trains on the same synthetic data of MSLR's shape and scores the same test documents, all at once and in
small requests. Rankwise and Treelite score with LightGBM's trees; Treelite as C code that tl2cgen writes and `cc`
compiles. LightGBM, XGBoost and Treelite are called from C (score_peers.c), CatBoost from Python.

--prepare DIRECTORY only trains and compiles, and puts what benches/pack needs into the directory.
"""

import argparse
import ctypes
import json
import lzma
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import common
import numpy

FEATURES = 136
# Documents per request, and how many requests of each size are timed. With fewer documents in all, processors learn by heart
# which way each document goes.
ALL = 60_000
REQUESTS = {ALL: 1, 100: 200, 10: 600, 1: 6_000}
# Runs of which the fastest counts: at least the first number and at most the second, until so many seconds have passed; as
# in score_bench.
RUNS, SECONDS = (2, 6), 0.5
PEERS = ("lightgbm", "xgboost", "catboost", "treelite")


def make_data(directory, queries):
    """The data of trees.py; the last fifth of the queries is for testing."""
    subprocess.run([common.built("boost_bench"), "make", f"mslr:{queries}", directory], check=True)


def sizes_in(directory):
    """Documents of each query that may be used for training, and of each test query."""
    sizes = numpy.fromfile(directory / "sizes.u32", numpy.uint32)
    return sizes[: len(sizes) * 4 // 5], sizes[len(sizes) * 4 // 5 :]


def test_rows(directory):
    first = int(sizes_in(directory)[0].sum())
    values = numpy.fromfile(directory / "values.f32", numpy.float32, offset=first * FEATURES * 4)
    return values.reshape(-1, FEATURES)


def made(name, make):
    """A file of models: packed, made before, or made now with `make(path)`."""
    path, packed = common.DATA / "score" / name, common.PACKED / "score" / f"{name}.xz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"unfinished-{name}")
        if packed.exists():
            unfinished.write_bytes(lzma.decompress(packed.read_bytes()))
        else:
            print(f"making {name}", file=sys.stderr)
            make(unfinished)
        unfinished.rename(path)
    return path


def trained(tool, leaves, trees, queries, directory, threads):
    """A model with the tool's own ranking loss, of the first queries."""

    def make(path):
        groups = sizes_in(directory)[0][:queries]
        rows = int(groups.sum())
        x = numpy.fromfile(directory / "values.f32", numpy.float32, rows * FEATURES).reshape(-1, FEATURES)
        y = numpy.fromfile(directory / "labels.f32", numpy.float32, rows)
        {"lightgbm": train_lightgbm, "xgboost": train_xgboost, "catboost": train_catboost}[tool](
            x, y, groups, leaves, trees, threads, path
        )

    ending = {"lightgbm": "txt", "xgboost": "ubj", "catboost": "cbm"}[tool]
    return made(f"{tool}-{leaves}-{trees}-of-{queries}.{ending}", make)


def train_lightgbm(x, y, groups, leaves, trees, threads, path):
    import lightgbm

    settings = dict(objective="lambdarank", num_leaves=leaves, learning_rate=0.1, num_threads=threads, verbose=-1)
    lightgbm.train(settings, lightgbm.Dataset(x, y, group=groups), trees).save_model(path)


def train_xgboost(x, y, groups, leaves, trees, threads, path):
    import xgboost

    settings = dict(objective="rank:ndcg", tree_method="hist", grow_policy="lossguide", max_leaves=leaves)
    data = xgboost.QuantileDMatrix(x, y, group=groups)
    model = xgboost.train(dict(settings, max_depth=0, eta=0.1, nthread=threads), data, trees)
    path.write_bytes(model.save_raw())


def train_catboost(x, y, groups, leaves, trees, threads, path):
    import catboost

    query = numpy.repeat(numpy.arange(len(groups)), groups)
    settings = dict(loss_function="QueryRMSE", depth=leaves.bit_length() - 1, iterations=trees)
    model = catboost.CatBoost(dict(settings, thread_count=threads, allow_writing_files=False))
    model.fit(catboost.Pool(x, y, group_id=query), verbose=False)
    model.save_model(path)


def first_trees(path, trees):
    """A LightGBM model cut to its first trees."""

    def make(target):
        import lightgbm

        lightgbm.Booster(model_file=path).save_model(target, num_iteration=trees)

    return made(f"{path.stem}-first-{trees}.txt", make)


def compiled_by_treelite(path):
    """The trees of a LightGBM model as a library: code by tl2cgen with its defaults, but one file for every 50 trees,
    which a compiler takes less time for."""

    def make(target):
        import tl2cgen
        import treelite

        model = treelite.frontend.load_lightgbm_model(path)
        with tempfile.TemporaryDirectory() as code:
            tl2cgen.generate_c_code(model, code, params={"parallel_comp": max(1, model.num_tree // 50)})
            shutil.move(tl2cgen.create_shared("gcc", code), target)

    return made(f"{path.stem}-treelite.so", make)


def driver():
    """The functions of score_peers.c."""
    packed = common.PACKED / "score_peers.so"
    path = packed if packed.exists() else compile_driver(common.DATA / "score_peers.so")
    return ctypes.CDLL(path)


def compile_driver(target):
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", target, common.HERE / "score_peers.c"], check=True)
    return target


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def long(number):
    return ctypes.c_int64(number)


def check(error):
    assert error == 0, error


def scorers(tool, path, trees):
    """Functions that score rows in requests of some size with the first trees of a model, on one thread, and the
    largest requests that each is for. Where there are several for a size, the fastest counts."""
    return {"lightgbm": by_lightgbm, "xgboost": by_xgboost, "catboost": by_catboost, "treelite": by_treelite}[tool](path, trees)


def by_lightgbm(path, trees):
    import lightgbm

    calls, library = driver(), lightgbm.basic._LIB
    model = lightgbm.Booster(model_file=path)
    settings = ctypes.c_void_p()
    raw_score, float32 = 1, 0
    check(library.LGBM_BoosterPredictForMatSingleRowFastInit(
        model._handle, raw_score, 0, trees, float32, FEATURES, b"num_threads=1", ctypes.byref(settings)
    ))

    def document_by_document(rows, request, scores):
        check(calls.lightgbm_rows(
            library.LGBM_BoosterPredictForMatSingleRowFast, settings, pointer(rows), long(len(rows)), long(FEATURES), pointer(scores)
        ))

    def request_by_request(rows, request, scores):
        check(calls.lightgbm_requests(
            library.LGBM_BoosterPredictForMat, model._handle, trees, pointer(rows), long(len(rows)), long(FEATURES), long(request),
            pointer(scores),
        ))

    return [(document_by_document, 10), (request_by_request, ALL)]


def by_xgboost(path, trees):
    import xgboost

    calls, library = driver(), xgboost.core._LIB
    model = xgboost.Booster({"nthread": 1}, model_file=path)
    settings = dict(type=1, training=False, iteration_begin=0, iteration_end=trees, missing=float("nan"), strict_shape=False, cache_id=0)

    def request_by_request(rows, request, scores):
        check(calls.xgboost_requests(
            library.XGBoosterPredictFromDense, model.handle, json.dumps(settings).encode(), pointer(rows), long(len(rows)),
            long(FEATURES), long(request), pointer(scores),
        ))

    return [(request_by_request, ALL)]


def by_catboost(path, trees):
    import catboost

    model = catboost.CatBoost().load_model(path)

    def request_by_request(rows, request, scores):
        for i in range(0, len(rows), request):
            scores[i : i + request] = model.predict(rows[i : i + request], ntree_end=trees, thread_count=1)

    return [(request_by_request, ALL)]


def by_treelite(path, _):
    calls, library = driver(), ctypes.CDLL(path)
    row = numpy.zeros(FEATURES)

    def document_by_document(rows, request, scores):
        check(calls.treelite_rows(library.predict, pointer(rows), long(len(rows)), long(FEATURES), pointer(row), pointer(scores)))

    return [(document_by_document, ALL)]


def child(tool, path, trees, directory):
    """Times one tool on every size of request."""
    ways, rows = scorers(tool, path, trees), test_rows(directory)
    scores = numpy.zeros(len(rows))
    result = {}
    for batch, requests in REQUESTS.items():
        chosen = rows[: batch * requests]
        times = [seconds(way, chosen, batch, scores) for way, largest in ways if batch <= largest]
        result[f"us{batch}"] = 1e6 * min(times) / len(chosen)
    ways[-1][0](rows, len(rows), scores)
    print(json.dumps(dict(result, sum=float(scores.sum()), ndcg=ndcg(scores, directory))))


def seconds(score, rows, batch, scores):
    """The fastest of several runs."""
    least, most = RUNS
    times = []
    while len(times) < least or len(times) < most and sum(times) < SECONDS:
        start = time.perf_counter()
        score(rows, batch, scores)
        times.append(time.perf_counter() - start)
    return min(times)


def ndcg(scores, directory, depth=10):
    """The mean NDCG@10 over the test queries with relevant documents."""
    training, testing = sizes_in(directory)
    gains = 2.0 ** numpy.fromfile(directory / "labels.f32", numpy.float32)[int(training.sum()) :] - 1
    discounts = 1 / numpy.log2(numpy.arange(2, depth + 2))
    values, start = [], 0
    for count in testing:
        gain, score = gains[start : start + count], scores[start : start + count]
        start += count
        ideal = numpy.sort(gain)[::-1][:depth] @ discounts[:count]
        if ideal > 0:
            values.append(gain[numpy.argsort(-score, kind="stable")[:depth]] @ discounts[:count] / ideal)
    return float(numpy.mean(values))


def models(arguments, directory):
    """The model file of every tool, number of leaves and number of trees."""
    most, found = max(arguments.trees), {}
    for tool in dict.fromkeys(["lightgbm", *arguments.peers]):
        for leaves in arguments.leaves if tool != "catboost" else [64]:
            for trees in arguments.trees:
                source = "lightgbm" if tool == "treelite" else tool
                path = trained(source, leaves, most, arguments.training_queries, directory, arguments.threads)
                if source == "lightgbm":
                    path = first_trees(path, trees)
                found[tool, leaves, trees] = compiled_by_treelite(path) if tool == "treelite" else path
    return found


def prepare(arguments, directory, target):
    """What `trained`, `compiled_by_treelite` and `driver` find when it is packed."""
    target.mkdir(parents=True, exist_ok=True)
    paths = {path for path in models(arguments, directory).values() if path.suffix != ".txt"}
    for leaves in arguments.leaves:
        most, queries = max(arguments.trees), arguments.training_queries
        paths.add(trained("lightgbm", leaves, most, queries, directory, arguments.threads))
    for path in paths:
        (target / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))
    compile_driver(target.parent / "score_peers.so")


def measured(arguments, directory, trees, found):
    """Results of every tool with so many trees, `{(name, leaves): [result, …]}`."""
    bench, test = common.built("score_bench", arguments.profile), common.DATA / "score" / "test_x.f32"
    test_rows(directory).tofile(test)
    same = [sys.executable, __file__, "--queries", arguments.queries, "--child"]
    contenders = {
        (tool, leaves): [*same, tool, path, trees]
        for (tool, leaves, count), path in found.items() if count == trees and tool in arguments.peers
    }
    own = lambda leaves, form: [bench, found["lightgbm", leaves, trees], test, form]
    for leaves in arguments.leaves:
        contenders["rankwise", leaves] = [*own(leaves, "compiled"), *(f"{batch}:{requests}" for batch, requests in REQUESTS.items())]
    results = common.interleaved(contenders, arguments.repeats, 1)
    for leaves in arguments.leaves:
        walked = common.run_json(own(leaves, "plain"), 1)["sum"]
        sums = {name: each[0]["sum"] for (name, of), each in results.items() if of == leaves}
        assert sums["rankwise"] == walked, (sums, walked)
        same_trees = {name: total for name, total in sums.items() if name in ("lightgbm", "treelite")}
        assert all(abs(total - walked) < 1e-9 * abs(walked) for total in same_trees.values()), (sums, walked)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS)
    parser.add_argument("--queries", type=int, default=2500, help="queries to make, of which the last fifth is for testing")
    parser.add_argument("--training-queries", type=int, default=250, help="queries to train with")
    parser.add_argument("--trees", type=int, nargs="+", default=(100, 300, 1000))
    parser.add_argument("--leaves", type=int, nargs="+", default=(31, 64))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="threads for training; scoring uses one")
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="DIRECTORY")
    parser.add_argument("--child", nargs=3, metavar=("TOOL", "MODEL", "TREES"))
    arguments = parser.parse_args()
    directory = common.DATA / f"mslr-{arguments.queries}"
    if arguments.child:
        tool, path, trees = arguments.child
        return child(tool, path, int(trees), directory)

    if not (directory / "sizes.u32").exists():
        make_data(directory, arguments.queries)
    if arguments.prepare:
        return prepare(arguments, directory, arguments.prepare)
    found, rows = models(arguments, directory), []
    for trees in arguments.trees:
        results = measured(arguments, directory, trees, found)
        for (name, leaves), each in sorted(results.items(), key=lambda item: (item[0][1], item[0][0])):
            times = [f"{min(result[f'us{batch}'] for result in each):.2f}" for batch in REQUESTS]
            quality = each[0].get("ndcg")
            rows.append((name, trees, leaves, *times, f"{quality:.4f}" if quality else "as LightGBM"))

    common.heading("Scoring: microseconds per document", arguments.peers, 1)
    common.table(("tool", "trees", "leaves", "all at once", "by 100", "by 10", "one by one", "NDCG@10"), rows)
    print(f"\nThe fastest of {arguments.repeats} processes with 2 to 6 runs each. Rankwise and Treelite score LightGBM's trees, and")
    print("our sum of all scores equals that of a plain walk. CatBoost's trees are oblivious, depth 6; it is called from")
    print("Python, which is most of its cost for a small request. The other tools are called from C.")


if __name__ == "__main__":
    main()
