"""LambdaMART on extreme shapes beside LightGBM: seconds and peak memory of a training, with reading.

50,000 sparse features, 200,000 queries of two documents, and one query of 100,000 documents. Rankwise reads LETOR text;
LightGBM gets the same values as a sparse or dense matrix in memory, so its time has no reading. 50 iterations of 31
leaves, learning rate 0.1.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import common
import numpy as np
import scipy.sparse

SHAPES = {"50,000 features": (2000, 10, 50_000, 30), "queries of 2": (200_000, 2, 20, 20), "a query of 100,000": (1, 100_000, 20, 20)}


def made(queries, documents, width, filled):
    """Values as a sparse matrix, labels and query sizes; labels depend on the first features."""
    random = np.random.default_rng(1)
    rows = queries * documents
    columns = np.stack([np.sort(random.choice(width, filled, replace=False)) for _ in range(rows)]) if filled < width else np.tile(np.arange(width), (rows, 1))
    values = random.random((rows, filled)).astype(np.float32)
    utility = (values * (columns < max(4, width // 10))).sum(1) + random.normal(size=rows) / 4
    labels = np.clip(np.digitize(utility, np.quantile(utility, [0.6, 0.8, 0.95])), 0, 3)
    starts = np.arange(0, rows * filled + 1, filled)
    return scipy.sparse.csr_matrix((values.ravel(), columns.ravel(), starts), (rows, width)), labels, [documents] * queries


def write(path, matrix, labels, sizes):
    """LETOR text."""
    with path.open("w") as out:
        row = 0
        for query, size in enumerate(sizes, 1):
            for _ in range(size):
                begin, end = matrix.indptr[row], matrix.indptr[row + 1]
                pairs = " ".join(f"{c + 1}:{v:.6g}" for c, v in zip(matrix.indices[begin:end], matrix.data[begin:end]))
                out.write(f"{labels[row]} qid:{query} {pairs}\n")
                row += 1


def contend(name):
    """Trains LightGBM in this process."""
    import lightgbm

    matrix, labels, sizes = made(*SHAPES[name])
    values = matrix if SHAPES[name][2] != SHAPES[name][3] else matrix.toarray()
    common.forget_peak_memory()
    before, start = common.memory("VmRSS"), time.perf_counter()
    options = {"objective": "lambdarank", "num_leaves": 31, "learning_rate": 0.1, "num_threads": 2, "verbose": -1}
    lightgbm.train(options, lightgbm.Dataset(values, labels, group=sizes), 50)
    json.dump({"seconds": time.perf_counter() - start, "peak_bytes": common.memory("VmHWM") - before}, sys.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="the program `rankwise`, if it is not to be built")
    parser.add_argument("--contend", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contend:
        return contend(arguments.contend)
    if not arguments.program:
        subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "rankwise-cli"], cwd=common.ROOT, check=True)
    program = arguments.program or common.ROOT / "target" / "release" / "rankwise"
    lines = []
    common.DATA.mkdir(exist_ok=True)
    for name, shape in SHAPES.items():
        data = common.DATA / "shape.txt"
        write(data, *made(*shape))
        command = [program, "--quiet", "--threads", "2", "train", "lambda-mart", "--train", data, "-o", common.DATA / "shape.json"]
        for setting in ("iterations=50", "num_leaves=31", "learning_rate=0.1"):
            command += ["--set", setting]
        start = time.perf_counter()
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        own = time.perf_counter() - start
        lines.append((name, "rankwise", f"{own:.2f}" if status == 0 else "failed", f"{usage.ru_maxrss / 1024:.0f}"))
        done = subprocess.run([sys.executable, __file__, "--contend", name], stdout=subprocess.PIPE, text=True)
        peer = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
        lines.append(("", "lightgbm", f"{peer['seconds']:.2f}" if peer else "failed", f"{peer['peak_bytes'] / 2**20:.0f}" if peer else "-"))
    common.heading("LambdaMART, extreme shapes, 50 iterations", ["lightgbm"], 2)
    common.table(("shape", "tool", "seconds", "peak MiB"), lines)


if __name__ == "__main__":
    main()
