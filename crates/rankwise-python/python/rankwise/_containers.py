"""What users hold their data in: NumPy, SciPy, pandas, and everything with Arrow's interface.

The extension calls `features`, `numbers` and `ids`, and gets NumPy arrays of one type each, or an Arrow stream.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


def features(container: Any) -> SimpleNamespace:
    """The features in one of three layouts: dense, sparse, or an Arrow stream."""
    if isinstance(container, (str, os.PathLike)):
        raise TypeError(f"X is the text {str(container)!r}; to read a file, use rankwise.read")
    container = collected(container)
    if _is_pandas(container, "DataFrame"):
        return _pandas_features(container)
    if hasattr(container, "__arrow_c_stream__") and not isinstance(container, np.ndarray):
        return SimpleNamespace(kind="arrow", stream=container)
    if hasattr(container, "tocsr") and hasattr(container, "shape"):
        return _sparse_features(container)
    return _dense(_two_dimensional(container))


def collected(container: Any) -> Any:
    """The same data without detours: lazy frames of polars computed, masked values of NumPy as NaN."""
    if type(container).__name__ == "LazyFrame" and type(container).__module__.split(".")[0] == "polars":
        return container.collect()
    if isinstance(container, np.ma.MaskedArray) and container.dtype.kind in "biuf":
        return np.ma.filled(container.astype(np.result_type(container.dtype, np.float32)), np.nan)
    return container


def _dense(values: np.ndarray, names: list[str] | None = None, categories: list[Any] | None = None) -> SimpleNamespace:
    return SimpleNamespace(kind="dense", values=values, names=names, categories=categories or [])


def _two_dimensional(container: Any) -> np.ndarray:
    array = np.asarray(container)
    if array.ndim != 2:
        raise ValueError(
            f"X has {array.ndim} dimension{'s' * (array.ndim != 1)}, and features are a matrix of documents and "
            "features. Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one document"
        )
    _check_kind(array, "X")
    return _as_single(array)


def _as_single(array: np.ndarray) -> np.ndarray:
    """Single precision in C order; the same array if it is so already."""
    return _converted(array, "X", np.float32)


def _converted(array: np.ndarray, name: str, kind: Any) -> np.ndarray:
    with _in_range(name):
        return np.ascontiguousarray(array, dtype=kind)


@contextmanager
def _in_range(name: str) -> Iterator[None]:
    """Numbers that single precision cannot hold are an error; NumPy would make them infinite."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError:
        raise ValueError(
            f"{name} has a number beyond 3.4e38, which single precision cannot hold; scale it down, or use NaN if it "
            "stands for a missing value"
        ) from None


def _check_kind(array: np.ndarray, name: str) -> None:
    if np.issubdtype(array.dtype, np.complexfloating):
        raise ValueError(f"Complex data not supported: {name} has complex numbers")
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} has values of type {array.dtype}; give numbers")
    if array.dtype.kind == "O":
        _check_objects(array, name)


def _check_objects(array: np.ndarray, name: str) -> None:
    for value in array.ravel():
        if value is None or isinstance(value, (bool, int, float, np.number, np.bool_)):
            continue
        raise TypeError(
            f"{name} has an object of type {type(value).__name__}; argument must be a string or a number only where a "
            "column is categorical, so give numbers, or make text a pandas or polars category"
        )


def _sparse_features(container: Any) -> SimpleNamespace:
    if np.issubdtype(container.dtype, np.complexfloating):
        raise ValueError("Complex data not supported: X has complex numbers")
    rows = container.tocsr()
    if not (rows.has_sorted_indices and rows.has_canonical_format):
        rows = rows.copy()
        rows.sum_duplicates()
    return SimpleNamespace(
        kind="sparse",
        starts=np.ascontiguousarray(rows.indptr, dtype=np.int64),
        columns=np.ascontiguousarray(rows.indices, dtype=np.uint32),
        values=_as_single(rows.data),
        width=rows.shape[1],
    )


def _is_pandas(container: Any, name: str) -> bool:
    kind = type(container)
    return kind.__module__.split(".")[0] == "pandas" and any(base.__name__ == name for base in kind.__mro__)


def _pandas_features(frame: Any) -> SimpleNamespace:
    values = np.empty(frame.shape, dtype=np.float32)
    categories = []
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if getattr(column.dtype, "name", "") == "category":
            codes = column.cat.codes.to_numpy()
            values[:, place] = np.where(codes < 0, np.nan, codes)
            categories.append((place, [str(text) for text in column.cat.categories]))
        else:
            with _in_range(f"column {column.name!r}"):
                values[:, place] = _pandas_column(column)
    names = list(frame.columns) if all(isinstance(name, str) for name in frame.columns) else None
    return _dense(values, names, categories)


def _pandas_column(column: Any) -> np.ndarray:
    kind = getattr(column.dtype, "kind", "O")
    if kind not in "biuf":
        if kind == "O" and not _is_text(column):
            objects: np.ndarray = column.to_numpy(na_value=np.nan)
            _check_objects(objects, f"column {column.name!r}")
            return objects
        raise ValueError(
            f"column {column.name!r} has values of type {column.dtype}; give numbers, make it a category "
            "(astype('category')), or leave it out"
        )
    plain = isinstance(column.dtype, np.dtype)
    values: np.ndarray = column.to_numpy() if plain else column.to_numpy(dtype=np.float32, na_value=np.nan)
    return values


def _is_text(column: Any) -> bool:
    return any(isinstance(value, str) for value in column)


def _one_dimensional(values: Any, name: str) -> np.ndarray:
    if isinstance(values, str):
        raise ValueError(f"{name} is the text {values!r}; give one value per row, such as frame[{values!r}]")
    values = collected(values)
    if type(values).__module__.split(".")[0] == "pyarrow":
        values = values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        values = np.asarray(values)
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; give one value per row, a 1d array")
    return array


def numbers(values: Any, name: str, kind: str) -> np.ndarray:
    """One number per row."""
    array = _one_dimensional(values, name)
    _check_kind(array, name)
    return _converted(array, name, kind)


def ids(values: Any, name: str) -> np.ndarray | list[str]:
    """Ids as whole numbers, or else as texts."""
    array = _one_dimensional(values, name)
    if array.dtype.kind in "biu":
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise ValueError(_missing_id(name))
        whole = array.astype(np.int64, casting="unsafe") if np.isfinite(array).all() else None
        if whole is None or not (whole == array).all():
            raise ValueError(f"{name} has a value that is not a whole number; give whole numbers or texts")
        return whole
    return [_id_text(value, name) for value in array.tolist()]


def _id_text(value: Any, name: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        raise ValueError(_missing_id(name))
    return str(value)


def _missing_id(name: str) -> str:
    return f"{name} has a missing value; every row needs an id"
