"""A scikit-learn estimator for every learner.

The classes come from the library's list of learners: names, parameters, defaults and documentation are those of
``rankwise learners``. Parameters also go by the names of LightGBM, XGBoost, CatBoost and RankLib, such as
``n_estimators``.

>>> import numpy as np
>>> from rankwise.sklearn import LambdaMART
>>> rng = np.random.default_rng(0)
>>> X, y, qid = rng.normal(size=(200, 3)), rng.integers(0, 3, 200), np.repeat(np.arange(20), 10)
>>> model = LambdaMART(n_estimators=20, metric="ndcg@10").fit(X, y, qid=qid)
>>> model.predict(X).shape
(200,)
>>> 0 <= model.score(X, y, qid=qid) <= 1
True
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data
from sklearn.utils.validation import _check_feature_names, _check_n_features  # type: ignore[attr-defined]

from rankwise import _rankwise
from rankwise._containers import collected
from rankwise._explanation import Explanation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Class names that are not the learner's name in camel case.
_CLASS_NAMES = {"lambda-mart": "LambdaMART", "mart": "MART", "mcrank": "McRank", "frank": "FRank", "prank": "PRank"}

# Parameters that every class has beside those of its learner.
_COMMON: dict[str, Any] = {
    "metric": "ndcg@10",
    "preset": "default",
    "conventions": None,
    "normalize": None,
    "categorical": None,
    "random_state": 1,
    "n_jobs": None,
}

_COMMON_DOC = """
    metric : str or callable, default='ndcg@10'
        The metric to choose by, and to optimise where the learner can; also what `score` returns. A function
        ``metric(scores, labels, bounds)`` returns one value per query, NaN where it is undefined; query ``q`` has the
        documents from ``bounds[q]`` to ``bounds[q + 1]``.
    preset : str, default='default'
        Compute the metric as another tool does, such as 'trec' or 'lightgbm'.
    conventions : dict or None
        Changes of the preset, such as ``{"ties": "worst"}``.
    normalize : str or None
        Normalise features per query: 'min-max', 'z-score', 'log', or several separated by commas.
    categorical : list or None
        Columns that hold categories as whole numbers, by name or by number from 0. Categorical columns of pandas and
        polars need no mention.
    random_state : int, RandomState or None, default=1
        The seed of all random choices. The same seed gives the same model.
    n_jobs : int or None
        Number of threads; None for all cores. It changes no result.
"""

_SCORER_DOC = """
    scorer : 'linear', 'trees', 'network', Linear, Trees, Network or None
        How scores depend on features; None for {default!r}. Parameters of another scorer go into its object, as in
        ``scorer=Trees(learning_rate=0.1)``.
"""

_OBJECTIVE_DOC = """
    objective : callable or None
        A function ``objective(scores, labels, bounds)`` that returns the gradient and the curvature of each score, for
        all queries at once, in place of the learner's own. Queries are in the order of their ids.
"""


_EXAMPLE_DOC = """
    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.sklearn import {name}
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.normal(size=(40, 2)), rng.integers(0, 3, 40), np.repeat([1, 2, 3, 4], 10)
    >>> {name}().fit(X, y, qid=qid).predict(X).shape
    (40,)
