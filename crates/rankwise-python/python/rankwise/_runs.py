"""Qrels and runs in all the forms that people keep them in, as dictionaries of dictionaries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankwise._rankwise import read_trec_qrels, read_trec_run

if TYPE_CHECKING:
    from typing import Literal

    _Kind = Literal["qrels", "run"]

# The names of columns in frames and of fields in named tuples, as ir-measures, PyTerrier, ranx and BEIR have them.
_QUERY = ("query_id", "qid", "q_id", "query", "topic", "topic_id", "query-id")
_DOCUMENT = ("doc_id", "docid", "docno", "doc", "document", "document_id", "corpus-id", "corpus_id")
_VALUE = {
    "qrels": ("relevance", "label", "rel", "grade", "score"),
    "run": ("score", "scores", "sim", "prediction"),
}


def as_dictionaries(given: Any, kind: _Kind) -> dict[Any, dict[Any, Any]]:
    """The queries, each with its documents and their grades or scores."""
    if isinstance(given, dict):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_trec_qrels(given) if kind == "qrels" else read_trec_run(given)
    if isinstance(given, Mapping):
        return {query: dict(documents) for query, documents in given.items()}
    if hasattr(given, "to_dict") and _module(given) == "ranx":
        found: dict[Any, dict[Any, Any]] = given.to_dict()
        return found
    if hasattr(given, "columns"):
        return _of_frame(given, kind)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return _of_tuples(given, kind)
    raise TypeError(
        f"{_called(kind)} of type {type(given).__name__} cannot be read; give a dictionary of dictionaries, a frame, a "
        "list of named tuples, a ranx object or the path of a TREC file"
    )


def _called(kind: _Kind) -> str:
    return "qrels" if kind == "qrels" else "a run"


def _module(given: Any) -> str:
    return type(given).__module__.split(".")[0]


def is_run(given: Any) -> bool:
    """Whether it looks like a run rather than an array of scores."""
    if isinstance(given, (Mapping, str, os.PathLike)) or _module(given) == "ranx":
        return True
    if hasattr(given, "columns"):
        return True
    first = given[0] if isinstance(given, (list, tuple)) and given else None
    return hasattr(first, "_fields")


def _of_frame(frame: Any, kind: _Kind) -> dict[Any, dict[Any, Any]]:
    names = named_columns(frame)
    columns = (column_of(frame, names, wanted, _called(kind)) for wanted in (_QUERY, _DOCUMENT, _VALUE[kind]))
    return _grouped(zip(*columns), kind)


def named_columns(frame: Any) -> list[str]:
    """The names of the columns of a frame, or of a dictionary of columns."""
    names = frame if isinstance(frame, Mapping) else getattr(frame, "column_names", frame.columns)
    return [str(name) for name in names]


def column_of(frame: Any, names: Sequence[str], wanted: Sequence[str], what: str) -> list[Any]:
    """The first of the wanted columns that there is."""
    return _as_list(frame[name_of(names, wanted, f"the frame of {what}")])


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT or the NA of pandas."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def name_of(names: Sequence[str], wanted: Sequence[str], what: str) -> str:
    """The first of the wanted names that there is."""
    for name in wanted:
        if name in names:
            return name
    raise ValueError(f"{what} has the columns {', '.join(names)}; one of {', '.join(wanted)} is needed")


def _as_list(column: Any) -> list[Any]:
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    return list(column)


def _of_tuples(rows: Iterable[Any], kind: _Kind) -> dict[Any, dict[Any, Any]]:
    rows = list(rows)
    if not rows:
        return {}
    fields = getattr(rows[0], "_fields", None) or tuple(getattr(rows[0], "__dataclass_fields__", ()))
    if not fields:
        raise TypeError(
            f"{_called(kind)} has an item of type {type(rows[0]).__name__}; lists have named tuples with the fields "
            f"query_id, doc_id and {_VALUE[kind][0]}"
        )
    chosen = []
    for wanted in (_QUERY, _DOCUMENT, _VALUE[kind]):
        name = next((name for name in wanted if name in fields), None)
        if name is None:
            raise ValueError(
                f"the items of {_called(kind)} have the fields {', '.join(fields)}; one of {', '.join(wanted)} is needed"
            )
        chosen.append(name)
    query, document, value = chosen
    return _grouped(((getattr(r, query), getattr(r, document), getattr(r, value)) for r in rows), kind)


def _grouped(rows: Iterable[tuple[Any, Any, Any]], kind: _Kind) -> dict[Any, dict[Any, Any]]:
    queries: dict[Any, dict[Any, Any]] = {}
    for query, document, value in rows:
        documents = queries.get(query)
        if documents is None:
            documents = queries[query] = {}
        if document in documents:
            raise ValueError(f"document {document!r} occurs twice in query {query!r} of {_called(kind)}")
        documents[document] = value
    return queries
