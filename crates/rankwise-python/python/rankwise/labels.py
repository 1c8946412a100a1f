"""Labels from several judges: how well they agree, and one label per document.

>>> from rankwise import labels
>>> judgments = labels.Judgments([
...     ("q", "a", "ann", 2), ("q", "a", "bob", 2),
...     ("q", "b", "ann", 0), ("q", "b", "bob", 1),
... ])
>>> judgments.agreement().percentage
0.5
>>> judgments.merge("median").qrels()
{'q': {'a': 2, 'b': 0}}
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any

from rankwise import _frames, _rankwise
from rankwise._runs import column_of, is_missing, name_of, named_columns

__all__ = ["Agreement", "Judgments", "Merged", "read"]

_COLUMNS = {
    "query": ("query", "qid", "query_id"),
    "document": ("document", "doc", "docid", "doc_id", "docno", "document_id"),
    "judge": ("judge", "assessor", "annotator", "worker"),
    "grade": ("grade", "label", "rating", "rel", "relevance"),
}
_OPTIONAL = {"note": ("note",), "time": ("time", "timestamp")}

_NAMES = {
    "percentage": "equal judgments",
    "cohen": "Cohen's κ",
    "cohen_linear": "  linear weights",
    "cohen_quadratic": "  quadratic weights",
    "fleiss": "Fleiss's κ",
    "alpha_nominal": "Krippendorff's α, nominal",
    "alpha_ordinal": "  ordinal",
    "alpha_interval": "  interval",
}


def read(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    query: str | None = None,
    document: str | None = None,
    judge: str | None = None,
    grade: str | None = None,
) -> Judgments:
    """Reads judgments from a table with a header, CSV or TSV, plain or compressed; several files are one table.

    Args:
        path: The file, or a list of files.
        query: The column of the query; `query`, `qid` or `query_id` by default.
        document: The column of the document; `document`, `doc`, `docid`, `doc_id`, `docno` or `document_id` by default.
        judge: The column of the judge; `judge`, `assessor`, `annotator` or `worker` by default.
        grade: The column of the grade; `grade`, `label`, `rating`, `rel` or `relevance` by default. A row without a grade takes
            back what the judge said before.

    >>> import pathlib, tempfile
    >>> from rankwise import labels
    >>> path = pathlib.Path(tempfile.mkdtemp(), "judgments.csv")
    >>> _ = path.write_text("query,document,judge,grade\\nq,a,ann,1\\nq,a,bob,3\\nq,a,eve,3\\n")
    >>> labels.read(path)
    <rankwise.labels.Judgments: 3 judgments>
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    read_by_library = _rankwise.Judgments.read([os.fspath(p) for p in paths], [query, document, judge, grade])
    return Judgments._of(read_by_library)


