"""Boosted trees on several workers: time and bytes per tree, memory per worker, and one checksum for all.

    benches/run workers.py -- --workers 1 2 --peers lightgbm xgboost

Data of MSLR's shape in as many files as there are workers at most. The time of a tree is the difference between trainings of
different length, so reading and binning do not count. Peers train with their own Dask modules on a local cluster with one
process and one thread per worker; they are left out where Dask is not installed.
"""

import argparse
import functools
import hashlib
import os
import re
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
SHORT, LONG = 5, 25


def program() -> str:
    packed = HERE / ".packed" / "rankwise"
    if packed.exists():
        return str(packed)
    subprocess.run(["cargo", "build", "--quiet", "--profile", "dist", "-p", "rankwise-cli"], cwd=HERE, check=True)
    return str(Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "dist" / "rankwise")


def make_data(rankwise: str, folder: Path, queries: int, files: int) -> list[Path]:
    """Files of adjacent queries, in the order of their ids."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / f"{queries}.txt"
    if not whole.exists():
        subprocess.run([rankwise, "synth", "--shape", "mslr", "--queries", str(queries), "-q", "-o", whole], check=True)
    parts = [folder / f"{queries}-{files}-{part:02}.txt" for part in range(files)]
    if not all(part.exists() for part in parts):
        outputs = [part.open("w") for part in parts]
        with whole.open() as lines:
            for line in lines:
                query = int(line.split(" ", 2)[1].removeprefix("qid:"))
                outputs[min((query - 1) * files // queries, files - 1)].write(line)
        for output in outputs:
            output.close()
    return parts


class Peak(threading.Thread):
    """The peak memory of the children of a process, in MiB."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.peaks = pid, {}
        self.start()

    def run(self) -> None:
        while Path(f"/proc/{self.pid}").exists():
            for child in self.children(self.pid):
                try:
                    status = Path(f"/proc/{child}/status").read_text()
                except OSError:
                    continue
                found = re.search(r"VmHWM:\s+(\d+)", status)
                if found:
                    self.peaks[child] = int(found[1]) / 1024
            time.sleep(0.05)

    @staticmethod
    def children(pid: int) -> list[str]:
        found = []
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += task.read_text().split()
            except OSError:
                pass
        return found


def train(rankwise: str, files: list[Path], leaves: int, iterations: int, how: list[str]) -> dict:
    model = files[0].parent / "model.json"
    settings = [f"iterations={iterations}", f"num_leaves={leaves}", "learning_rate=0.1", "k=30"]
    command = [rankwise, "train", "lambda-mart", "-o", model, *how, "--train", *files]
    command += [word for setting in settings for word in ("--set", setting)]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = Peak(process.pid)
    errors = process.communicate()[1]
    if process.returncode:
        raise SystemExit(errors)
    megabytes = re.search(r"answered (\d+) questions with ([\d.]+) MB", errors)
    return {
        "seconds": time.perf_counter() - begun,
        "questions": int(megabytes[1]) if megabytes else 0,
        "megabytes": float(megabytes[2]) if megabytes else 0.0,
        "memory": max(peak.peaks.values(), default=0.0),
        "checksum": hashlib.md5(model.read_bytes()).hexdigest()[:8],
    }


def ours(rankwise: str, files: list[Path], leaves: int, how: list[str], name: str, repeats: int) -> None:
    runs = [[train(rankwise, files, leaves, n, how) for n in (SHORT, LONG)] for _ in range(repeats)]
    short, long = min(runs, key=lambda run: run[1]["seconds"] - run[0]["seconds"])
    per_tree = lambda what: (long[what] - short[what]) / (LONG - SHORT)  # noqa: E731
    print(
        f"{name:24} {per_tree('seconds') * 1000:8.0f} ms/tree  {short['seconds'] - SHORT * per_tree('seconds'):6.1f} s before  "
        f"{per_tree('megabytes'):6.2f} MB/tree  {per_tree('questions'):5.1f} questions/tree  {long['memory']:6.0f} MiB/worker  "
        f"{long['checksum']}",
        flush=True,
    )


@functools.cache
def arrays(whole: Path) -> tuple:
    """Features, labels and query ids; reading takes scikit-learn most of a minute."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file

    features, labels, queries = load_svmlight_file(str(whole), query_id=True, dtype=np.float32)
    return np.asarray(features.todense()), labels, queries


def peer(name: str, whole: Path, leaves: int, workers: int) -> None:
    """The Dask module of another tool."""
    import dask.array as da
    import numpy as np
    from dask.distributed import Client, LocalCluster

    features, labels, queries = arrays(whole)
    starts = [0, *np.flatnonzero(np.diff(queries)) + 1, len(queries)]
    cuts = [starts[len(starts) * part // workers] for part in range(workers)] + [len(queries)]
    rows = tuple(np.diff(cuts))
    x = da.from_array(features, chunks=(rows, features.shape[1]))
    y, q = da.from_array(labels, chunks=(rows,)), da.from_array(queries, chunks=(rows,))
    sizes = [np.diff([s for s in starts if a <= s <= b]) for a, b in zip(cuts, cuts[1:])]
    groups = da.from_array(np.concatenate(sizes), chunks=(tuple(map(len, sizes)),))
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        x, y, q = client.persist([x, y, q])
        times = {}
        # The first training also imports the tool in all workers, and is not counted.
        for iterations in (SHORT, SHORT, LONG):
            begun = time.perf_counter()
            if name == "lightgbm":
                import lightgbm

                ranker = lightgbm.DaskLGBMRanker(
                    client=client, n_estimators=iterations, num_leaves=leaves, learning_rate=0.1, n_jobs=1, verbose=-1
                )
                ranker.fit(x, y, group=groups)
            else:
                import xgboost
                import xgboost.dask

                data = xgboost.dask.DaskQuantileDMatrix(client, x, y, qid=q)
                settings = {
                    "objective": "rank:ndcg", "tree_method": "hist", "max_leaves": leaves, "max_depth": 0,
                    "grow_policy": "lossguide", "eta": 0.1, "nthread": 1,
                }  # fmt: skip
                xgboost.dask.train(client, settings, data, num_boost_round=iterations)
            times[iterations] = time.perf_counter() - begun
    per_tree = (times[LONG] - times[SHORT]) / (LONG - SHORT)
    before = times[SHORT] - SHORT * per_tree
    print(f"{name + f', {workers} on Dask':24} {per_tree * 1000:8.0f} ms/tree  {before:6.1f} s before", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="one process with so many threads")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--peers", nargs="*", default=[], choices=["lightgbm", "xgboost"])
    arguments = parser.parse_args()
    rankwise = program()
    folder = HERE / ".data" / "workers"
    files = make_data(rankwise, folder, arguments.queries, max(arguments.workers))
    for threads in arguments.threads:
        how = ["--threads", str(threads)]
        ours(rankwise, files, arguments.leaves, how, f"{threads} threads", arguments.repeats)
    for workers in arguments.workers:
        how = ["--threads", "1", "--workers", str(workers)]
        ours(rankwise, files, arguments.leaves, how, f"{workers} workers", arguments.repeats)
        for name in arguments.peers:
            peer(name, folder / f"{arguments.queries}.txt", arguments.leaves, workers)


if __name__ == "__main__":
    main()