"""


class _Parameters(BaseEstimator):
    """Keyword parameters from a table, under any of their names."""

    _defaults: dict[str, Any] = {}
    _aliases: dict[str, str] = {}

    def __init__(self, **given: Any) -> None:
        values = dict(self._defaults)
        for name, value in self._canonical(given).items():
            values[name] = value
        for name, value in values.items():
            setattr(self, name, value)

    @classmethod
    def _canonical(cls, given: dict[str, Any]) -> dict[str, Any]:
        canonical: dict[str, Any] = {}
        for name, value in given.items():
            known = name if name in cls._defaults else cls._aliases.get(name)
            if known is None:
                raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}")
            if known in canonical:
                raise TypeError(f"{cls.__name__}() got {known!r} twice, under different names")
            canonical[known] = value
        return canonical

    def set_params(self, **params: Any) -> Any:
        """Sets parameters, by any of their names."""
        renamed = {name if name in self._defaults else self._aliases.get(name, name): v for name, v in params.items()}
        return super().set_params(**renamed)


class BaseRanker(_Parameters):
    """What the estimators of all learners have in common."""

    __metadata_request__fit = {"qid": "groups"}
    __metadata_request__score = {"qid": "groups"}

    _learner: dict[str, Any] = {}

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        *,
        group: Any = None,
        query_weight: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        callbacks: Iterable[Callable[[_rankwise.Progress], Any]] | None = None,
    ) -> Any:
        """Trains the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_documents, n_features)
        y : array of shape (n_documents,)
            Relevance labels; greater is better.
        qid : array of shape (n_documents,), optional
            The query of each row, in any order. Without `qid` and `group`, all rows are one query.
        group : array of shape (n_queries,), optional
            The sizes of the queries, whose rows are adjacent: what LightGBM takes.
        query_weight : array, optional
            One weight per query, or one per row that is the same within each query.
        eval_set : list of one (X, y), optional
            Validation queries for early stopping and model selection; `eval_qid` or `eval_group` has their queries.
        callbacks : list of callables, optional
            Called with a `rankwise.Progress` after each step. One that returns True ends training with the model so far.
        """
        has_queries = qid is not None or group is not None
        data = self._data(X, y, qid, group, query_weight, reset=True)
        valid = self._valid(eval_set, eval_qid, eval_group, has_queries)
        ranker = self.to_recipe().fit(data, valid, callbacks=list(callbacks or ()), n_jobs=self.n_jobs)
        self.ranker_ = ranker
        self.history_ = ranker.history
        self.n_iter_ = max(1, ranker.record["iterations"])
        self.has_queries_ = has_queries
        return self

    def predict(self, X: Any, qid: Any = None) -> np.ndarray:
        """One score per row; greater scores rank higher. `qid` is needed only with `normalize`."""
        check_is_fitted(self)
        return self.ranker_.score(self._features(X, qid), n_jobs=self.n_jobs)

    def score(self, X: Any, y: Any, qid: Any = None, *, group: Any = None, sample_weight: Any = None) -> float:
        """The mean of the metric over the queries; `sample_weight` has a weight per query, or per row."""
        check_is_fitted(self)
        if self.has_queries_ and qid is None and group is None:
            raise ValueError(
                "the model was fitted with queries, and there are none here: without qid or group, all documents would be "
                "ranked as one query. Give qid, or enable scikit-learn's metadata routing and pass groups"
            )
        data = self._data(X, y, qid, group, sample_weight, reset=False)
        scores = self.ranker_.score(data, n_jobs=self.n_jobs)
        if callable(self.metric):
            return _mean_of(self.metric, data, scores)
        return float(self.ranker_.evaluate(data, scores))

    def explain(self, X: Any, qid: Any = None) -> Explanation:
        """What each feature contributes to each score: Shapley values for trees, weight times value for linear models."""
        check_is_fitted(self)
        values, base = self.ranker_.contributions(self._features(X, qid), n_jobs=self.n_jobs)
        return Explanation(values, base, self._feature_names())

    @property
    def feature_importances_(self) -> np.ndarray:
        """Total gain of each feature in trees, or the absolute weight in a linear model."""
        check_is_fitted(self)
        importances = self.ranker_.feature_importances
        if importances is None:
            raise AttributeError("a neural network has no feature importances; use sklearn.inspection or explain")
        return importances

    @property
    def coef_(self) -> np.ndarray:
        """The weights of a linear model."""
        check_is_fitted(self)
        weights = self.ranker_.weights
        if weights is None:
            raise AttributeError("the model is not linear")
        return weights

    @property
    def best_iteration_(self) -> int | None:
        """The iteration that was best on the validation queries, counted from 1; None without them."""
        check_is_fitted(self)
        best = self.ranker_.record["figures"].get("best round")
        return None if best is None else int(best)

    def save(self, path: Any) -> None:
        """Writes the model file of Rankwise; `.zst` in the name compresses it."""
        check_is_fitted(self)
        self.ranker_.save(path)

    def export(self, path: Any, format: str | None = None, *, name: str | None = None) -> list[str]:
        """Writes the model for another tool or a search engine; the file's extension decides without a format."""
        check_is_fitted(self)
        return self.ranker_.export(path, format, name=name)

    def to_recipe(self) -> _rankwise.Recipe:
        """The recipe of the command line and of `rankwise.Recipe` with these parameters."""
        self._check_functions()
        common = {
            "metric": self.metric,
            "preset": self.preset,
            "conventions": self.conventions,
            "normalize": self.normalize,
            "seed": self._seed(),
        }
        own = {p["name"]: getattr(self, p["name"]) for p in self._learner["parameters"] if not p["of_scorer"]}
        of_scorer = {p["name"]: getattr(self, p["name"]) for p in self._learner["parameters"] if p["of_scorer"]}
        if getattr(self, "objective", None) is not None:
            return _rankwise.Recipe(objective=self.objective, **common, **of_scorer)
        scorer = getattr(self, "scorer", None)
        if scorer is None or scorer == self._learner["scorers"][0]:
            return _rankwise.Recipe(self._learner["name"], **common, **own, **of_scorer)
        self._check_left_alone(of_scorer)
        name, given = (scorer, {}) if isinstance(scorer, str) else (scorer._name, scorer.get_params(deep=False))
        return _rankwise.Recipe(self._learner["name"], scorer=name, **common, **self._changed(own), **given)

    def _check_functions(self) -> None:
        objective = getattr(self, "objective", None)
        if objective is not None and not callable(objective):
            raise TypeError(
                f"objective is {objective!r}, and must be a function; losses by name are classes, such as LambdaMART for "
                "lambdarank and XeNdcg for rank_xendcg"
            )
        if not (isinstance(self.metric, str) or callable(self.metric)):
            raise TypeError(
                f"metric is {self.metric!r}, and must be one name or a function; rankwise.evaluate takes several metrics"
            )

    def _changed(self, own: dict[str, Any]) -> dict[str, Any]:
        """The learner's own parameters that were given: some have other defaults with another scorer."""
        return {name: value for name, value in own.items() if value != self._defaults[name]}

    def _check_left_alone(self, of_scorer: dict[str, Any]) -> None:
        default = self._learner["scorers"][0]
        for name, value in of_scorer.items():
            if value != self._defaults[name]:
                raise ValueError(
                    f"{name} belongs to the scorer {default!r}, and the scorer is {self.scorer!r}; give parameters of "
                    f"another scorer in its object, as in scorer=Trees({name}={value!r})"
                )

    def _seed(self) -> int:
        if self.random_state is None:
            return int(_COMMON["random_state"])
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _data(self, X: Any, y: Any, qid: Any, group: Any, weight: Any, *, reset: bool) -> _rankwise.Data:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, names = self._checked(X, reset=reset)
        y = column_or_1d(check_array(y, ensure_2d=False, dtype="numeric", input_name="y"), warn=True)
        check_consistent_length(X, y)
        return _rankwise.Data(
            X, y, qid=qid, group=group, query_weight=weight, names=names, categorical=self.categorical
        )

    def _valid(self, eval_set: Any, eval_qid: Any, eval_group: Any, has_queries: bool) -> _rankwise.Data | None:
        if eval_set is None:
            if eval_qid is not None or eval_group is not None:
                raise ValueError("eval_qid and eval_group are the queries of eval_set, and there is no eval_set")
            return None
        if has_queries and eval_qid is None and eval_group is None:
            raise ValueError("eval_set has no queries, and the training data has; give eval_qid or eval_group")
        sets = [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
        if len(sets) != 1:
            raise ValueError(
                f"eval_set has {len(sets)} sets; give one set of validation queries, by which training stops or chooses"
            )
        (X, y), qid, group = sets[0], _only(eval_qid), _only(eval_group)
        return self._data(X, y, qid, group, None, reset=False)

    def _features(self, X: Any, qid: Any) -> _rankwise.Data:
        if self.has_queries_ and qid is None and self.ranker_.scales_within_queries:
            raise ValueError(
                f"features are normalised per query (normalize={self.normalize!r}), and there are no queries here; give qid"
            )
        X, names = self._checked(X, reset=False)
        return _rankwise.Data(X, qid=qid, names=names, categorical=self.categorical)

    def _checked(self, X: Any, *, reset: bool) -> tuple[Any, list[str] | None]:
        """The features after scikit-learn's checks, and their names if the container has none and the model does."""
        X = collected(X)
        if _is_frame(X):
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
            if reset or hasattr(self, "feature_names_in_"):
                return X, None
            return np.asarray(X), None
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, ensure_all_finite="allow-nan"
        )
        names = None if reset else self._fitted_names()
        return X, names

    def _fitted_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _feature_names(self) -> list[str]:
        names = self._fitted_names()
        return names or [f"x{column}" for column in range(self.n_features_in_)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _only(values: Any) -> Any:
    """The queries of the only validation set, given as they are or in a list of one."""
    if isinstance(values, (list, tuple)) and len(values) == 1 and not np.isscalar(values[0]):
        return values[0]
    return values


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")


def _mean_of(metric: Callable[..., Any], data: _rankwise.Data, scores: np.ndarray) -> float:
    """The mean of a function of the caller's own."""
    order, bounds, weights = data.queries
    values = np.asarray(metric(scores[order], data.labels[order], bounds), dtype=float)
    defined = ~np.isnan(values)
    return float(np.average(values[defined], weights=weights[defined]))


def _class_name(learner: str) -> str:
    return _CLASS_NAMES.get(learner) or "".join(part.capitalize() for part in learner.split("-"))


def _parameter_doc(parameters: list[dict[str, Any]]) -> str:
    lines = []
    for parameter in parameters:
        also = f" Also called {', '.join(parameter['aliases'])}." if parameter["aliases"] else ""
        lines.append(f"    {parameter['name']} : default={parameter['default']!r}\n        {parameter['meaning']}{also}")
    return "\n".join(lines)


def _unchanging(value: Any) -> Any:
    """Lists are tuples in a signature, since scikit-learn compares defaults by identity."""
    return tuple(value) if isinstance(value, list) else value


def _with_parameters(
    name: str, base: type, parameters: list[dict[str, Any]], defaults: dict[str, Any], namespace: dict[str, Any]
) -> type:
    """A class whose keyword parameters are those of the table."""
    known = {parameter["name"] for parameter in parameters} | set(defaults)
    all_defaults = {parameter["name"]: _unchanging(parameter["default"]) for parameter in parameters} | defaults
    aliases = {
        alias: parameter["name"] for parameter in parameters for alias in parameter["aliases"] if alias not in known
    }
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in all_defaults.items()
    ]

    def __init__(self: Any, **given: Any) -> None:
        _Parameters.__init__(self, **given)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # scikit-learn takes every name in the signature for a parameter, so the other names are not there.
    __init__.__signature__ = inspect.Signature([own, *keywords])  # type: ignore[attr-defined]
    body = {"__module__": __name__, "__init__": __init__, "_defaults": all_defaults, "_aliases": aliases}
    return type(name, (base,), body | namespace)


