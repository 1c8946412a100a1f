"""Comparing systems on the same queries: `compare` and its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankwise import _frames, _rankwise
from rankwise._evaluate import _as_dict, metric_list, scores_of
from rankwise._rankwise import Data
from rankwise._runs import as_dictionaries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Comparison:
    """Systems compared by one metric or several: means, differences, confidence intervals, p-values.

    >>> import rankwise as rw
    >>> data = rw.Data([[1.0]] * 4, y=[1, 0, 1, 0], qid=[1, 1, 2, 2])
    >>> found = rw.compare(data, {"old": [1, 0, 0, 1], "new": [1, 0, 1, 0]}, "mrr")
    >>> found.systems, found.mean["old"]
    (['old', 'new'], {'mrr': 0.75})
    >>> found.values.shape  # systems, queries, metrics
    (2, 2, 1)
    """

    #: The metrics, by their canonical names.
    metrics: list[str]
    #: The names of the systems.
    systems: list[str]
    #: The queries, as they were named.
    query_ids: list[Any]
    #: The value of each system, query and metric; NaN where a metric leaves a query out.
    values: NDArray[np.float64]
    #: What deserves attention.
    notes: list[str]
    #: How the metrics were computed.
    conventions: dict[str, Any]
    #: The name of the conventions.
    preset: str
    #: All figures by metric: means, intervals, pairs and their tests.
    by_metric: dict[str, dict[str, Any]]

    def __init__(self, found: dict[str, Any], preset: str) -> None:
        self.metrics = found["metrics"]
        self.systems = found["systems"]
        self.query_ids = found["query_ids"]
        self.values = found["values"]
        self.notes = found["notes"]
        self.conventions = found["conventions"]
        self.preset = preset
        self.by_metric = dict(zip(self.metrics, found["by_metric"]))

    @property
    def mean(self) -> dict[str, dict[str, float]]:
        """The mean of each system by each metric: `comparison.mean["bm25"]["ndcg@10"]`."""
        means: dict[str, dict[str, float]] = {system: {} for system in self.systems}
        for metric, compared in self.by_metric.items():
            for system in compared["systems"]:
                means[system["name"]][metric] = system["mean"]
        return means

    def to_frame(self) -> Any:
        """A frame with one row per metric and pair: difference, interval, wins, p-values."""
        columns: dict[str, list[Any]] = {name: [] for name in ("metric", "system", "against", *_PAIR_COLUMNS)}
        for metric, compared in self.by_metric.items():
            for pair in compared["pairs"]:
                row = {
                    "metric": metric,
                    "system": self.systems[pair["system"]],
                    "against": self.systems[pair["against"]],
                    "low": pair["interval"]["low"],
                    "high": pair["interval"]["high"],
                    "p": pair["p_permutation"],
                    "p_holm": pair["p_permutation_holm"],
                    "t_test_p": pair["p_t"],
                    "t_test_p_holm": pair["p_t_holm"],
                }
                for name, values in columns.items():
                    values.append(row[name] if name in row else pair[name])
        return _frames.frame(columns)

    def means_frame(self) -> Any:
        """A frame with one row per metric and system: the mean and its confidence interval."""
        columns: dict[str, list[Any]] = {name: [] for name in ("metric", "system", "mean", "low", "high")}
        for metric, compared in self.by_metric.items():
            for system in compared["systems"]:
                interval = system["interval"]
                row = (metric, system["name"], system["mean"], interval["low"], interval["high"])
                for values, value in zip(columns.values(), row):
                    values.append(value)
        return _frames.frame(columns)

    @property
    def per_query(self) -> Any:
        """A frame with one row per query and metric, and one column per system."""
        count = len(self.metrics)
        columns: dict[str, Any] = {
            "query_id": [query for query in self.query_ids for _ in range(count)],
            "metric": self.metrics * len(self.query_ids),
        }
        columns.update((name, self.values[place].ravel()) for place, name in enumerate(self.systems))
        return _frames.frame(columns)

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        tables = []
        for metric, compared in self.by_metric.items():
            percent = f"{100 * compared['confidence']:g} % CI"
            means = [[s["name"], _frames.number(s["mean"]), _range(s["interval"])] for s in compared["systems"]]
            tables.append((["system", metric, percent], means))
            pairs = [self._pair(pair) for pair in compared["pairs"]]
            tables.append((["compared", "diff", percent, "w/t/l", "p"], pairs))
        return tables

    def _pair(self, pair: dict[str, Any]) -> list[str]:
        return [
            f"{self.systems[pair['system']]} − {self.systems[pair['against']]}",
            _frames.signed(pair["difference"]),
            _range(pair["interval"]),
            f"{pair['wins']}/{pair['ties']}/{pair['losses']}",
            _frames.probability(pair["p_permutation_holm"]),
        ]

    def _caption(self) -> str:
        first = self.by_metric[self.metrics[0]]
        pairs = len(first["pairs"])
        return (
            f"{first['queries']:,} queries; preset {self.preset}. p: paired randomisation test, adjusted by Holm's method "
            f"for {pairs} pair{'s' * (pairs != 1)}. w/t/l: queries won, tied, lost. CI: bootstrap confidence interval."
        )

    def __repr__(self) -> str:
        tables = [_frames.text_table(header, rows) for header, rows in self._tables()]
        texts = [_frames.wrapped(text) for text in (self._caption(), *self.notes)]
        return "\n\n".join([*tables, "\n".join(texts)])

    def _repr_html_(self) -> str:
        tables = "".join(_frames.html_table(header, rows) for header, rows in self._tables())
        return f"{tables}<p>{' '.join(self._escaped())}</p>"

    def _escaped(self) -> list[str]:
        from html import escape

        return [escape(text if text.endswith(".") else text + ".") for text in (self._caption(), *self.notes)]

    def plot(self, metric: str | None = None, *, ax: Any = None) -> Any:
        """Draws the mean of each system with its confidence interval. Returns matplotlib's axes."""
        from rankwise.plots import _axes

        axes = _axes(ax, height=1.0 + 0.4 * len(self.systems))
        metric, compared = self._chosen(metric)
        for place, system in enumerate(compared["systems"]):
            interval = system["interval"]
            axes.plot([interval["low"], interval["high"]], [place, place], color="C0", linewidth=2)
            axes.plot(system["mean"], place, "o", color="C0")
        axes.set_yticks(range(len(self.systems)), self.systems)
        axes.set_ylim(len(self.systems) - 0.5, -0.5)
        axes.set_xlabel(f"{metric}, mean and {100 * compared['confidence']:g} % confidence interval")
        axes.grid(axis="x", alpha=0.3)
        return axes

    def plot_per_query(self, a: str, b: str, metric: str | None = None, *, ax: Any = None) -> Any:
        """Draws the difference of system `a` to system `b` on every query, sorted. Returns matplotlib's axes."""
        import numpy as np

        from rankwise.plots import _axes

        metric, _ = self._chosen(metric)
        first, second = (self._values_of(name, metric) for name in (a, b))
        differences = np.sort((first - second)[~np.isnan(first - second)])[::-1]
        axes = _axes(ax, height=3.2)
        colors = np.where(differences > 0, "C0", "C3")
        axes.bar(range(len(differences)), differences, width=1.0, color=colors)
        axes.axhline(0, color="black", linewidth=0.8)
        won, lost = int((differences > 0).sum()), int((differences < 0).sum())
        axes.set_title(f"{a} − {b}")
        axes.set_xlabel(f"queries, sorted: {won} won, {len(differences) - won - lost} tied, {lost} lost")
        axes.set_ylabel(f"difference in {metric}")
        return axes

    def _chosen(self, metric: str | None) -> tuple[str, dict[str, Any]]:
        if metric is None:
            metric = self.metrics[0]
        if metric not in self.by_metric:
            metric = next(iter(_rankwise.metric_names(metric, self.preset, None)))
        if metric not in self.by_metric:
            raise KeyError(f"{metric} was not compared; there are {', '.join(self.metrics)}")
        return metric, self.by_metric[metric]

    def _values_of(self, system: str, metric: str) -> Any:
        if system not in self.systems:
            raise KeyError(f"{system} was not compared; there are {', '.join(self.systems)}")
        return self.values[self.systems.index(system), :, self.metrics.index(metric)]


