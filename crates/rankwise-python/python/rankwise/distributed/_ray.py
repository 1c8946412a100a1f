"""Workers that are actors of Ray."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rankwise import _engines
from rankwise.distributed._engine import Engine
from rankwise.distributed._tasks import gathered
from rankwise.distributed.worker import Worker

# Ray starts an actor again whose process or machine was lost, and repeats the call. The new actor is then behind, and the
# driver brings it up to date.
_ALWAYS = {"max_restarts": -1, "max_task_retries": -1}


class Ray(Engine):
    """Actors of the Ray that this process is connected to. Without a connection, `ray.init()` decides."""

    def __init__(self, workers: int | None, threads: int | None, options: dict[str, Any], tasks_only: bool) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("engine='ray' needs the package ray: pip install ray") from error
        self._ray = ray
        if not ray.is_initialized():
            ray.init()
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self.workers = workers or max(1, sum(count > 0 for count in cores))
        self.threads = threads or _threads(cores, self.workers)
        self._options = {"num_cpus": self.threads} | options
        self._closed = False
        self._actor = ray.remote(Worker)
        self._actors = [] if tasks_only else [self._start() for _ in range(self.workers)]

    def _start(self) -> Any:
        return self._actor.options(**(self._options | _ALWAYS)).remote()

    def deliver(self, messages: Sequence[tuple[int, bytes]], limit: float) -> list[tuple[int, bytes | str]]:
        self._check_open()
        deadline = time.monotonic() + limit
        calls = [(worker, self._actors[worker].reply.remote(message)) for worker, message in messages]
        return [(worker, self._reply(call, deadline, limit)) for worker, call in calls]

    def _reply(self, call: Any, deadline: float, limit: float) -> bytes | str:
        try:
            reply: bytes = self._ray.get(call, timeout=max(0.001, deadline - time.monotonic()))
            return reply
        except self._ray.exceptions.GetTimeoutError:
            return f"it gave no sign of life for {limit:g} seconds; `ray status` shows whether its actor could be started"
        except self._ray.exceptions.RayError as error:
            return f"{type(error).__name__}: {error}"

    def restart(self, worker: int) -> None:
        self._check_open()
        self._ray.kill(self._actors[worker])
        self._actors[worker] = self._start()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the training has ended")

    def map(self, function: Callable[[str], Any], shards: Sequence[str], limit: float) -> list[Any]:
        # Lost tasks are started again and counted here.
        run = self._ray.remote(_call).options(**({"max_retries": 0} | self._options))
        # Sent once, not with every shard: it holds the model.
        shared = self._ray.put(function)
        tasks = []

        def start(shard: str) -> Any:
            tasks.append(run.remote(shared, shard))
            return tasks[-1].future()

        waiting = _engines.Waiting(limit, lambda _: _engines.ray_obstacle(self._ray, self._options))
        try:
            return gathered(waiting, shards, [start(shard) for shard in shards], start, self._is_loss)
        except BaseException as error:
            for task in tasks:
                self._ray.cancel(task, force=True)
            if isinstance(error, self._ray.exceptions.RayTaskError):
                raise error.cause from None
            raise

    def _is_loss(self, error: Exception) -> bool:
        known = self._ray.exceptions
        return isinstance(error, known.RayError) and not isinstance(error, known.RayTaskError)

    def close(self) -> None:
        self._closed = True
        for actor in self._actors:
            self._ray.kill(actor)


def _call(function: Callable[[str], Any], shard: str) -> Any:
    return function(shard)


def _threads(cores: list[int], workers: int) -> int:
    """As many threads as all workers can have, each on one machine."""
    fitting = [threads for threads in range(1, max(cores, default=1) + 1) if sum(c // threads for c in cores) >= workers]
    return max(fitting, default=1)