class Judgments:
    """Who gave which grade to which document of which query: at most one grade per query, document and judge. Of several,
    the last one counts, and a row without a grade takes back what the judge said before. What was replaced, taken back and left
    out goes to `logging` under the name `rankwise`.

    Args:
        judgments: A frame with the columns query, document, judge and grade, and perhaps note and time, by one of their usual
            names; or rows of these four to six values, tuples or dictionaries.

    >>> from rankwise import labels
    >>> judgments = labels.Judgments([{"query": "q", "document": "a", "judge": "ann", "grade": 1}, ("q", "a", "bob", 0)])
    >>> len(judgments), judgments.replaced
    (2, 0)
    """

    def __init__(self, judgments: Any) -> None:
        self._judgments = _rankwise.Judgments.of_rows(list(_rows(judgments)))

    @classmethod
    def _of(cls, judgments: _rankwise.Judgments) -> Judgments:
        made = cls.__new__(cls)
        made._judgments = judgments
        return made

    def __len__(self) -> int:
        return len(self._judgments)

    def __repr__(self) -> str:
        count = len(self)
        return f"<rankwise.labels.Judgments: {count:,} judgment{'' if count == 1 else 's'}>"

    @property
    def replaced(self) -> int:
        """How many judgments were replaced by a later one of the same judge."""
        return self._judgments.replaced

    @property
    def withdrawn(self) -> int:
        """How many judgments were taken back by a row without a grade."""
        return self._judgments.withdrawn

    @property
    def without_grade(self) -> int:
        """How many rows had no grade and took nothing back; they are left out."""
        return self._judgments.without_grade

    def to_frame(self) -> Any:
        """A frame with one row per judgment."""
        return _frames.of_rows(self._judgments.rows(), ("query", "document", "judge", "grade", "note", "time"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the judgments as CSV, or TSV by name."""
        self._judgments.write(path)

    def agreement(
        self, *, resamples: int = 1000, confidence: float = 0.95, seed: int = 1, n_jobs: int | None = None
    ) -> Agreement:
        """How well judges agree, with percentile intervals over resampled documents. Fails if no document was graded by two
        judges.

        >>> from rankwise import labels
        >>> rows = [("q", d, j, g) for d, grades in {"a": "22", "b": "01", "c": "00"}.items() for j, g in zip("xy", grades)]
        >>> agreement = labels.Judgments([(q, d, j, int(g)) for q, d, j, g in rows]).agreement()
        >>> round(agreement.cohen, 3), agreement.interval("percentage")[1]
        (0.5, 1.0)
        """
        found = self._judgments.agreement(resamples, confidence, seed, n_jobs)
        by_query = partial(self._judgments.agreement_by_query, resamples, confidence, seed, n_jobs)
        return Agreement(found, confidence, by_query)

    def merge(self, by: str = "majority", *, round: bool = False, iterations: int = 1000) -> Merged:
        """One label per document.

        Args:
            by: `majority` (of grades that most judges gave, the lowest), `median` (of two in the middle, the lower one), `mean`,
                or `dawid-skene` (the most probable grade, with error rates for each judge).
            round: Round labels to whole numbers, which qrels need; for `mean`.
            iterations: The largest number of iterations of `dawid-skene`.

        >>> from rankwise import labels
        >>> judgments = labels.Judgments([("q", "a", "ann", 1), ("q", "a", "bob", 3), ("q", "a", "eve", 3)])
        >>> judgments.merge("majority").qrels(), judgments.merge("mean", round=True).qrels()
        ({'q': {'a': 3}}, {'q': {'a': 2}})
        """
        labels, model = self._judgments.merge(by, iterations)
        return Merged(labels.rounded() if round else labels, by, model)


class Agreement:
    """How well judges agree. Coefficients are attributes, `None` where they are not defined; printing shows all.

    >>> from rankwise import labels
    >>> rows = [("q", str(d), judge, d % 2) for d in range(20) for judge in ("ann", "bob")]
    >>> agreement = labels.Judgments(rows).agreement()
    >>> agreement.alpha_ordinal, agreement.judges_frame()["judge"][0]
    (1.0, 'ann')
    """

    #: The fraction of pairs of judgments of the same document that are equal.
    percentage: float | None
    #: Cohen's κ, the mean over all pairs of judges.
    cohen: float | None
    #: Cohen's κ with linear weights.
    cohen_linear: float | None
    #: Cohen's κ with quadratic weights.
    cohen_quadratic: float | None
    #: Fleiss's κ.
    fleiss: float | None
    #: Krippendorff's α for grades that are only names.
    alpha_nominal: float | None
    #: Krippendorff's α for grades in order.
    alpha_ordinal: float | None
    #: Krippendorff's α for grades that are numbers.
    alpha_interval: float | None
    #: Documents of queries, and those that two judges have graded.
    documents: int
    judged_twice: int

    def __init__(
        self, found: dict[str, Any], confidence: float, by_query: Callable[[], list[dict[str, Any]]]
    ) -> None:
        self._found = found
        self._by_query = by_query
        self._confidence = confidence
        self.documents = found["documents"]
        self.judged_twice = found["judged_twice"]
        for name, estimate in found["estimates"].items():
            setattr(self, name, None if estimate is None else estimate["value"])

    def interval(self, coefficient: str) -> tuple[float, float] | None:
        """The confidence interval of a coefficient, such as `"alpha_ordinal"`."""
        if coefficient not in self._found["estimates"]:
            raise KeyError(f"there is no coefficient {coefficient}; there are {', '.join(_NAMES)}")
        return _interval(self._found["estimates"][coefficient])

    def to_frame(self) -> Any:
        """A frame with one row per coefficient: its value and its interval."""
        rows = []
        for name in _NAMES:
            low, high = self.interval(name) or (None, None)
            rows.append({"coefficient": name, "value": getattr(self, name), "low": low, "high": high})
        return _frames.of_rows(rows, ("coefficient", "value", "low", "high"))

    def judges_frame(self) -> Any:
        """A frame with one row per judge: judgments, mean grade, and agreement with all others."""
        columns = ("judge", "judgments", "mean_grade", "percentage", "cohen", "cohen_quadratic")
        return _frames.of_rows([_values(row) for row in self._found["judges"]], columns)

    def pairs_frame(self) -> Any:
        """A frame with one row per pair of judges."""
        rows = [{**row, "first": row["judges"][0], "second": row["judges"][1]} for row in self._found["pairs"]]
        columns = ("first", "second", "documents", "percentage", "cohen", "cohen_linear", "cohen_quadratic")
        return _frames.of_rows(rows, columns)

    @cached_property
    def per_query(self) -> Any:
        """A frame with one row per query: its documents and every coefficient. It is computed when it is asked for."""
        rows = [{**row, **_values(row["estimates"])} for row in self._by_query()]
        return _frames.of_rows(rows, ("query", "documents", *_NAMES))

    def _rows(self) -> list[list[str]]:
        rows = []
        for name, shown in _NAMES.items():
            interval = self.interval(name)
            ends = "–" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
            value = getattr(self, name)
            rows.append([shown, "–" if value is None else f"{value:.3f}", ends])
        return rows

    def _header(self) -> list[str]:
        return ["coefficient", "value", f"{100 * self._confidence:g} % CI"]

    def _caption(self) -> str:
        return (
            f"{self.documents:,} documents, {self.judged_twice:,} of them judged by two or more; "
            f"{len(self._found['judges']):,} judges"
        )

    def __repr__(self) -> str:
        return f"{_frames.text_table(self._header(), self._rows())}\n\n{self._caption()}"

    def _repr_html_(self) -> str:
        return _frames.html_table(self._header(), self._rows(), self._caption())


class Merged:
    """One label per document.

    >>> from rankwise import labels
    >>> rows = [("q", str(d), judge, int(d > 2 or judge == "eve")) for d in range(6) for judge in ("ann", "bob", "eve")]
    >>> merged = labels.Judgments(rows).merge("dawid-skene")
    >>> merged.qrels()["q"]
    {'0': 0, '1': 0, '2': 0, '3': 1, '4': 1, '5': 1}
    >>> merged.model["converged"], [judge["judge"] for judge in merged.model["judges"]]
    (True, ['ann', 'bob', 'eve'])
    """

    #: The rule.
    by: str
    #: Documents with several grades that equally many judges gave, and no other more.
    tied: int
    #: Of `dawid-skene`: the grades, their frequencies and probabilities, the judges' errors, the log-likelihood after each
    #: iteration, and whether it converged.
    model: dict[str, Any] | None

    def __init__(self, labels: _rankwise.MergedLabels, by: str, model: dict[str, Any] | None) -> None:
        self._labels = labels
        self.by = by
        self.tied = labels.tied
        self.model = model

    def to_frame(self) -> Any:
        """A frame with one row per document: its label, how many judges graded it, and the support of the label."""
        return _frames.of_rows(self._labels.rows(), ("query", "document", "grade", "judges", "support", "tied"))

    def qrels(self) -> dict[str, dict[str, int]]:
        """The labels as `rankwise.evaluate` takes them. Fails if a label is no whole number."""
        return self._labels.qrels()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes TREC qrels, or a table if the name ends in `.csv` or `.tsv`, compressed or not."""
        name = os.fspath(path).removesuffix(".gz").removesuffix(".zst")
        self._labels.write(path, name.endswith((".csv", ".tsv")))

    def __len__(self) -> int:
        return len(self._labels.rows())

    def __repr__(self) -> str:
        count = len(self)
        return f"<rankwise.labels.Merged: {count:,} label{'' if count == 1 else 's'} by {self.by}>"


def _rows(judgments: Any) -> Iterable[tuple[str, str, str, float | None, str | None, str | None]]:
    if hasattr(judgments, "columns") or isinstance(judgments, Mapping):
        names = named_columns(judgments)
        columns = [column_of(judgments, names, wanted, "judgments") for wanted in _COLUMNS.values()]
        for wanted in _OPTIONAL.values():
            has = any(name in names for name in wanted)
            columns.append(column_of(judgments, names, wanted, "judgments") if has else [None] * len(columns[0]))
        return map(_row, zip(*columns))
    return (_row(_of_dictionary(row) if isinstance(row, Mapping) else tuple(row)) for row in judgments)


def _of_dictionary(row: Mapping[str, Any]) -> tuple[Any, ...]:
    names = list(row)
    chosen = [name_of(names, wanted, "a judgment") for wanted in _COLUMNS.values()]
    return (*(row[name] for name in chosen), row.get("note"), row.get("time"))


def _row(row: tuple[Any, ...]) -> tuple[str, str, str, float | None, str | None, str | None]:
    if not 4 <= len(row) <= 6:
        raise ValueError(f"a judgment has {len(row)} values; give query, document, judge and grade, and perhaps note and time")
    query, document, judge, grade, note, time = (*row, None, None)[:6]
    for name, value in zip(_COLUMNS, (query, document, judge)):
        if is_missing(value):
            raise ValueError(f"a judgment has no {name}: {row!r}")
    shown = [None if is_missing(value) else str(value) for value in (note, time)]
    return str(query), str(document), str(judge), None if is_missing(grade) else float(grade), shown[0], shown[1]


def _interval(estimate: dict[str, Any] | None) -> tuple[float, float] | None:
    interval = None if estimate is None else estimate["interval"]
    return None if interval is None else (interval["low"], interval["high"])


def _values(row: dict[str, Any]) -> dict[str, Any]:
    """The same with the values of estimates."""
    return {
        name: value["value"] if isinstance(value, dict) and "interval" in value else value
        for name, value in row.items()
    }
