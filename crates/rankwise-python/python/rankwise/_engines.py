"""Engines: call a function elsewhere, once per item, and take the results as they come.

An engine is anything with `submit(function, item) -> Future`, as the executors of `concurrent.futures` have it. Here are
those of Ray and Dask, and processes of this machine.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from types import TracebackType

_log = logging.getLogger("rankwise")

#: How many names of tasks a message has.
_NAMED = 3

#: How long the news that a task has ended may be on its way, in seconds.
_MOMENT = 1.0

#: What a process of `LocalProcesses` runs. It gets the places to import from before it imports anything of ours.
_PROCESS = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from rankwise._engines import serve
serve()
"""


class Engine(Protocol):
    """What runs a function elsewhere, as an executor of `concurrent.futures` does."""

    def submit(self, function: Callable[[Any], Any], item: Any, /) -> Any:
        """Starts `function(item)` when there is room and returns a `Future`."""


class LocalProcesses:
    """Processes of this machine. One that ends loses its item only, and the next item starts another one.

    Unlike those of `multiprocessing`, they do not import the caller's script, so it needs no `if __name__ == "__main__"`.

    >>> import math
    >>> with LocalProcesses(2) as processes:
    ...     roots = [processes.submit(math.sqrt, number) for number in (1, 4, 9)]
    ...     [root.result() for root in roots]
    [1.0, 2.0, 3.0]
    """

    def __init__(self, workers: int | None = None) -> None:
        count = workers or os.cpu_count() or 1
        self._items: queue.SimpleQueue[tuple[Future[Any], Callable[[Any], Any], Any] | None] = queue.SimpleQueue()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[[Any], Any], item: Any, /) -> Future[Any]:
        """Calls `function(item)` in one of the processes. The function must be one that can be imported."""
        future: Future[Any] = Future()
        self._items.put((future, function, item))
        return future

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise EOFError
            # Ctrl-C is for the caller, who closes.
            process = subprocess.Popen(
                [sys.executable, "-c", _PROCESS],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._processes.add(process)
        assert process.stdin is not None
        pickle.dump(sys.path, process.stdin)
        return process

    def _end(self, process: subprocess.Popen[bytes] | None) -> None:
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                try:
                    if pipe is not None:
                        pipe.close()
                except OSError:
                    pass
            process.wait()
            with self._lock:
                self._processes.discard(process)

    def _work(self) -> None:
        """Keeps one process busy."""
        process = None
        while (given := self._items.get()) is not None:
            future, function, item = given
            if not future.set_running_or_notify_cancel():
                continue
            try:
                process = process or self._start()
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(pickle.dumps((function, item)))
                process.stdin.flush()
                result, error = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError):
                code = None if process is None else process.wait()
                self._end(process)
                process = None
                future.set_exception(RuntimeError(f"its process ended with exit code {code}"))
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result) if error is None else future.set_exception(error)
        self._end(process)

    def close(self) -> None:
        """Ends the processes, whatever they do."""
        with self._lock:
            self._closed = True
            processes = list(self._processes)
        for _ in self._threads:
            self._items.put(None)
        for process in processes:
            process.kill()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve() -> None:
    """The life of a process of `LocalProcesses`: calls what comes in until nothing does."""
    answers = os.fdopen(os.dup(1), "wb")
    # What functions print goes to standard error: standard output is for answers.
    os.dup2(2, 1)
    while True:
        try:
            function, item = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        except Exception as error:
            answer = pickle.dumps((None, error))
        else:
            answer = _called(function, item)
        answers.write(answer)
        answers.flush()


def _called(function: Callable[[Any], Any], item: Any) -> bytes:
    try:
        return pickle.dumps((function(item), None))
    except BaseException as error:
        try:
            return pickle.dumps((None, error))
        except Exception:
            return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))


def _call(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)


class _Ray:
    """Tasks of Ray. Ray starts on this machine if it has not been started or connected."""

    def __init__(self, threads: int) -> None:
        import ray

        self._ray = ray
        self._needs = {"num_cpus": threads}
        # Lost tasks are submitted again by the caller, who counts them.
        self._call = ray.remote(num_cpus=threads, max_retries=0)(_call)
        self._open: set[Any] = set()

    def submit(self, function: Callable[[Any], Any], item: Any, /) -> Future[Any]:
        reference = self._call.remote(function, item)
        self._open.add(reference)
        future: Future[Any] = reference.future()
        future.add_done_callback(lambda _: self._open.discard(reference))
        return future

    def obstacle(self, _: Iterable[Any]) -> str | None:
        return ray_obstacle(self._ray, self._needs)

    def close(self) -> None:
        for reference in list(self._open):
            self._ray.cancel(reference, force=True)


def ray_obstacle(ray: Any, options: dict[str, Any]) -> str | None:
    """Why Ray cannot run tasks with these options."""
    asked = {"CPU": options.get("num_cpus"), "GPU": options.get("num_gpus"), "memory": options.get("memory")}
    needs = {name: amount for name, amount in (asked | (options.get("resources") or {})).items() if amount}
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if any(all(machine.get(name, 0) >= amount for name, amount in needs.items()) for machine in machines):
        return None
    wanted = ", ".join(f"{amount:g} {name}" for name, amount in needs.items())
    return f"no machine of Ray has {wanted}; `ray status` shows what there is"


