"""Shards: the files that hold a data set together."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_DEFAULTS: dict[str, Any] = {
    "label": None,
    "qid": None,
    "docid": None,
    "weight": None,
    "position": None,
    "ignore": [],
    "only": [],
    "categorical": [],
    "first_id": None,
}


def reading(given: dict[str, Any]) -> dict[str, Any]:
    """All options of reading: those of `rankwise.read`."""
    for name in given:
        if name not in _DEFAULTS:
            raise TypeError(f"unexpected keyword argument {name!r}; options of reading are {', '.join(_DEFAULTS)}")
        _check_option(name, given[name])
    return _DEFAULTS | {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _check_option(name: str, value: Any) -> None:
    """Fails if the value is not of the kind that the option has: names of columns, since data are files."""
    if isinstance(_DEFAULTS[name], list):
        if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
            return
        raise TypeError(f"{name} is {_shown(value)}; give a list of names of columns")
    if name == "first_id":
        if value is None or (isinstance(value, int) and value in (0, 1)):
            return
        raise TypeError(f"first_id is {_shown(value)}; give 0, 1 or None")
    if not (value is None or isinstance(value, str)):
        raise TypeError(
            f"{name} is {_shown(value)}; workers read the data from files, so give the name of the column that holds it, as text"
        )


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (str, int, float)) else f"of type {type(value).__name__}"


def files(shards: Any) -> list[str]:
    """The files of shards, with full paths: those of a list, a folder, or a pattern such as `data/*.parquet`.

    Hidden files of a folder, and those whose names begin with `_`, such as `_SUCCESS`, are left out.

    >>> import pathlib, tempfile
    >>> from rankwise import distributed
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.parquet", "a.parquet", "_SUCCESS"):
    ...     (folder / name).touch()
    >>> [pathlib.Path(file).name for file in distributed.files(folder)]
    ['a.parquet', 'b.parquet']
    """
    if isinstance(shards, (str, os.PathLike)):
        return _of_path(os.fspath(shards))
    if isinstance(shards, Mapping) or any(hasattr(shards, name) for name in ("columns", "column_names", "__array__")):
        raise TypeError(
            f"shards is a value of type {type(shards).__name__}, which is in the memory of this process; workers read files: "
            "write it as Parquet to a folder that all of them can read, with columns for labels and queries, and give that "
            "folder"
        )
    try:
        items = list(shards)
    except TypeError:
        raise TypeError(
            f"shards is a value of type {type(shards).__name__}; give files, a folder, a pattern, a Ray Dataset or a Dask "
            "DataFrame"
        ) from None
    found = [file for item in items for file in _of_path(os.fspath(item))]
    if not found:
        raise ValueError("shards is empty; give at least one file")
    return found


def _of_path(path: str) -> list[str]:
    if "://" in path:
        raise ValueError(f"{path} is not a path; workers read files that are on their file systems, such as a shared folder")
    if os.path.isdir(path):
        inside = sorted(file for file in Path(path).rglob("*") if file.is_file())
        visible = [str(file) for file in inside if not any(p[0] in "._" for p in file.relative_to(path).parts)]
        if not visible:
            raise ValueError(f"the folder {path} has no files")
        return [os.path.abspath(file) for file in visible]
    if glob.has_magic(path) and not os.path.exists(path):
        matching = sorted(glob.glob(path, recursive=True))
        if not matching:
            raise ValueError(f"no file matches {path}")
        return [os.path.abspath(file) for file in matching]
    return [os.path.abspath(path)]


@contextlib.contextmanager
def staged(shards: Any, staging: Any) -> Iterator[list[str]]:
    """The files of shards. A Ray Dataset or a Dask DataFrame is written to a folder in `staging`, which is removed
    afterwards."""
    write = _writer(shards)
    if write is None:
        yield files(shards)
        return
    if staging is None:
        raise ValueError(
            f"give staging=, a folder that all workers can read: a {type(shards).__name__} is written there as Parquet, "
            "because every worker reads its own queries, and reads them again if it takes the place of one that was lost"
        )
    folder = os.path.join(os.path.abspath(os.fspath(staging)), f"rankwise-{uuid.uuid4().hex}")
    try:
        write(folder)
        yield files(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _writer(shards: Any) -> Any:
    """How a data set of Ray or Dask is written to a folder; None for files."""
    module = type(shards).__module__
    if module.startswith("ray.data") and hasattr(shards, "write_parquet"):
        return shards.write_parquet
    if module.startswith("dask") and hasattr(shards, "to_parquet"):
        return lambda folder: shards.to_parquet(folder, write_index=False)
    return None