_PAIR_COLUMNS = (
    "difference", "low", "high", "relative_change", "effect_size", "wins", "ties", "losses", "p", "p_holm", "t_test_p",
    "t_test_p_holm",
)  # fmt: skip


def _range(interval: dict[str, float]) -> str:
    return f"{interval['low']:.4f}…{interval['high']:.4f}"


def compare(
    qrels: Any,
    systems: Mapping[str, Any],
    metrics: str | Iterable[str] = "ndcg@10",
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    preset: str | None = None,
    conventions: Mapping[str, Any] | None = None,
    seed: int = 1,
    permutations: int = 100_000,
    resamples: int = 10_000,
    confidence: float = 0.95,
    n_jobs: int | None = None,
) -> Comparison:
    """Compares systems on the same queries.

    Args:
        qrels: A `Data`, or qrels in any form that `rankwise.evaluate` accepts.
        systems: Two systems or more by name. With a `Data`, an array of scores, a `Ranker` or a fitted estimator; with
            qrels, runs.
        metrics: The metrics to compare by.
        baseline: The system that the others are compared with; the first by default.
        all_pairs: Compare every pair instead.
        preset: Whose conventions to follow. The default is `trec` for runs and `default` for scores.
        conventions: Changes to the preset.
        seed: The seed of random signs and resamples.
        permutations: Random sign flips per test, if there are too many to try all of them.
        resamples: Bootstrap resamples for the confidence intervals.
        confidence: The level of the confidence intervals.
        n_jobs: The number of threads; all cores by default.

    >>> import rankwise as rw
    >>> data = rw.Data([[1.0]] * 4, y=[1, 0, 1, 0], qid=[1, 1, 2, 2])
    >>> found = rw.compare(data, {"old": [1, 0, 0, 1], "new": [1, 0, 1, 0]}, "ndcg@10")
    >>> round(found.mean["new"]["ndcg@10"], 4)
    1.0
    """
    names = list(systems)
    if len(names) < 2:
        raise ValueError(f"comparing needs at least 2 systems, and there {'is 1' if names else 'are none'}")
    if baseline is not None and all_pairs:
        raise ValueError("baseline and all_pairs exclude each other; give one of them")
    if baseline is not None and baseline not in names:
        raise ValueError(f"the baseline {baseline!r} is not among the systems: {', '.join(map(str, names))}")
    options = {
        "baseline": None if all_pairs else names.index(baseline) if baseline is not None else 0,
        "seed": seed,
        "permutations": permutations,
        "resamples": resamples,
        "confidence": confidence,
        "n_jobs": n_jobs,
    }
    chosen = preset or ("default" if isinstance(qrels, Data) else "trec")
    rest = (metric_list(metrics), chosen, _as_dict(conventions), options)
    labels = [str(name) for name in names]
    if isinstance(qrels, Data):
        scores = [scores_of(system, qrels, n_jobs) for system in systems.values()]
        return Comparison(_rankwise.compare_data(qrels, labels, scores, *rest), chosen)
    runs = [as_dictionaries(run, "run") for run in systems.values()]
    return Comparison(_rankwise.compare_runs(as_dictionaries(qrels, "qrels"), labels, runs, *rest), chosen)