class _Dask:
    """Tasks of Dask, of the given client or the current one."""

    def __init__(self, client: Any) -> None:
        self._client = dask_client(client)
        self._open: set[Any] = set()

    def submit(self, function: Callable[[Any], Any], item: Any, /) -> Any:
        future = self._client.submit(function, item, pure=False)
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        return future

    def obstacle(self, futures: Iterable[Any]) -> str | None:
        return dask_obstacle(self._client, futures)

    def close(self) -> None:
        self._client.cancel(list(self._open), force=True)


def dask_client(given: Any) -> Any:
    """The given client of Dask, or the current one."""
    if given is not None:
        return given
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "there is no client of Dask; make one with distributed.Client(), or give it as client="
        ) from None


def dask_obstacle(client: Any, futures: Iterable[Any]) -> str | None:
    """Why Dask runs none of these futures."""
    if not client.scheduler_info(n_workers=-1).get("workers"):
        return "the Dask cluster has no workers"
    taken = {key for keys in client.processing().values() for key in keys}
    if taken.isdisjoint(future.key for future in futures):
        return (
            "no Dask worker has taken any of these tasks; look for workers that are busy, or that lack what `options` ask for"
        )
    return None


def engine(
    given: Literal["ray", "dask", "local"] | Engine | str, *, client: Any = None, workers: int | None = None, threads: int = 1
) -> Any:
    """An engine by its name; anything with `submit` is one already.

    Args:
        given: `"ray"`, `"dask"`, `"local"` for processes of this machine, or an executor of `concurrent.futures`.
        client: The client of Dask; the current one by default.
        workers: The number of local processes; as many as the cores have room for by default.
        threads: The number of threads that each task uses.
    """
    if client is not None and given != "dask":
        raise ValueError("client is for Dask; give engine='dask' with it")
    if workers is not None and given != "local":
        raise ValueError("workers is for local processes; give engine='local' with it")
    if given == "ray":
        return _Ray(threads)
    if given == "dask":
        return _Dask(client)
    if given == "local":
        return LocalProcesses(workers or max(1, (os.cpu_count() or 1) // threads))
    if hasattr(given, "submit"):
        return given
    raise ValueError(f"unknown engine {given!r}; there are 'ray', 'dask', 'local' and executors of concurrent.futures")


class Waiting:
    """Open futures by number, taken as they end.

    If none has ended for `limit` seconds, the log gets a warning with their names. If the engine knows of an obstacle, so
    that none of them runs, it is a `TimeoutError`.
    """

    def __init__(self, limit: float, obstacle: Callable[[list[Any]], str | None] | None) -> None:
        if not 0 < limit < math.inf:
            raise ValueError(f"limit is {limit}; give seconds, above 0")
        self.limit = limit
        self._obstacle = obstacle
        self._open: dict[int, tuple[str, Any]] = {}
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._wait()

    def __len__(self) -> int:
        return len(self._open)

    def futures(self) -> list[Any]:
        """All that are open."""
        return [future for _, future in self._open.values()]

    def add(self, number: int, name: str, future: Any) -> None:
        """One more. Its name is for messages."""
        self._open[number] = (name, future)
        self._wait()
        future.add_done_callback(lambda _: self._ended.put(number))

    def next(self, seconds: float) -> tuple[int, Any] | None:
        """The next future that ended, in any order, with its number. `None` if none ends in time."""
        try:
            number = self._ended.get(timeout=seconds)
        except queue.Empty:
            if time.monotonic() >= self._due:
                self._report()
            return None
        self._wait()
        return number, self._open.pop(number)[1]

    def _wait(self) -> None:
        self._due = time.monotonic() + self.limit

    def _report(self) -> None:
        names = [name for name, _ in self._open.values()]
        if not names:
            return
        rest = len(names) - _NAMED
        named = ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        quiet = f"no task has ended for {self.limit:g} seconds; waiting for {named}"
        obstacle = None if self._obstacle is None else self._obstacle(self.futures())
        if obstacle is None:
            _log.warning("%s", quiet)
            self._wait()
            return
        # One of them may have ended just now, and the news is still on its way.
        time.sleep(_MOMENT)
        if self._ended.empty():
            raise TimeoutError(f"{quiet}, but {obstacle}. If the cluster only needs more time, give a higher limit")


class Tasks:
    """Calls of one function by an engine, by number.

    >>> import math
    >>> with LocalProcesses(1) as processes:
    ...     tasks = Tasks(processes, math.sqrt)
    ...     tasks.submit(7, "the root of 16", 16)
    ...     tasks.next(60)
    (7, 4.0, None)
    """

    def __init__(self, engine: Engine | Executor, function: Callable[[Any], Any], limit: float = 60.0) -> None:
        self._engine: Any = engine
        self._function = function
        self._waiting = Waiting(limit, getattr(engine, "obstacle", None))

    def submit(self, number: int, name: str, item: Any) -> None:
        """Starts a call. Its name is for messages."""
        self._waiting.add(number, name, self._engine.submit(self._function, item))

    def next(self, seconds: float) -> tuple[int, Any, str | None] | None:
        """The next call that ended, in any order: its number, its result, and the reason if there is none. `None` if none ends
        in time.
        """
        ended = self._waiting.next(seconds)
        if ended is None:
            return None
        number, future = ended
        try:
            # What has ended may still be on its way from the process that has it, and that may be lost.
            return number, future.result(self._waiting.limit), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return number, None, f"{type(error).__name__}: {error}"
