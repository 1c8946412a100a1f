"""Workers that are actors of Dask."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

from rankwise import _engines
from rankwise.distributed._engine import Engine
from rankwise.distributed._tasks import gathered
from rankwise.distributed.worker import Worker

# How long a call may take before it is checked that its Dask worker is still there.
_STEP = 1.0


class Dask(Engine):
    """Actors of a Dask cluster: of `client`, or of the client that this process made last."""

    def __init__(
        self, workers: int | None, threads: int | None, client: Any, options: dict[str, Any], tasks_only: bool
    ) -> None:
        try:
            import distributed
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("engine='dask' needs Dask: pip install 'dask[distributed]'") from error
        # A result that does not come is one whose Dask worker was lost after it.
        self._losses = (distributed.KilledWorker, distributed.TimeoutError)
        self._client = _engines.dask_client(client)
        known = self._known()
        self.workers = workers or max(1, len(known))
        shared = -(-self.workers // max(1, len(known)))
        fewest = min((worker["nthreads"] for worker in known.values()), default=1)
        self.threads = threads or max(1, fewest // shared)
        self._options = options
        self._closed = False
        # The future and the place of each actor.
        self._futures: list[Any] = [None] * (0 if tasks_only else self.workers)
        self._places: list[str | None] = [None] * len(self._futures)
        for worker in range(len(self._futures)):
            self._start(worker)

    def _known(self) -> dict[str, Any]:
        """The Dask workers by address."""
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    def _start(self, worker: int) -> None:
        """Makes an actor on the Dask worker that has the fewest. Should that be lost first, the reply does not come, and
        there is another try elsewhere: Dask itself does not move what was meant for a worker that is gone."""
        places = sorted(self._known(), key=lambda place: (self._places.count(place), place))
        self._places[worker] = places[0] if places else None
        place = {"workers": places[:1]} if places else {}
        self._futures[worker] = self._client.submit(Worker, actor=True, pure=False, **(place | self._options))

    def deliver(self, messages: Sequence[tuple[int, bytes]], limit: float) -> list[tuple[int, bytes | str]]:
        self._check_open()
        deadline = time.monotonic() + limit
        calls = [(worker, self._call(worker, message, deadline)) for worker, message in messages]
        return [(worker, self._reply(worker, call, deadline, limit)) for worker, call in calls]

    def _call(self, worker: int, message: bytes, deadline: float) -> Any:
        try:
            actor = self._waited(worker, self._futures[worker], deadline)
            return actor.reply(message)
        except Exception as error:
            return error

    def _reply(self, worker: int, call: Any, deadline: float, limit: float) -> bytes | str:
        try:
            if isinstance(call, Exception):
                raise call
            reply: bytes = self._waited(worker, call, deadline)
            return reply
        except TimeoutError as error:
            return str(error) or f"it gave no sign of life for {limit:g} seconds"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _waited(self, worker: int, future: Any, deadline: float) -> Any:
        """The result of a future. Dask does not always notice that the worker of an actor is gone, so this looks."""
        import distributed

        while True:
            left = deadline - time.monotonic()
            try:
                return future.result(timeout=max(0.001, min(_STEP, left)))
            except (TimeoutError, distributed.TimeoutError):
                if left <= _STEP:
                    raise TimeoutError from None
                if self._places[worker] not in self._known():
                    raise TimeoutError(f"its Dask worker {self._places[worker]} is gone") from None

    def restart(self, worker: int) -> None:
        self._check_open()
        self._futures[worker].cancel()
        self._places[worker] = None
        self._start(worker)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the training has ended")

    def map(self, function: Callable[[str], Any], shards: Sequence[str], limit: float) -> list[Any]:
        waiting = _engines.Waiting(limit, functools.partial(_engines.dask_obstacle, self._client))
        # Together, so that the function, which holds the model, is sent once.
        futures = self._client.map(function, list(shards), pure=False, **self._options)
        start = functools.partial(self._client.submit, function, pure=False, **self._options)
        try:
            return gathered(waiting, shards, futures, start, lambda error: isinstance(error, self._losses))
        finally:
            self._client.cancel(futures + waiting.futures())

    def close(self) -> None:
        self._closed = True
        self._client.cancel([future for future in self._futures if future is not None])
