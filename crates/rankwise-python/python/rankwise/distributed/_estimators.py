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

    def fit(self, shards: Any, *, valid: Any = None, **how: Any) -> Any:
        """Trains the model.

        Parameters
        ----------
        shards : list of files, folder, pattern, Ray Dataset or Dask DataFrame
        valid : the same, optional
            Validation queries for early stopping and model selection.
        **how
            Further arguments of `rankwise.distributed.train`: `checkpoint`, `callbacks`, `client`, `staging`, and options
            of reading such as `label` and `qid`.
        """
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
