"""Reading LETOR text beside XGBoost's and scikit-learn's readers: seconds and peak memory.

Child processes: read.py --child xgboost|sklearn FILE
"""

import argparse
import json
import sys
import time
import warnings

import common

FEATURES = 136


def make_file(path, megabytes):
    """A dense file in the shape of MSLR-WEB10K: 136 features, six decimals or integers, about 120
    documents per query. Seeded: the same bytes everywhere."""
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(20261115))
    whole = random.random(FEATURES) < 0.4
    scale = 10.0 ** random.integers(0, 5, FEATURES)
    query, unfinished = 0, path.with_suffix(".tmp")
    with open(unfinished, "w") as file:
        while file.tell() < megabytes * 1_000_000:
            query += 1
            for _ in range(int(random.integers(40, 200))):
                values = random.random(FEATURES) ** 3
                cells = (
                    f"{i + 1}:{int(v * scale[i])}" if whole[i] else f"{i + 1}:{v:.6f}" for i, v in enumerate(values)
                )
                file.write(f"{random.integers(0, 5)} qid:{query} {' '.join(cells)}\n")
    unfinished.rename(path)


def child(reader, path, threads):
    """Reads once with another tool's reader."""
    if reader == "xgboost":
        import xgboost

        # XGBoost warns at every read that text input is deprecated.
        warnings.simplefilter("ignore")

        def read():
            return xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads)
    else:
        import sklearn.datasets

        def read():
            return sklearn.datasets.load_svmlight_file(path, query_id=True)

    common.forget_peak_memory()
    baseline = common.memory("VmRSS")
    start = time.perf_counter()
    data = read()
    seconds = time.perf_counter() - start
    documents = data.num_row() if reader == "xgboost" else data[0].shape[0]
    peak = common.memory("VmHWM") - baseline
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "documents": documents}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", nargs=2, metavar=("READER", "FILE"))
    arguments = parser.parse_args()
    if arguments.child:
        return child(*arguments.child, arguments.threads)

    path = common.DATA / f"dense-{arguments.megabytes}.txt"
    common.DATA.mkdir(exist_ok=True)
    if not path.exists():
        make_file(path, arguments.megabytes)
    threads = arguments.threads
    other = lambda reader: [sys.executable, __file__, "--threads", threads, "--child", reader, path]
    contenders = {
        "rankwise": [common.built("read_bench"), path],
        "xgboost": other("xgboost"),
        "scikit-learn": other("sklearn"),
    }
    results = common.interleaved(contenders, arguments.repeats, threads)
    assert len({r["documents"] for rs in results.values() for r in rs}) == 1, "readers disagree"

    size = path.stat().st_size / 1e6
    common.heading(f"Reading {size:.0f} MB of LETOR text, {FEATURES} features", ["xgboost", "scikit-learn"], threads)
    arrays = common.median(results["rankwise"], "array_bytes")
    ours = common.median(results["rankwise"], "seconds")
    rows = []
    for name, found in results.items():
        seconds, peak = common.median(found, "seconds"), common.median(found, "peak_bytes")
        rows.append((
            name, f"{seconds:.3f}", f"{size / seconds:.0f}", f"{seconds / ours:.1f}", f"{peak / 1e6:.0f}",
            f"{peak / arrays:.2f}",
        ))
    common.table(("reader", "seconds", "MB/s", "time, ours=1", "peak MB", "peak / our arrays"), rows)
    print(f"\nMedians of {arguments.repeats}; our arrays take {arrays / 1e6:.0f} MB.")


if __name__ == "__main__":
    main()
