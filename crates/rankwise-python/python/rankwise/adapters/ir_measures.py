"""Rankwise as a provider of ir-measures.

The functions here are those of `ir_measures` with the same arguments:

>>> from ir_measures import AP, nDCG
>>> from rankwise.adapters import ir_measures as rankwise_measures
>>> qrels, run = {"q1": {"a": 1, "b": 0}}, {"q1": {"a": 1.0, "b": 2.0}}
>>> rankwise_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)[AP]
0.5

`provider` is an object of ir-measures' own kind. `ir_measures.DefaultPipeline.providers.insert(0, provider)` makes
`ir_measures` itself use Rankwise for all that it supports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures.providers import Evaluator, Provider

from rankwise import _rankwise
from rankwise._evaluate import evaluate
from rankwise._runs import as_dictionaries

__all__ = ["RankwiseProvider", "calc", "calc_aggregate", "iter_calc", "provider"]


class _RankwiseEvaluator(Evaluator):  # type: ignore[misc]
    def __init__(self, measures: list[Any], qrels: dict[Any, dict[Any, Any]]) -> None:
        super().__init__(measures, set(qrels))
        self._qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        names = [_name(measure) for measure in self.measures]
        ranked = as_dictionaries(run, "run")
        # ir-measures adds its own values for queries that are not in the run.
        if self._qrels.keys().isdisjoint(ranked):
            return
        found = evaluate(self._qrels, ranked, names, preset="trec")
        for row, query in enumerate(found.query_ids):
            for column, measure in enumerate(self.measures):
                yield ir_measures.Metric(query, measure, float(found.values[row, column]))


class RankwiseProvider(Provider):  # type: ignore[misc]
    """All measures of ir-measures that Rankwise has, with the conventions of trec_eval."""

    NAME = "rankwise"

    def supports(self, measure: Any) -> bool:
        measure.validate_params()
        try:
            _name(measure)
        except ValueError:
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Evaluator:
        return _RankwiseEvaluator(list(measures), as_dictionaries(qrels, "qrels"))


def _name(measure: Any) -> str:
    """The canonical name of a measure; the library knows the spelling of ir-measures."""
    spelled = str(measure)
    if measure.NAME == "NumRet" and "rel" in measure.params:
        spelled = f"num-rel-ret:threshold={measure['rel']}"
    if measure.NAME == "RBP" and "rel" not in measure.params:
        raise ValueError("RBP without rel has graded gains in ir-measures; give rel=")
    names = _rankwise.metric_names(spelled, "trec", None)
    if len(names) != 1:
        raise ValueError(f"{measure} stands for {len(names)} metrics; give one level of recall")
    return names[0]


provider = RankwiseProvider()


def iter_calc(measures: Iterable[Any], qrels: Any, run: Any) -> Iterator[Any]:
    """The value of each measure for each query."""
    found: Iterator[Any] = provider.iter_calc(list(measures), qrels, run)
    return found


def calc_aggregate(measures: Iterable[Any], qrels: Any, run: Any) -> dict[Any, float]:
    """The aggregated value of each measure."""
    found: dict[Any, float] = provider.calc_aggregate(list(measures), qrels, run)
    return found


def calc(measures: Iterable[Any], qrels: Any, run: Any) -> Any:
    """The aggregated values and those of each query."""
    return provider.calc(list(measures), qrels, run)
