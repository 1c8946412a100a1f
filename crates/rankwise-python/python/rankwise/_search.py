"""From documents to rankings: an index, features of its documents, and search in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from rankwise import _frames, _rankwise
from rankwise._rankwise import Data, Progress, Ranker
from rankwise._runs import as_dictionaries

if TYPE_CHECKING:
    from typing_extensions import Self

    _Path = str | os.PathLike[str]
    _Callbacks = Iterable[Callable[[Progress], Any]] | None
    _Syntax = Literal["full", "words"]

_Choice = TypeVar("_Choice", bound=str)


@dataclass(frozen=True)
class Hit:
    """A document that a search found.

    >>> import tempfile
    >>> import rankwise as rw
    >>> index = rw.Index.create(tempfile.mkdtemp() + "/birds.idx", [{"id": "1", "text": "A loud wren"}])
    >>> hit = index.search("wren")[0]
    >>> hit.rank, hit.id, hit.snippet, hit.highlights
    (1, '1', 'A loud wren', [[7, 11]])
    """

    #: Its place, from 1.
    rank: int
    #: Its id.
    id: str
    #: The score that it is ranked by: the model's, or that of BM25.
    score: float
    #: Its score by BM25.
    bm25: float
    #: Its place by BM25, from 1.
    bm25_rank: int
    #: Whether a model has scored it.
    by_model: bool
    #: The first of several text fields.
    heading: str
    #: The part of the text that shows best why it was found.
    snippet: str
    #: Words of the query in the snippet: where they start and end, as in `snippet[start:end]`.
    highlights: list[list[int]]
    #: The document as it was added.
    fields: dict[str, Any]
    #: With `explain=True`, the score before any feature is known. It and all contributions sum to the score.
    base: float | None = None
    #: With `explain=True`, the name, the value and the contribution of every feature.
    features: list[dict[str, Any]] | None = None


class SearchResult(Sequence[Hit]):
    """The documents found for a query, best first.

    >>> import tempfile
    >>> import rankwise as rw
    >>> documents = [{"id": "1", "text": "A loud wren"}, {"id": "2", "text": "An owl"}]
    >>> found = rw.Index.create(tempfile.mkdtemp() + "/birds.idx", documents).search("owl or wren")
    >>> len(found), found.ids
    (2, ['2', '1'])
    """

    def __init__(self, query: str, hits: list[Hit]) -> None:
        self.query = query
        self.hits = hits

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...
    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        return self.hits[place]

    @property
    def ids(self) -> list[str]:
        """The ids of the documents."""
        return [hit.id for hit in self.hits]

    def to_frame(self) -> Any:
        """A frame with a row per document: rank, id, scores, and the fields of the documents."""
        columns: dict[str, list[Any]] = {
            name: [getattr(hit, name) for hit in self.hits] for name in ("rank", "id", "score", "bm25", "bm25_rank")
        }
        for name in dict.fromkeys(name for hit in self.hits for name in hit.fields):
            columns.setdefault(name, [hit.fields.get(name) for hit in self.hits])
        return _frames.frame(columns)

    def _rows(self) -> list[list[str]]:
        return [[hit.heading or hit.snippet or hit.id, hit.id, f"{hit.score:.4f}", str(hit.bm25_rank)] for hit in self.hits]

    def __repr__(self) -> str:
        return _frames.text_table(_HEADER, self._rows())

    def _repr_html_(self) -> str:
        return _frames.html_table(_HEADER, self._rows(), self.query)


_HEADER = ["document", "id", "score", "BM25's rank"]


class Index:
    """An index of documents on disk, to search and to compute features. The command line's `index`, `features` and
    `search` work on the same directories.

    Args:
        path: The directory of the index.

    >>> import tempfile
    >>> import rankwise as rw
    >>> documents = [
    ...     {"id": "1", "title": "The wren", "body": "A small bird with a loud voice."},
    ...     {"id": "2", "title": "The owl", "body": "A bird of the night."},
    ... ]
    >>> index = rw.Index.create(tempfile.mkdtemp() + "/birds.idx", documents)
    >>> index
    <rankwise.Index: 2 documents with title, body>
    >>> index.search("loud birds").ids
    ['1', '2']
    >>> data = index.features({"q1": "loud birds"}, qrels={"q1": {"1": 1}}, set="small")
    >>> data.shape[0], data.docid
    (2, ['1', '2'])
    """

    def __init__(self, path: _Path) -> None:
        self.path = os.fspath(path)
        self._index = _rankwise.SearchIndex(self.path)

    @classmethod
    def create(
        cls,
        path: _Path,
        documents: Any,
        *,
        fields: Sequence[str] | Mapping[str, str | None] = (),
        links: Sequence[str] | str = (),
        analyzer: str = "english",
        id: str | None = None,
        format: str | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        duplicates: Literal["stop", "keep-first", "replace"] = "stop",
        memory: int = 256,
        max_document: int = 16,
        callbacks: _Callbacks = None,
    ) -> Self:
        """Makes an index in a new or empty directory. If that fails, the directory is as it was before.

        Args:
            path: The directory.
            documents: A file or a list of files (JSON lines, CSV, TSV, TREC SGML, folders), a frame, or any iterable of
                dictionaries.
            fields: The fields to index, in this order, alone or with what they hold: `"year:number"`, or
                `{"year": "number", "title": None}`. Without them, all.
            links: Fields with the ids of linked documents.
            analyzer: The analyzer of text: a language, `plain` or `keyword`.
            id: The field with the id; without it `id`, `_id`, `docid`, `docno` or `doc_id`.
            format: The format of files: `jsonl`, `csv`, `tsv`, `trec` or `folder`.
            on_error: What to do about a malformed document.
            duplicates: What to do about a second document with the same id.
            memory: Memory for documents that are not on disk yet, in MiB.
            max_document: The largest document, in MiB of text.
            callbacks: Functions that get the number of documents so far; see `rw.progress`.
        """
        if isinstance(fields, Mapping):
            fields = [name if kind is None else f"{name}:{kind}" for name, kind in fields.items()]
        options = _writing(id, format, on_error, duplicates, memory, max_document)
        links = [links] if isinstance(links, str) else list(links)
        _rankwise.SearchIndex.create(
            os.fspath(path), _source(documents), list(fields), links, analyzer, options, list(callbacks or ())
        )
        return cls(path)

    def add(
        self,
        documents: Any = None,
        *,
        delete: Iterable[str] = (),
        id: str | None = None,
        format: str | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        duplicates: Literal["stop", "keep-first", "replace"] = "stop",
        memory: int = 256,
        max_document: int = 16,
        callbacks: _Callbacks = None,
    ) -> dict[str, int]:
        """Deletes documents, then adds others, which replace those whose id is there already. All of it becomes visible at
        once, or nothing if it fails. Returns what changed."""
        options = _writing(id, format, on_error, duplicates, memory, max_document)
        source = None if documents is None else _source(documents)
        deleted = [delete] if isinstance(delete, str) else [str(one) for one in delete]
        changed: dict[str, int] = self._index.update(source, deleted, options, list(callbacks or ()))
        return changed

    def delete(self, ids: Iterable[str]) -> dict[str, int]:
        """Deletes the documents with these ids. Returns what changed."""
        return self.add(delete=ids)

    def refresh(self) -> None:
        """Searches what other processes have committed, too. A changed index looks like before until then."""
        self._index.refresh()

    def info(self) -> dict[str, Any]:
        """What the index says about itself: documents, fields, analyzers, size, version."""
        found: dict[str, Any] = self._index.info()
        return found

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        fields = ", ".join(field["name"] for field in self.info()["schema"]["fields"])
        return f"<rankwise.Index: {len(self)} document{'' if len(self) == 1 else 's'} with {fields}>"

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        skip: int = 0,
        model: Ranker | _Path | None = None,
        depth: int | None = None,
        syntax: _Syntax = "full",
        explain: bool = False,
        snippet: int = 150,
        k1: float | None = None,
        b: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> SearchResult:
        """Searches by BM25, or with a model that orders the first documents of BM25.

        Args:
            query: What to search for.
            k: How many documents to return.
            skip: How many to leave out before them.
            model: A ranker that was trained on features of an index, or its file.
            depth: How many documents the model orders; by default as many as in its training, or 100.
            syntax: `full` for fields, phrases, +must, -not, AND, OR and ranges, or `words`.
            explain: Whether to say what each feature contributes to the score.
            snippet: Characters of a snippet.
            k1: How slowly more occurrences of a word stop to count; by default as the model remembers, or 1.2.
            b: How much the length of a document counts; by default as the model remembers, or 0.75.
            weights: How much a word in each text field counts; by default as the model remembers, or all 1.
        """
        options = _searching(model, depth, syntax, k1, b, weights)
        found = self._index.search(query, k, skip, explain, snippet, options)
        return SearchResult(query, [Hit(**hit) for hit in found])

    def run(
        self,
        queries: Any,
        k: int = 1000,
        *,
        model: Ranker | _Path | None = None,
        depth: int | None = None,
        syntax: _Syntax = "words",
        k1: float | None = None,
        b: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> dict[str, dict[str, float]]:
        """The scores of the documents found for many queries, as `rw.evaluate` and `rw.compare` take them.

        Args:
            queries: A dictionary of ids and texts, a frame, a list of pairs, or a file.
        """
        options = _searching(model, depth, syntax, k1, b, weights)
        found: dict[str, dict[str, float]] = self._index.run(_queries(queries), k, options)
        return found

    def why_not(
        self,
        query: str,
        id: str,
        k: int = 10,
        *,
        model: Ranker | _Path | None = None,
        depth: int | None = None,
        syntax: _Syntax = "full",
        k1: float | None = None,
        b: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> str:
        """Why the document of this id is not among the first `k`."""
        return self._index.why_not(query, id, k, _searching(model, depth, syntax, k1, b, weights))[1]

    def feature_set(
        self, set: str = "mslr", *, pick: Sequence[str] = (), without: Sequence[str] = ()
    ) -> str:
        """A feature set as TOML, to edit and to give as a file."""
        return self._index.feature_set(set, _names(pick), _names(without))[1]

    def features(
        self,
        queries: Any,
        *,
        qrels: Any = None,
        candidates: Any = "bm25:100",
        set: str | os.PathLike[str] = "mslr",
        pick: Sequence[str] = (),
        without: Sequence[str] = (),
        unjudged: Literal["non-relevant", "drop"] = "non-relevant",
        syntax: _Syntax = "words",
        k1: float | None = None,
        b: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Data:
        """The features of queries and their candidates: training data that knows how it was computed, so that a ranker
        trained on it can be given to `search`.

        Args:
            queries: A dictionary of ids and texts, a frame, a list of pairs, or a file.
            qrels: The judgments, in any form that `rw.evaluate` takes. Without them, all labels are 0.
            candidates: The documents of each query: the first by BM25 (`bm25:100`), the judged ones (`judged`), or a run.
            set: The features: `mslr`, `small`, or a TOML file.
            pick: Only these features; `*` stands for any text.
            without: All features but these.
            unjudged: Whether candidates without a judgment get label 0 or are left out.
            syntax: Whether queries are plain words or in the full syntax.
            k1: How slowly more occurrences of a word stop to count, for candidates and their scores; 1.2 by default.
            b: How much the length of a document counts; 0.75 by default.
            weights: How much a word in each text field counts. Without them, all fields count 1.
        """
        grades = None if qrels is None else as_dictionaries(qrels, "qrels")
        named = isinstance(candidates, str) and _is_rule(candidates)
        return self._index.features(
            _queries(queries),
            candidates if named else as_dictionaries(candidates, "run"),
            None if grades is None else {query: dict(of) for query, of in grades.items()},
            os.fspath(set),
            _names(pick),
            _names(without),
            _one_of("unjudged", unjudged, ("non-relevant", "drop")) == "non-relevant",
            _searching(None, None, syntax, k1, b, weights),
        )


def _is_rule(candidates: str) -> bool:
    return candidates in ("judged", "bm25") or candidates.startswith("bm25:")


def _names(given: Sequence[str] | str) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _one_of(name: str, given: _Choice, known: tuple[_Choice, ...]) -> _Choice:
    if given not in known:
        raise ValueError(f"{name} is {given!r}; give one of {', '.join(known)}")
    return given


def _writing(
    id: str | None, format: str | None, on_error: str, duplicates: str, memory: int, max_document: int
) -> dict[str, Any]:
    return {
        "id": id,
        "format": format,
        "on_error": _one_of("on_error", on_error, ("stop", "skip")),
        "duplicates": _one_of("duplicates", duplicates, ("stop", "keep-first", "replace")),
        "memory": memory,
        "max_document": max_document,
    }


def _searching(
    model: Ranker | _Path | None,
    depth: int | None,
    syntax: str,
    k1: float | None,
    b: float | None,
    weights: Mapping[str, float] | None,
) -> dict[str, Any]:
    if model is not None and not isinstance(model, Ranker):
        # An estimator of rankwise.sklearn has its ranker inside.
        model = getattr(model, "ranker_", None) or _rankwise.load(model)
    return {
        "model": model,
        "depth": depth,
        "syntax": _one_of("syntax", syntax, ("full", "words")),
        "k1": k1,
        "b": b,
        "weights": None if weights is None else list(weights.items()),
    }


def _queries(given: Any) -> list[tuple[str, str]]:
    """Ids and texts of queries."""
    if isinstance(given, (str, os.PathLike)):
        return _rankwise.read_queries(given)
    if isinstance(given, Mapping):
        pairs: Iterable[tuple[Any, Any]] = given.items()
    elif hasattr(given, "columns"):
        names = [str(name) for name in given.columns]
        columns = []
        for wanted in (("qid", "query_id", "id", "_id"), ("query", "text", "title")):
            name = next((name for name in wanted if name in names), None)
            if name is None:
                raise ValueError(
                    f"the frame of queries has the columns {', '.join(names)}; one of {', '.join(wanted)} is needed"
                )
            columns.append(list(given[name]))
        pairs = zip(*columns)
    else:
        pairs = given
    return [(str(id), str(text)) for id, text in pairs]


def _source(documents: Any) -> Any:
    """Paths as a list, everything else as an iterator of lines of JSON."""
    if isinstance(documents, (str, os.PathLike)):
        return [os.fspath(documents)]
    if hasattr(documents, "columns"):
        return _lines(_records(documents))
    if isinstance(documents, Sequence) and documents and isinstance(documents[0], (str, os.PathLike)):
        return [os.fspath(path) for path in documents]
    if isinstance(documents, Iterable) and not isinstance(documents, (bytes, Mapping)):
        return _lines(documents)
    raise TypeError(
        f"documents of type {type(documents).__name__} cannot be read; give files, a frame or an iterable of dictionaries"
    )


def _records(frame: Any) -> Iterator[dict[str, Any]]:
    """The rows of a frame of pandas, polars or pyarrow. What is missing is `None`."""
    if hasattr(frame, "iter_rows"):
        yield from frame.iter_rows(named=True)
    elif hasattr(frame, "to_pylist"):
        yield from frame.to_pylist()
    else:
        names = [str(name) for name in frame.columns]
        for row in frame.itertuples(index=False, name=None):
            yield dict(zip(names, row))


def _lines(documents: Iterable[Any]) -> Iterator[bytes]:
    for number, document in enumerate(documents, 1):
        if not isinstance(document, Mapping):
            raise TypeError(f"document {number} is of type {type(document).__name__}; documents are dictionaries")
        present = {str(name): value for name, value in document.items() if not _is_missing(value)}
        yield json.dumps(present, ensure_ascii=False, allow_nan=False, default=_plain).encode() + b"\n"


def _is_missing(value: Any) -> bool:
    """`None`, NaN, and what pandas has for them."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA has no truth; arrays have several.
        return type(value).__name__ == "NAType"


def _plain(value: Any) -> Any:
    """Values that JSON does not know: of NumPy, dates, tuples and sets."""
    for method in ("isoformat", "tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be indexed; give text, numbers, dates or lists")
