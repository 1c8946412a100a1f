"""LambdaMART beside LightGBM (also with quantized gradients), XGBoost, CatBoost and hessboost: seconds, memory and NDCG
at equal settings.

Data of MSLR's shape (136 features, about 120 documents per query); 255 bins, learning rate 0.1, truncation 30, 100
iterations, leaf-wise growth. CatBoost is also shown with its own symmetric trees of depth 6. Every tool gets the values
as 32-bit floats in memory; binning is included.
"""

import argparse
import pathlib
import subprocess
import sys
import time

import common
import numpy as np

PEERS = ("lightgbm", "lightgbm-quantized", "xgboost", "catboost", "catboost-symmetric", "hessboost")


def data_in(directory):
    """Rows, labels and query sizes."""
    labels = np.fromfile(directory / "labels.f32", np.float32)
    sizes = np.fromfile(directory / "sizes.u32", np.uint32)
    return np.fromfile(directory / "values.f32", np.float32).reshape(len(labels), -1), labels, sizes


def ndcg(scores, labels, sizes, k=10):
    """Mean NDCG@k with gains 2^r − 1, over queries with relevant documents."""
    values, start = [], 0
    discounts = 1 / np.log2(np.arange(2, k + 2))
    for size in sizes:
        grades, s = labels[start:start + size], scores[start:start + size]
        start += size
        gain = lambda order: ((2.0 ** order[:k] - 1) * discounts[:len(order[:k])]).sum()
        ideal = gain(np.sort(grades)[::-1])
        if ideal > 0:
            values.append(gain(grades[np.argsort(-s, kind="stable")]) / ideal)
    return float(np.mean(values))


def train_lightgbm(x, y, sizes, leaves, rounds, threads, quantized=False):
    import lightgbm

    start = time.perf_counter()
    options = {"max_bin": 255, "num_threads": threads, "verbose": -1}
    data = lightgbm.Dataset(x, y, group=sizes, params=options).construct()
    binning = time.perf_counter() - start
    options |= {"objective": "lambdarank", "num_leaves": leaves, "learning_rate": 0.1, "lambdarank_truncation_level": 30}
    options |= {"use_quantized_grad": quantized}
    model = lightgbm.train(options, data, rounds)
    return lambda rows: model.predict(rows, num_threads=threads), binning


def train_xgboost(x, y, sizes, leaves, rounds, threads):
    import xgboost

    start = time.perf_counter()
    data = xgboost.QuantileDMatrix(x, y, group=sizes, max_bin=255, nthread=threads)
    binning = time.perf_counter() - start
    options = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "max_leaves": leaves,
        "max_bin": 255, "eta": 0.1, "lambda": 0, "min_child_weight": 1e-3, "nthread": threads,
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 30,
    }
    model = xgboost.train(options, data, rounds)
    return lambda rows: model.inplace_predict(rows), binning


def train_catboost(x, y, sizes, leaves, rounds, threads, symmetric=False):
    import catboost

    start = time.perf_counter()
    data = catboost.Pool(x, y, group_id=np.repeat(np.arange(len(sizes)), sizes))
    data.quantize(border_count=254, task_type="CPU")
    binning = time.perf_counter() - start
    shape = {"depth": 6} if symmetric else {"grow_policy": "Lossguide", "max_leaves": leaves, "depth": 16}
    model = catboost.CatBoost({
        "loss_function": "LambdaMart:metric=NDCG;sigma=1", "iterations": rounds, "learning_rate": 0.1, "thread_count": threads,
        "verbose": False, "allow_writing_files": False, "random_seed": 1, **shape,
    })
    model.fit(data)
    return lambda rows: model.predict(rows, thread_count=threads), binning


def contend(name, directory, queries, leaves, rounds, threads, scores):
    """Runs one Python tool in this process."""
    x, y, sizes = data_in(directory)
    rows = int(sizes[:queries].sum())
    train, test = x[:rows].copy(), x[rows:].copy()
    del x
    common.forget_peak_memory()
    before = common.memory("VmRSS")
    start = time.perf_counter()
    learn = {"lightgbm": train_lightgbm, "xgboost": train_xgboost, "catboost": train_catboost}
    tool, _, variant = name.partition("-")
    options = {variant: True} if variant else {}
    score, binning = learn[tool](train, y[:rows], sizes[:queries], leaves, rounds, threads, **options)
    seconds = time.perf_counter() - start
    peak = common.memory("VmHWM") - before
    np.asarray(score(test), np.float64).tofile(scores)
    common.json.dump({"seconds": seconds, "binning": binning, "peak_bytes": peak}, sys.stdout)


def commands(arguments, bench, peer, directory, leaves, threads):
    """The command of every tool."""
    scores = lambda name: common.DATA / f"scores-{name}.f64"
    found = {}
    for name in arguments.peers:
        if name == "hessboost":
            found[name] = [peer, directory, arguments.queries, leaves, arguments.rounds, threads, scores(name)]
        else:
            settings = [name, directory, arguments.queries, leaves, arguments.rounds, threads, scores(name)]
            found[name] = [sys.executable, __file__, "--contend", *settings]
    own = [f"leaves={leaves}", f"rounds={arguments.rounds}", "k=30", "learning_rate=0.1"]
    found["rankwise"] = [bench, "train", directory, arguments.queries, scores("rankwise"), "lambda-mart", *own]
    return found, scores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="*", default=PEERS)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--test-queries", type=int, default=500)
    parser.add_argument("--leaves", type=int, nargs="+", default=[31, 64])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    parser.add_argument("--contend", nargs=7, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contend:
        name, directory, *numbers, scores = arguments.contend
        return contend(name, pathlib.Path(directory), *map(int, numbers), scores)

    bench = common.built("boost_bench", arguments.profile)
    peer = common.HERE / "hessboost" / "target" / "release" / "hessboost-bench"
    if "hessboost" in arguments.peers:
        subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=common.HERE / "hessboost", check=True)
    total = arguments.queries + arguments.test_queries
    directory = common.DATA / f"mslr-{total}"
    if not (directory / "sizes.u32").exists():
        subprocess.run([bench, "make", f"mslr:{total}", directory], check=True)
    _, labels, sizes = data_in(directory)
    rows = int(sizes[:arguments.queries].sum())

    for threads in arguments.threads:
        for leaves in arguments.leaves:
            contenders, scores = commands(arguments, bench, peer, directory, leaves, threads)
            results = common.interleaved(contenders, arguments.repeats, threads)
            own = common.median(results["rankwise"], "seconds")
            lines = []
            for name, found in results.items():
                seconds = common.median(found, "seconds")
                binning = f"{common.median(found, 'binning'):.2f}" if "binning" in found[0] else "-"
                value = ndcg(np.fromfile(scores(name), np.float64), labels[rows:], sizes[arguments.queries:])
                peak = f"{common.median(found, 'peak_bytes') / 2**20:.0f}"
                lines.append((name, f"{seconds:.2f}", binning, f"{seconds / own:.2f}", peak, f"{value:.4f}"))
            common.heading(
                f"LambdaMART, {rows:,} × 136, {leaves} leaves, {arguments.rounds} rounds",
                sorted({name.partition("-")[0] for name in arguments.peers} - {"hessboost"}), threads,
            )
            common.table(("", "seconds", "of it binning", "× rankwise", "peak MiB", "NDCG@10"), lines)
    print(f"\nMedians of {arguments.repeats}, without reading; peak memory above that of the data; NDCG@10 on {total - arguments.queries} other queries.")
    if "hessboost" in arguments.peers:
        print("hessboost 0.4.6 does not report its binning separately.")


if __name__ == "__main__":
    main()