def _estimator(learner: dict[str, Any]) -> type:
    extra: dict[str, Any] = {}
    doc = [f"{learner['title']}: {learner['summary']}\n"]
    if learner["papers"]:
        doc.append(f"    {learner['papers']}.\n")
    doc += ["    Parameters\n    ----------", _parameter_doc(learner["parameters"])]
    if learner["scorers"]:
        extra["scorer"] = None
        doc.append(_SCORER_DOC.strip("\n").format(default=learner["scorers"][0]))
        if learner["scorers"][0] == "trees":
            extra["objective"] = None
            doc.append(_OBJECTIVE_DOC.strip("\n"))
    doc.append(_COMMON_DOC.strip("\n"))
    doc.append(_EXAMPLE_DOC.format(name=_class_name(learner["name"])))
    namespace = {"__doc__": "\n".join(doc) + "\n", "_learner": learner}
    return _with_parameters(_class_name(learner["name"]), BaseRanker, learner["parameters"], extra | _COMMON, namespace)


class _Scorer(_Parameters):
    """The parameters of a scorer. What is None has the learner's default."""

    _name = ""


def _scorer(name: str, learners: list[dict[str, Any]]) -> type:
    parameters: dict[str, dict[str, Any]] = {}
    for learner in learners:
        for parameter in learner["with_scorer"].get(name, []):
            if parameter["of_scorer"]:
                parameters.setdefault(parameter["name"], parameter | {"default": None})
    doc = (
        f"The parameters of the scorer {name!r}, for ``scorer=``. What is None has the learner's default.\n\n"
        f"    Parameters\n    ----------\n{_parameter_doc(list(parameters.values()))}\n\n"
        f"    Examples\n    --------\n    >>> from rankwise.sklearn import RankNet, {name.capitalize()}\n"
        f"    >>> RankNet(scorer={name.capitalize()}()).to_recipe().learner\n    'rank-net'\n"
    )
    return _with_parameters(
        name.capitalize(), _Scorer, list(parameters.values()), {}, {"__doc__": doc, "_name": name}
    )


_LEARNERS = _rankwise.learners()
_CLASSES = {_class_name(learner["name"]): _estimator(learner) for learner in _LEARNERS}
_SCORERS = {name.capitalize(): _scorer(name, _LEARNERS) for name in ("linear", "trees", "network")}
globals().update(_CLASSES)
globals().update(_SCORERS)

__all__ = ["BaseRanker", *_SCORERS, *_CLASSES]
