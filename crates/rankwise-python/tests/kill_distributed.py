"""The proof that a killed worker changes nothing: trains on Ray and on Dask while workers are killed with SIGKILL, between
rounds and inside of them, and prints the checksum of each model.

python kill_distributed.py [times] [engines]     20 times on ray,dask by default
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from test_distributed import write  # noqa: E402

import rankwise as rw  # noqa: E402
from rankwise import distributed  # noqa: E402

RECIPE = rw.Recipe("lambda-mart", iterations=30, num_leaves=8, min_data_in_leaf=3, bagging_fraction=0.8)


def checksum(ranker: rw.Ranker) -> str:
    return hashlib.sha256(ranker.to_bytes()).hexdigest()[:16]


@contextmanager
def on_ray() -> Iterator[Callable[[], tuple[Any, Callable[[int], int]]]]:
    import ray

    from rankwise.distributed._ray import Ray

    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 1024**2, log_to_driver=False)

    def start() -> tuple[Any, Callable[[int], int]]:
        engine = Ray(2, 1, {}, False)
        return engine, lambda worker: ray.get(engine._actors[worker].__ray_call__.remote(lambda _: os.getpid()))

    yield start
    ray.shutdown()


@contextmanager
def on_dask() -> Iterator[Callable[[], tuple[Any, Callable[[int], int]]]]:
    from distributed import Client, LocalCluster

    from rankwise.distributed._dask import Dask

    # Dask does not always bring back a worker that was killed, so every training has a cluster of its own.
    with ExitStack() as clusters:

        def start() -> tuple[Any, Callable[[int], int]]:
            clusters.close()
            cluster = clusters.enter_context(
                LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None)
            )
            client = clusters.enter_context(Client(cluster))
            engine = Dask(2, 1, client, {}, False)

            def process(worker: int) -> int:
                place = engine._places[worker]
                found: int = client.run(os.getpid, workers=[place])[place]
                return found

            return engine, process

        yield start


def train(start: Callable[[], tuple[Any, Callable[[int], int]]], shards: list[Path], draw: random.Random) -> Any:
    """Trains while a worker is killed: between two rounds, or some milliseconds into one."""
    engine, process = start()
    # Rounds take milliseconds, so a kill that comes later than its round has some left to come in.
    at, worker, inside = draw.randrange(1, 20), draw.randrange(2), draw.random() < 0.5
    delay = draw.uniform(0.001, 0.02) if inside else 0.0

    processes: list[int] = []

    def kill(step: rw.Progress) -> None:
        if step.iteration in (at, 30):
            processes.append(process(worker))
        if step.iteration != at:
            return
        found = processes[0]
        if inside:
            threading.Timer(delay, os.kill, (found, signal.SIGKILL)).start()
        else:
            os.kill(found, signal.SIGKILL)

    begun = time.monotonic()
    ranker = distributed.train(RECIPE, shards, engine=engine, callbacks=[kill], limit=30)
    assert processes[0] != processes[1], "the worker was not replaced"
    where = f"{1000 * delay:.0f} ms after" if inside else "right after"
    return checksum(ranker), f"worker {worker} killed {where} round {at}; {time.monotonic() - begun:.1f} s", ranker.traffic


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    engines = sys.argv[2].split(",") if len(sys.argv) > 2 else ["ray", "dask"]
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        shards = write(Path(folder), parts=4, queries=40)
        found.add(checksum(RECIPE.fit(rw.read(shards))))
        print("one machine:", *found, flush=True)
        for name in engines:
            with {"ray": on_ray, "dask": on_dask}[name]() as start:
                for time_ in range(times):
                    one, words, traffic = train(start, shards, random.Random(time_))
                    found.add(one)
                    print(f"{name} {time_ + 1}: {one}, {words}, {traffic['losses']} losses seen", flush=True)
    if len(found) != 1:
        sys.exit(f"there are {len(found)} different models")
    print("one checksum for all:", *found)


if __name__ == "__main__":
    main()
