"""Ranking SVM beside scikit-learn's LinearSVC on explicit pairs: seconds to the same objective, and peak memory.

Child processes: rank_svm.py --child hinge|squared-hinge primal|dual FILE C TOLERANCE
"""

import argparse
import json
import pathlib
import sys
import time
import warnings

import common

PARTS = ("S1", "S2", "S3")
# Both tools must come within this fraction of the optimum.
SHORT = 1e-3
# LIBLINEAR has truncated Newton in the primal for the squared hinge, coordinate descent in the dual for both.
FORMS = {"squared-hinge": ("primal", "dual"), "hinge": ("dual",)}
TOLERANCES = (30, 10, 3, 1, 3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5)


def make_file(path, source):
    """The three training parts of OHSUMED's first fold, every feature in units of its standard deviation."""
    import numpy
    import sklearn.datasets
    import zstandard

    raw = path.with_suffix(".raw")
    with open(raw, "wb") as file:
        for part in PARTS:
            with open(pathlib.Path(source) / f"{part}.txt.zst", "rb") as packed:
                zstandard.ZstdDecompressor().copy_stream(packed, file)
    features, labels, queries = sklearn.datasets.load_svmlight_file(str(raw), query_id=True)
    raw.unlink()
    features = features.toarray()
    deviation = features.std(axis=0)
    features = (features - features.mean(axis=0)) / numpy.where(deviation > 0, deviation, 1)
    unfinished = path.with_suffix(".tmp")
    with open(unfinished, "w") as file:
        for label, query, row in zip(labels, queries, features):
            cells = " ".join(f"{i + 1}:{v:.6g}" for i, v in enumerate(row))
            file.write(f"{label:g} qid:{query} {cells}\n")
    unfinished.rename(path)


def differences(features, labels, queries):
    """`x_i - x_j` of every pair with different labels, every second one negated because a classifier needs two classes."""
    import numpy

    parts = []
    for query in numpy.unique(queries):
        mine = queries == query
        better, worse = numpy.nonzero(labels[mine][:, None] > labels[mine][None, :])
        if len(better):
            parts.append(features[mine][better] - features[mine][worse])
    pairs = numpy.concatenate(parts)
    signs = numpy.where(numpy.arange(len(pairs)) % 2 == 0, 1.0, -1.0)
    pairs *= signs[:, None]
    return pairs, signs


def child(loss, form, path, c, tolerance):
    """Trains once on explicit pairs."""
    import numpy
    import sklearn.datasets
    import sklearn.svm

    # The parent process decides whether this is close enough to the optimum.
    warnings.simplefilter("ignore")
    c, tolerance, squared = float(c), float(tolerance), loss == "squared-hinge"
    features, labels, queries = sklearn.datasets.load_svmlight_file(path, query_id=True)
    features = features.toarray()
    common.forget_peak_memory()
    baseline = common.memory("VmRSS")
    start = time.perf_counter()
    pairs, signs = differences(features, labels, queries)
    pair_seconds = time.perf_counter() - start
    machine = sklearn.svm.LinearSVC(
        C=c / len(pairs), loss="squared_hinge" if squared else "hinge", dual=form == "dual", tol=tolerance,
        fit_intercept=False, max_iter=100_000, random_state=1,
    )
    start = time.perf_counter()
    machine.fit(pairs, signs)
    seconds = time.perf_counter() - start
    peak = common.memory("VmHWM") - baseline
    weights = machine.coef_[0]
    short = numpy.maximum(0, 1 - signs * (pairs @ weights))
    objective = 0.5 * weights @ weights + c / len(pairs) * (short**2 if squared else short).sum()
    print(json.dumps({
        "seconds": seconds, "pair_seconds": pair_seconds, "peak_bytes": peak, "objective": objective,
        "pairs": len(pairs), "rounds": int(machine.n_iter_),
    }))


def loosest(other, optimum, threads):
    """The loosest tolerance at which the other tool comes close enough to the optimum."""
    for tolerance in TOLERANCES:
        result = common.run_json(other(tolerance), threads)
        print(f"tolerance {tolerance:g}: {result['objective'] / optimum - 1:.1e} short", file=sys.stderr)
        if result["objective"] <= optimum * (1 + SHORT):
            return tolerance
    sys.exit("no tolerance brings LinearSVC near the optimum")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=common.PUBLIC / "ohsumed", help="folder of S1.txt.zst to S3.txt.zst")
    parser.add_argument("--c", type=float, default=60.0, help="C of rank-svm")
    parser.add_argument("--losses", nargs="+", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="LIBLINEAR has only one")
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    parser.add_argument("--child", nargs=5, metavar=("LOSS", "FORM", "FILE", "C", "TOLERANCE"))
    arguments = parser.parse_args()
    if arguments.child:
        return child(*arguments.child)

    path = common.DATA / "ohsumed-fold1-standard.txt"
    common.DATA.mkdir(exist_ok=True)
    if not path.exists():
        make_file(path, arguments.data)
    threads, c = arguments.threads, arguments.c
    bench = common.built("train_bench", arguments.profile)
    rows = []
    for loss in arguments.losses:
        settings = [f"loss={loss}", f"c={c}", "scale=false", "rounds=100000"]
        ours = lambda gap: [bench, path, "rank-svm", *settings, f"gap={gap}"]
        optimum = common.run_json(ours(1e-6), threads)["objective"]
        contenders = {"rankwise": ours(SHORT)}
        for form in FORMS[loss]:
            other = lambda tolerance: [sys.executable, __file__, "--child", loss, form, path, c, tolerance]
            contenders[f"LinearSVC {form}"] = other(loosest(other, optimum, threads))
        results = common.interleaved(contenders, arguments.repeats, threads)
        seconds = common.median(results["rankwise"], "seconds")
        for name, found in results.items():
            time_taken, worst = common.median(found, "seconds"), max(r["objective"] for r in found)
            assert worst <= optimum * (1 + SHORT), f"{name} is not within reach of the optimum"
            pair_seconds = common.median(found, "pair_seconds") if "pair_seconds" in found[0] else 0
            rows.append((
                f"{name}, {loss}", f"{time_taken:.4f}", f"{pair_seconds:.3f}",
                f"{time_taken / seconds:.1f}", f"{(time_taken + pair_seconds) / seconds:.1f}",
                f"{common.median(found, 'peak_bytes') / 1e6:.1f}", f"{worst / optimum - 1:.0e}", found[0]["rounds"],
            ))
        pairs = results["LinearSVC dual"][0]["pairs"]

    common.heading(f"Ranking SVM on {pairs} pairs of OHSUMED, C = {c:g}", ["scikit-learn", "numpy"], threads)
    header = ("solver", "fit s", "pairs s", "fit/ours", "both/ours", "peak MB", "short", "rounds")
    common.table(header, rows)
    print(f"\nMedians of {arguments.repeats}; without reading. Both are within {SHORT:g} of the optimum.")


if __name__ == "__main__":
    main()
