"""Rankwise in PyTerrier pipelines.

The estimators of `rankwise.sklearn` work in PyTerrier as they are:

    pipeline >> pt.ltr.apply_learned_model(LambdaMART(), form="ltr")

`LearnedModel` does the same for a `Ranker` or a `Recipe`, and ranks documents by query.
"""

from __future__ import annotations

from typing import Any

from rankwise._experiments import _recipe
from rankwise._rankwise import Data, Ranker

try:
    from pyterrier import Estimator as _Estimator
except ImportError:
    _Estimator = object

__all__ = ["LearnedModel"]


class LearnedModel(_Estimator):  # type: ignore[misc]
    """A transformer that ranks by a model. Frames have the columns `qid`, `docno` and `features`.

    Args:
        model: A `Ranker`, or a `Recipe` or an estimator to be trained by `fit`.
    """

    def __init__(self, model: Any) -> None:
        if _Estimator is not object:
            super().__init__()
        ranker = getattr(model, "ranker_", model)
        self.ranker: Ranker | None = ranker if isinstance(ranker, Ranker) else None
        self.recipe = None if isinstance(model, Ranker) else _recipe(model)

    def fit(self, results_train: Any, qrels_train: Any, results_valid: Any = None, qrels_valid: Any = None) -> LearnedModel:
        """Trains the model on results with features, judged by qrels with the columns `qid`, `docno` and `label`."""
        if self.recipe is None:
            raise ValueError("a Ranker is trained already; give a Recipe or an estimator to train one")
        valid = None if results_valid is None else _judged(results_valid, qrels_valid)
        self.ranker = self.recipe.fit(_judged(results_train, qrels_train), valid)
        return self

    def transform(self, results: Any) -> Any:
        """The same results with new scores and ranks, best first within each query."""
        if self.ranker is None:
            raise ValueError("the model is not trained; call fit first")
        ranked = results.copy()
        if not len(ranked):
            return ranked.assign(score=[], rank=[])
        ranked["score"] = self.ranker.score(_features(ranked), qid=ranked["qid"])
        by_query = ranked.groupby("qid", sort=False)["score"]
        ranked["rank"] = by_query.rank(ascending=False, method="first").astype(int) - 1
        first = ranked.groupby("qid", sort=False).ngroup()
        return ranked.assign(_query=first).sort_values(["_query", "rank"], kind="stable").drop(columns="_query")


def _features(results: Any) -> Any:
    import numpy as np

    if "features" not in results.columns:
        raise ValueError(
            f"the results have the columns {', '.join(results.columns)}; features are needed, one array per document"
        )
    return np.stack(results["features"].to_list()).astype(np.float32)


def _judged(results: Any, qrels: Any) -> Data:
    """Documents without a judgement are not relevant, as everywhere in PyTerrier."""
    labels = qrels[["qid", "docno", "label"]].drop_duplicates(["qid", "docno"])
    joined = results.drop(columns="label", errors="ignore").merge(labels, on=["qid", "docno"], how="left")
    return Data(_features(joined), joined["label"].fillna(0), qid=joined["qid"], docid=joined["docno"])
