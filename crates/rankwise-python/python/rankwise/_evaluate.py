"""Evaluating rankings: `evaluate`, its result, and the list of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rankwise import _frames, _rankwise
from rankwise._rankwise import Data, Ranker
from rankwise._runs import as_dictionaries, is_run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Evaluation:
    """The values of metrics for every query, and their means.

    `evaluation["ndcg@10"]` is a mean, by any name that the metric has; `dict(evaluation)` has all of them.

    >>> import rankwise as rw
    >>> found = rw.evaluate([2, 0, 1, 0], [0.9, 0.1, 0.2, 0.3], "map,p@1", qid=["a", "a", "b", "b"])
    >>> found["AP"], dict(found)
    (0.75, {'map': 0.75, 'p@1': 0.5})
    >>> found.values
    array([[1. , 1. ],
           [0.5, 0. ]])
    """

    #: The metrics, by their canonical names.
    metrics: list[str]
    #: The queries, as they were named.
    query_ids: list[Any]
    #: One row per query and one column per metric; NaN where a metric leaves a query out.
    values: NDArray[np.float64]
    #: The weight of each query in the means.
    weights: NDArray[np.float64]
    #: The mean of each metric over the queries.
    mean: dict[str, float]
    #: The sum over queries of each metric that counts something, such as `num-ret`.
    total: dict[str, float]
    #: What deserves attention: queries without relevant documents, ties, missing queries.
    notes: list[str]
    #: How the metrics were computed.
    conventions: dict[str, Any]
    #: The name of the conventions.
    preset: str

    def __init__(self, found: dict[str, Any], preset: str) -> None:
        self.metrics = found["metrics"]
        self.query_ids = found["query_ids"]
        self.values = found["values"]
        self.weights = found["weights"]
        self.mean = {name: _or_nan(value) for name, value in zip(self.metrics, found["means"])}
        self.total = {name: value for name, value in zip(self.metrics, found["totals"]) if value is not None}
        self.notes = found["notes"]
        self.conventions = found["conventions"]
        self.preset = preset
        self._weighted: bool = found["weighted"]

    @property
    def per_query(self) -> Any:
        """A frame with one row per query: its id and the value of each metric."""
        columns: dict[str, Any] = {"query_id": self.query_ids}
        columns.update((name, self.values[:, place]) for place, name in enumerate(self.metrics))
        return _frames.frame(columns)

    def to_frame(self) -> Any:
        """A frame with one row per metric and its mean."""
        return _frames.frame({"metric": list(self.mean), "mean": list(self.mean.values())})

    def __getitem__(self, metric: str) -> float:
        if metric in self.mean:
            return self.mean[metric]
        try:
            names = _rankwise.metric_names(metric, self.preset, None)
        except ValueError:
            names = []
        if len(names) == 1 and names[0] in self.mean:
            return self.mean[names[0]]
        raise KeyError(f"{metric} was not evaluated; there are {', '.join(self.metrics)}")

    def __contains__(self, metric: object) -> bool:
        try:
            return isinstance(metric, str) and self[metric] is not None
        except KeyError:
            return False

    def keys(self) -> list[str]:
        """The metrics, by their canonical names."""
        return self.metrics

    def items(self) -> list[tuple[str, float]]:
        """The metrics and their means."""
        return list(self.mean.items())

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def _rows(self) -> list[list[str]]:
        return [[name, self._shown(name)] for name in self.metrics]

    def _shown(self, name: str) -> str:
        if name in self.total:
            return f"{self.total[name]:,.0f} in all"
        return _frames.number(self.mean[name])

    def _caption(self) -> str:
        count = len(self.query_ids)
        weighted = ", means weighted by query weight" if self._weighted else ""
        return f"{count:,} quer{'y' if count == 1 else 'ies'}{weighted}; preset {self.preset}"

    def __repr__(self) -> str:
        notes = "".join(f"\n{_frames.wrapped(note)}" for note in self.notes)
        return f"{_frames.text_table(['metric', 'mean'], self._rows())}\n\n{self._caption()}{notes}"

    def _repr_html_(self) -> str:
        caption = ". ".join([self._caption(), *(note.rstrip(".") for note in self.notes)])
        return _frames.html_table(["metric", "mean"], self._rows(), caption)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def metric_list(metrics: str | Iterable[str]) -> str:
    """Metrics as one text, separated by commas."""
    if isinstance(metrics, str):
        return metrics
    given = list(metrics)
    for metric in given:
        if not isinstance(metric, str):
            raise TypeError(f"metrics has an item of type {type(metric).__name__}; give names such as 'ndcg@10'")
    return ",".join(given)


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Iterable[str] = "ndcg@10",
    *,
    qid: Any = None,
    group: Any = None,
    preset: str | None = None,
    conventions: Mapping[str, Any] | None = None,
    complete: bool = False,
    n_jobs: int | None = None,
) -> Evaluation:
    """Evaluates a run by qrels, scores by a `Data`, or scores by labels.

    Args:
        qrels: The judgements: a dictionary `{query: {document: grade}}`, a frame with columns such as `query_id`,
            `doc_id` and `relevance`, ranx's `Qrels`, a list of ir-measures' named tuples or the path of a TREC file; a
            `Data`; or an array of labels, one per document.
        run: What to evaluate: for qrels, a run in one of the same forms; for a `Data`, an array of scores, a
            `Ranker` or a fitted estimator; for labels, an array of scores.
        metrics: Names separated by commas, or a list of them: `"ndcg@10,map"`. The names of trec_eval and ir-measures
            are accepted; `rankwise.metrics()` lists all.
        qid: For labels, the query of each document; without it and `group`, all documents are of one query.
        group: For labels, the number of documents of each query.
        preset: Whose conventions to follow. The default is `trec` for runs and `default` for scores.
        conventions: Changes to the preset, such as `{"ties": "worst"}`.
        complete: Count queries that are not in the run as empty rankings, like `trec_eval -c`.
        n_jobs: The number of threads; all cores by default.

    >>> import rankwise as rw
    >>> qrels = {"q1": {"a": 2, "b": 0, "c": 1}}
    >>> result = rw.evaluate(qrels, {"q1": {"a": 0.9, "b": 0.5, "c": 0.1}}, "ndcg@10,P@1")
    >>> result["P@1"]
    1.0
    >>> print(result)
    metric     mean
    ───────  ──────
    ndcg@10  0.9502
    p@1      1.0000
    <BLANKLINE>
    1 query; preset trec
    """
    named, changes = metric_list(metrics), _as_dict(conventions)
    if isinstance(qrels, Data):
        _refuse(qid=qid, group=group, complete=complete or None)
        scores = scores_of(run, qrels, n_jobs)
        chosen = preset or "default"
        return Evaluation(_rankwise.evaluate_data(qrels, scores, named, chosen, changes, n_jobs), chosen)
    if is_run(qrels):
        _refuse(qid=qid, group=group)
        if not is_run(run):
            run = _checked_run(run)
        chosen = preset or "trec"
        judged, ranked = as_dictionaries(qrels, "qrels"), as_dictionaries(run, "run")
        found = _rankwise.evaluate_run(judged, ranked, named, chosen, changes, complete, n_jobs)
        return Evaluation(found, chosen)
    _refuse(complete=complete or None)
    if is_run(run):
        raise TypeError(f"qrels of type {type(qrels).__name__} cannot be joined with a run; {_FORMS}")
    chosen = preset or "default"
    found = _rankwise.evaluate_arrays(qrels, run, qid, group, named, chosen, changes, n_jobs)
    if qid is not None and whole_numbers(qid):
        found["query_ids"] = [int(query) for query in found["query_ids"]]
    return Evaluation(found, chosen)


def scores_of(system: Any, data: Data, n_jobs: int | None) -> Any:
    """The scores of a system on a data set: its own, or those it was given as."""
    if isinstance(system, Ranker):
        return system.score(data, n_jobs=n_jobs)
    ranker = getattr(system, "ranker_", None)
    if isinstance(ranker, Ranker):
        return ranker.score(data, n_jobs=n_jobs)
    return system


def whole_numbers(values: Any) -> bool:
    """Whether ids are whole numbers, so that they are given back as such."""
    import numpy as np

    return np.asarray(values).dtype.kind in "iu"


_FORMS = "give qrels and a run, a Data and scores, or labels and scores"


def _checked_run(run: Any) -> Any:
    if isinstance(run, Iterable) and not hasattr(run, "dtype"):
        return run
    raise TypeError(f"a run of type {type(run).__name__} cannot be joined with qrels; {_FORMS}")


def _as_dict(conventions: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if conventions is None else dict(conventions)


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            belongs = "a run" if name == "complete" else "labels and scores"
            raise ValueError(f"{name} is for {belongs}, and something else was given")


def metrics() -> Any:
    """All metrics and presets: their names, titles and summaries.

    >>> import rankwise as rw
    >>> rw.metrics()["presets"][1]["name"]
    'trec'
    """
    return MetricCatalogue(_rankwise.catalogue())


class MetricCatalogue(dict[str, list[dict[str, Any]]]):
    """The lists `metrics` and `presets`, which notebooks show as tables."""

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        metrics = [[entry["name"] + entry["suffix"], entry["summary"]] for entry in self["metrics"]]
        presets = [[entry["name"], entry["summary"]] for entry in self["presets"]]
        return [(["metric", "definition"], metrics), (["preset", "conventions"], presets)]

    def __repr__(self) -> str:
        from textwrap import wrap

        lines = []
        for (_, _), rows in self._tables():
            for name, summary in rows:
                head, *rest = wrap(summary, _frames.WIDTH - 18)
                lines += [f"{name:17} {head}", *(" " * 18 + line for line in rest)]
            lines.append("")
        return "\n".join(lines[:-1])

    def _repr_html_(self) -> str:
        return "".join(_frames.html_table(header, rows) for header, rows in self._tables())
