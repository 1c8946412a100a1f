"""How the defaults of boosted trees were chosen: NDCG@10 on validation queries for several settings and kinds of data.

Usage: python3 experiments/tree_defaults.py BOOST_BENCH LEARNER SETTINGS [SETTINGS …]

BOOST_BENCH is the program of benches/ (`cargo build --release --package rankwise --example boost_bench`). SETTINGS are like
"learning_rate=0.05 num_leaves=16"; the first are compared with. Training uses three parts of OHSUMED and ClueWeb09 (in
data/, see docs/data.md) and the fourth is validated on, in five rotations; the fifth part is never looked at. Synthetic
data is made on the spot. Needs NumPy.
"""

import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYNTHETIC = [("mslr", 100, 200), ("mslr", 800, 500), ("mslr", 3000, 500), ("letor-gov", 100, 50)]
DISCOUNTS = 1 / np.log2(np.arange(2, 12))


def read(path):
    """Queries of LETOR text, as lists of (label, {column: value})."""
    queries = {}
    for line in path.read_text().splitlines():
        label, query, *pairs = line.split("#")[0].split()
        values = {int(name) - 1: float(value) for name, value in (pair.split(":") for pair in pairs)}
        queries.setdefault(query, []).append((float(label), values))
    return list(queries.values())


def write(directory, queries, width):
    """Queries in the format of the benchmark program."""
    directory.mkdir(parents=True)
    documents = [document for query in queries for document in query]
    values = np.zeros((len(documents), width), np.float32)
    for row, (_, stored) in enumerate(documents):
        values[row, list(stored)] = list(stored.values())
    values.tofile(directory / "values.f32")
    np.array([label for label, _ in documents], np.float32).tofile(directory / "labels.f32")
    np.array([len(query) for query in queries], np.uint32).tofile(directory / "sizes.u32")


def folds(name, directory):
    """The folders of a real data set, with their numbers of training queries."""
    parts = [read(ROOT / "data" / name / f"S{part}.txt") for part in range(1, 6)]
    width = 1 + max(max(values) for part in parts for query in part for _, values in query)
    for first in range(5):
        train = [query for step in range(3) for query in parts[(first + step) % 5]]
        write(directory / f"{name}-{first}", train + parts[(first + 3) % 5], width)
        yield directory / f"{name}-{first}", len(train)


def ndcg(directory, queries, scores):
    """NDCG@10 of each query after the first `queries` that has relevant documents."""
    labels = np.fromfile(directory / "labels.f32", np.float32)
    sizes = np.fromfile(directory / "sizes.u32", np.uint32).astype(int)
    gains, values, start = 2.0 ** labels[sizes[:queries].sum():] - 1, [], 0
    for size in sizes[queries:]:
        gain, order = gains[start:start + size], np.argsort(-scores[start:start + size], kind="stable")
        start, top = start + size, min(10, size)
        ideal = (np.sort(gain)[::-1][:top] * DISCOUNTS[:top]).sum()
        if ideal > 0:
            values.append((gain[order][:top] * DISCOUNTS[:top]).sum() / ideal)
    return values


def trained(job):
    """The values of one setting on one folder."""
    program, learner, settings, directory, queries = job
    with tempfile.NamedTemporaryFile() as scores:
        command = [program, "train", directory, str(queries), scores.name, learner, *settings.split()]
        environment = dict(os.environ, RAYON_NUM_THREADS="1")
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return ndcg(directory, queries, np.fromfile(scores.name))


def main():
    program, learner, *settings = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary, multiprocessing.Pool() as pool:
        sets = {name: list(folds(name, pathlib.Path(temporary))) for name in ("ohsumed", "clueweb09")}
        for shape, train, valid in SYNTHETIC:
            directory = pathlib.Path(temporary) / f"{shape}-{train}"
            subprocess.run([program, "make", f"{shape}:{train + valid}", directory], check=True)
            sets[f"{shape}-{train}"] = [(directory, train)]
        jobs = [(program, learner, one, *fold) for one in settings for name in sets for fold in sets[name]]
        results = iter(pool.map(trained, jobs, chunksize=1))
        values = {one: {name: np.concatenate([next(results) for _ in sets[name]]) for name in sets} for one in settings}
    print(" ".join(f"{name:>13}" for name in sets), "  all queries, beside the first")
    for one in settings:
        differences = np.concatenate([values[one][name] - values[settings[0]][name] for name in sets])
        error = 1.96 * differences.std() / len(differences) ** 0.5
        means = " ".join(f"{values[one][name].mean():13.4f}" for name in sets)
        print(f"{means}   {differences.mean():+.4f} ± {error:.4f}  {one}")


if __name__ == "__main__":
    main()
