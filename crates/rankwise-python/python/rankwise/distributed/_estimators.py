"""A scikit-learn-like class for every learner that trains on several workers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rankwise import sklearn
from rankwise.distributed._work import evaluate, score, train

# Its types are those of the finished classes.
estimators: Any = sklearn

_EXTRA: dict[str, Any] = {"engine": "local", "workers": None, "options": None}

_EXTRA_DOC = """
    engine : 'ray', 'dask', 'local' or Engine, default='local'
        What runs the workers.
    workers : int or None
        The number of workers; None for one per machine of Ray, one per Dask worker, or two processes.
    options : dict or None
        Options of Ray's actors or of Dask's `submit`.

    Examples
    --------
    >>> from rankwise.distributed import {name}
    >>> model = {name}(engine="local", workers=2)
    >>> model.workers
    2
"""


class DistributedRanker(estimators.BaseRanker):  # type: ignore[misc]
    """What the classes for all learners have in common. Data are shards, as for `rankwise.distributed.train`; `n_jobs` is
    the number of threads of each worker."""

    def fit(self, shards: Any, y: Any = None, *, valid: Any = None, **how: Any) -> Any:
        """Trains the model.

        Parameters
        ----------
        shards : list of files, folder, pattern, Ray Dataset or Dask DataFrame
        y : None
            Not used: labels are a column of the shards.
        valid : the same, optional
            Validation queries for early stopping and model selection.
        **how
            Further arguments of `rankwise.distributed.train`: `checkpoint`, `callbacks`, `client`, `staging`, and options
            of reading such as `label` and `qid`.
        """
        _refuse_arrays({"y": y, **how})
        ranker = train(self.to_recipe(), shards, workers=self.workers, valid=valid, **self._how(how))
        self.ranker_ = ranker
        self.history_ = ranker.history
        self.n_iter_ = max(1, ranker.record["iterations"])
        self.has_queries_ = True
        self.n_features_in_ = ranker.n_features
        if ranker.feature_names is not None:
            self.feature_names_in_ = np.asarray(ranker.feature_names, dtype=object)
        return self

    def predict(self, shards: Any, **how: Any) -> Any:
        """The scores of each shard; see `rankwise.distributed.score`."""
        check_is_fitted(self)
        return score(self.ranker_, shards, **self._how(how))

    def score(self, shards: Any, **how: Any) -> float:
        """The mean of the metric over the queries of all shards; see `rankwise.distributed.evaluate`."""
        check_is_fitted(self)
        how = {"preset": self.preset, "conventions": self.conventions} | self._how(how)
        return float(evaluate(self.ranker_, shards, self.metric, **how)[self.metric])

    def _how(self, given: dict[str, Any]) -> dict[str, Any]:
        own = {"engine": self.engine, "threads": self.n_jobs, "options": self.options}
        if self.categorical is not None:
            own["categorical"] = self.categorical
        return own | given


def _refuse_arrays(given: dict[str, Any]) -> None:
    """Fails for the arguments of other classes that have data in memory, and says what to write instead."""
    ways = {
        "y": "name the column of the labels, as in fit(shards, label='label')",
        "group": "name the column of the query, as in fit(shards, qid='query')",
        "sample_weight": "name the column of the weight of each query, as in fit(shards, weight='weight')",
        "eval_set": "give validation data as shards, as in fit(shards, valid='valid.parquet')",
        "eval_group": "give validation data as shards, as in fit(shards, valid='valid.parquet')",
    }
    for name, way in ways.items():
        if given.get(name) is not None:
            raise TypeError(
                f"{name} cannot be given here: workers read labels, queries and features from the same files, or from a Dask "
                f"DataFrame or Ray Dataset with staging=; {way}"
            )


def _class(learner: dict[str, Any]) -> Any:
    known = estimators._CLASSES[estimators._class_name(learner["name"])]
    defaults = {name: value for name, value in known._defaults.items() if name != "objective"}
    own = {parameter["name"] for parameter in learner["parameters"]}
    common = {name: value for name, value in defaults.items() if name not in own} | _EXTRA
    doc = (known.__doc__ or "").split("    Examples\n")[0].rstrip() + "\n" + _EXTRA_DOC.format(name=known.__name__)
    namespace = {"__doc__": doc, "__module__": "rankwise.distributed", "_learner": learner}
    return estimators._with_parameters(known.__name__, DistributedRanker, learner["parameters"], common, namespace)


CLASSES = {
    estimators._class_name(learner["name"]): _class(learner) for learner in estimators._LEARNERS if learner["distributes"]
}
globals().update(CLASSES)
