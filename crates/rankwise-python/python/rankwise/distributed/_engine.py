"""What carries messages and tasks to other processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any


class Engine:
    """What training, scoring and evaluation need of an engine.

    An engine of your own is a subclass with these methods. Give an object of it as `engine=`.
    """

    #: The number of workers. They are numbered from 0.
    workers: int
    #: The number of threads of each worker; as many as it has cores if None.
    threads: int | None = None

    def deliver(self, messages: Sequence[tuple[int, bytes]], limit: float) -> list[tuple[int, bytes | str]]:
        """Delivers messages to the `reply` of `rankwise.distributed.worker.Worker` objects, at most one to each, and waits
        for the replies, `limit` seconds at most. A worker that does not reply is lost: for it, a text says why."""
        raise NotImplementedError

    def restart(self, worker: int) -> None:
        """Puts another worker in the place of one that was lost."""
        raise NotImplementedError

    def map(self, function: Callable[[str], Any], shards: Sequence[str], limit: float) -> list[Any]:
        """The function's results for all shards, in their order. If a process dies, its shards are done again. If none has
        ended for `limit` seconds and none can run, it is an error."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the workers."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def opened(
    engine: str | Engine,
    workers: int | None,
    threads: int | None,
    client: Any = None,
    options: dict[str, Any] | None = None,
    *,
    tasks_only: bool = False,
) -> Engine:
    """The engine of this name. With `tasks_only`, it is for `map`, and no workers are started."""
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; training needs at least 1")
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}; give a number of threads, or None")
    if client is not None and engine != "dask":
        raise ValueError("client is for engine='dask'; Ray is connected by ray.init")
    if isinstance(engine, Engine):
        return engine
    if engine == "local":
        from rankwise.distributed._local import Local

        if options:
            raise ValueError("options are those of Ray's actors or of Dask's submit, and engine is 'local'")
        return Local(workers, threads)
    if engine == "ray":
        from rankwise.distributed._ray import Ray

        return Ray(workers, threads, options or {}, tasks_only)
    if engine == "dask":
        from rankwise.distributed._dask import Dask

        return Dask(workers, threads, client, options or {}, tasks_only)
    raise ValueError(f"engine is {engine!r}; give 'ray', 'dask', 'local' or an Engine")
