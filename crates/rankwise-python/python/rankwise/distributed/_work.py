"""`train`, `score` and `evaluate`."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankwise import _rankwise
from rankwise._evaluate import Evaluation, _as_dict, metric_list
from rankwise._experiments import _recipe
from rankwise._rankwise import Progress, Ranker
from rankwise.distributed._engine import Engine, opened
from rankwise.distributed._shards import reading, staged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def train(
    recipe: Any,
    shards: Any,
    *,
    engine: str | Engine = "local",
    workers: int | None = None,
    valid: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 10,
    threads: int | None = None,
    callbacks: Iterable[Callable[[Progress], Any]] = (),
    client: Any = None,
    options: Mapping[str, Any] | None = None,
    staging: str | os.PathLike[str] | None = None,
    limit: float = 60.0,
    **read_options: Any,
) -> Ranker:
    """Trains a ranker on several workers: the same as on one machine, byte for byte.

    Each worker reads some of the files, of about the same number of bytes, and keeps only its own queries. It holds a whole
    file in memory while it reads it, and a single file is read by all workers, so data larger than the memory of a machine
    has to come as several files. This process keeps none. Learners that cannot train on several workers are refused.

    Args:
        recipe: A `Recipe`, an estimator, or the name of a learner.
        shards: The training data: a list of files, a folder or a pattern such as `data/*.parquet`, with LETOR text, CSV, TSV
            or Parquet. Every worker must be able to read them. Or a Ray Dataset or a Dask DataFrame; see `staging`.
        engine: `"ray"` for actors of Ray, `"dask"` for actors of Dask, `"local"` for processes of this machine; or an
            `Engine`.
        workers: The number of workers. By default one per machine of Ray, one per Dask worker, or two processes.
        valid: Validation data for early stopping and model selection, in one of the forms of `shards`.
        checkpoint: A file of this process that keeps the state of training. After a crash, the same call resumes, with any
            number of workers.
        checkpoint_every: How many iterations are between two checkpoints.
        threads: The number of threads of each worker; by default, the cores are divided among the workers.
        callbacks: Functions of a `Progress`, called in this process.
        client: The Dask client, if it is not the current one.
        options: Options of Ray's actors, such as `{"resources": {...}}`, or of Dask's `submit`.
        staging: A folder that all workers can read, for data that is not in files: a Ray Dataset or a Dask DataFrame is
            written there as Parquet, since a worker must be able to read its queries again. It is removed afterwards.
        limit: A worker that gives no sign of life for so many seconds is lost, and replaced.
        read_options: How to read the files: `label`, `qid` and the others of `rankwise.read`.

    >>> import pathlib, tempfile
    >>> import rankwise as rw
    >>> from rankwise import distributed
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.csv"
    >>> _ = path.write_text("label,qid,x\\n" + "".join(f"{d % 2},{d // 4},{d % 2}\\n" for d in range(40)))
    >>> distributed.train("list-net", path, workers=1)
    <rankwise.Ranker: list-net with 1 features>
    """
    checked, read = _recipe(recipe), reading(read_options)
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(staged(shards, staging))
        valid_files = None if valid is None else stack.enter_context(staged(valid, staging))
        on = stack.enter_context(opened(engine, workers, threads, client, dict(options or {})))
        state = None if checkpoint is None else os.fspath(checkpoint)
        return _rankwise.train_on_workers(
            checked,
            files,
            valid_files,
            read,
            on,
            threads or on.threads,
            limit,
            state,
            checkpoint_every,
            list(callbacks),
        )


def score(
    ranker: Any,
    shards: Any,
    *,
    engine: str | Engine = "local",
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    client: Any = None,
    options: Mapping[str, Any] | None = None,
    staging: str | os.PathLike[str] | None = None,
    limit: float = 60.0,
    **read_options: Any,
) -> list[NDArray[np.float64]] | list[str]:
    """The scores of each shard, one per row in its order, as one array per shard.

    With `out`, they are written by the workers to files in that folder, one score per line, and the paths are returned.
    Shards are scored as tasks of the engine; those of a process that dies are scored again, twice at most. After `limit`
    seconds in which no task has ended, a warning in the log names those that are waited for; if Ray or Dask has no process
    that could run them, it is an error. The other arguments are those of `train`.

    >>> import pathlib, tempfile
    >>> import rankwise as rw
    >>> from rankwise import distributed
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "test.txt"
    >>> _ = path.write_text("2 qid:1 1:0.9\\n0 qid:1 1:0.2\\n")
    >>> ranker = rw.Recipe("list-net").fit(rw.read(path))
    >>> [scores] = distributed.score(ranker, path)
    >>> bool((scores == ranker.score(rw.read(path))).all())
    True
    """
    model, read = _ranker(ranker), reading(read_options)
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(staged(shards, staging))
        on = stack.enter_context(opened(engine, None, threads, client, dict(options or {}), tasks_only=True))
        jobs = threads or (None if engine == "local" else on.threads)
        if out is None:
            return on.map(functools.partial(_score, model, read, jobs), files, limit)
        folder = os.path.abspath(os.fspath(out))
        os.makedirs(folder, exist_ok=True)
        places = {
            file: os.path.join(folder, f"{number:05}-{os.path.basename(file)}.scores")
            for number, file in enumerate(files)
        }
        return on.map(functools.partial(_score_to, model, read, jobs, places), files, limit)


def evaluate(
    ranker: Any,
    shards: Any,
    metrics: str | Iterable[str] = "ndcg@10",
    *,
    engine: str | Engine = "local",
    preset: str = "default",
    conventions: Mapping[str, Any] | None = None,
    threads: int | None = None,
    client: Any = None,
    options: Mapping[str, Any] | None = None,
    staging: str | os.PathLike[str] | None = None,
    limit: float = 60.0,
    **read_options: Any,
) -> Evaluation:
    """Evaluates a ranker on all shards together, with the values of `rankwise.evaluate` for the joined data.

    Only the values of the queries come to this process. A query must be in one shard: one that is in two is refused. The
    other arguments are those of `train`, `score` and `rankwise.evaluate`.

    >>> import pathlib, tempfile
    >>> import rankwise as rw
    >>> from rankwise import distributed
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "test.txt"
    >>> _ = path.write_text("2 qid:1 1:0.9\\n0 qid:1 1:0.2\\n")
    >>> ranker = rw.Recipe("list-net").fit(rw.read(path))
    >>> distributed.evaluate(ranker, path, "map")["map"]
    1.0
    """
    model, read = _ranker(ranker), reading(read_options)
    named, changes = metric_list(metrics), _as_dict(conventions)
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(staged(shards, staging))
        on = stack.enter_context(opened(engine, None, threads, client, dict(options or {}), tasks_only=True))
        jobs = threads or (None if engine == "local" else on.threads)
        parts = on.map(functools.partial(_evaluate, model, read, jobs, (named, preset, changes)), files, limit)
        return Evaluation(_rankwise.join_evaluations(parts, files, named, preset, changes), preset)


def _ranker(given: Any) -> Ranker:
    ranker = getattr(given, "ranker_", given)
    if isinstance(ranker, Ranker):
        return ranker
    raise TypeError(f"a value of type {type(given).__name__} is no ranker; give a Ranker or a fitted estimator")


# What runs on the workers, for one shard.


def _score(ranker: Ranker, read: dict[str, Any], jobs: int | None, shard: str) -> NDArray[np.float64]:
    return _rankwise.score_shard(ranker, shard, read, jobs)


def _score_to(ranker: Ranker, read: dict[str, Any], jobs: int | None, places: dict[str, str], shard: str) -> str:
    place = places[shard]
    lines = "".join(f"{score}\n" for score in _score(ranker, read, jobs, shard).tolist())
    # A task that is done twice, or killed, leaves a whole file.
    part = f"{place}.{os.getpid()}.part"
    with open(part, "w", encoding="ascii") as file:
        file.write(lines)
    os.replace(part, place)
    return place


def _evaluate(
    ranker: Ranker, read: dict[str, Any], jobs: int | None, how: tuple[str, str, dict[str, Any] | None], shard: str
) -> str:
    return _rankwise.evaluate_shard(ranker, shard, read, *how, jobs)
