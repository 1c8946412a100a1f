"""Writes python/rankwise/sklearn.pyi, the types of the estimators, from the library's list of learners.

python stubs.py          writes the file
python stubs.py --check  fails if it is not current
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rankwise import sklearn as estimators

TARGET = Path(__file__).parent / "python" / "rankwise" / "sklearn.pyi"

HEAD = '''"""A scikit-learn estimator for every learner. Written by stubs.py."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from typing_extensions import Self

from rankwise._explanation import Explanation
from rankwise._rankwise import Data, Progress, Ranker, Recipe

__all__ = {names}

_Metric = Callable[[NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]], ArrayLike]
_Objective = Callable[[NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]], tuple[ArrayLike, ArrayLike]]

class _Parameters(BaseEstimator):  # type: ignore[misc]
    def set_params(self, **params: Any) -> Self: ...

class _Scorer(_Parameters): ...

class BaseRanker(_Parameters):
    metric: str | _Metric
    preset: str
    conventions: dict[str, Any] | None
    normalize: str | None
    categorical: Sequence[str | int] | None
    random_state: int | RandomState | None
    n_jobs: int | None
    ranker_: Ranker
    history_: dict[str, list[float]]
    n_iter_: int
    has_queries_: bool
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
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
        callbacks: Iterable[Callable[[Progress], Any]] | None = None,
    ) -> Self: ...
    def predict(self, X: Any, qid: Any = None) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: Any, qid: Any = None, *, group: Any = None, sample_weight: Any = None) -> float: ...
    def explain(self, X: Any, qid: Any = None) -> Explanation: ...
    @property
    def feature_importances_(self) -> NDArray[np.float64]: ...
    @property
    def coef_(self) -> NDArray[np.float64]: ...
    @property
    def best_iteration_(self) -> int | None: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def export(
        self, path: str | PathLike[str], format: str | None = None, *, name: str | None = None
    ) -> list[str]: ...
    def to_recipe(self) -> Recipe: ...
    def __sklearn_tags__(self) -> Any: ...
'''

COMMON = {
    "metric": "str | _Metric",
    "preset": "str",
    "conventions": "dict[str, Any] | None",
    "normalize": "str | None",
    "categorical": "Sequence[str | int] | None",
    "random_state": "int | RandomState | None",
    "n_jobs": "int | None",
    "scorer": 'Literal["linear", "trees", "network"] | Linear | Trees | Network | None',
    "objective": "_Objective | None",
}


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "float" if isinstance(value, float) else "int"
    if isinstance(value, tuple):
        return "Sequence[Any]"
    return "str" if isinstance(value, str) else "Any"


def literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def class_stub(name: str, base: str, defaults: dict[str, Any], kinds: dict[str, str]) -> str:
    lines = [f"class {name}({base}):"]
    lines += [f"    {parameter}: {kinds[parameter]}" for parameter in defaults if parameter not in estimators._COMMON]
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {parameter}: {kinds[parameter]} = {literal(value)}," for parameter, value in defaults.items()]
    lines += ["        **other_names: Any,"]
    lines += ["    ) -> None: ..."]
    return "\n".join(lines)


def stub() -> str:
    names = "[\n" + "".join(f'    "{name}",\n' for name in estimators.__all__) + "]"
    parts = [HEAD.replace("{names}", names)]
    by_scorer: dict[str, dict[str, str]] = {name: {} for name in estimators._SCORERS}
    for learner in estimators._LEARNERS:
        for scorer, parameters in learner["with_scorer"].items():
            for parameter in parameters:
                by_scorer[scorer.capitalize()].setdefault(parameter["name"], kind(parameter["default"]))
    for name, cls in estimators._SCORERS.items():
        kinds = {parameter: f"{by_scorer[name][parameter]} | None" for parameter in cls._defaults}
        parts.append(class_stub(name, "_Scorer", cls._defaults, kinds))
    for name, cls in estimators._CLASSES.items():
        kinds = {parameter: COMMON.get(parameter) or kind(value) for parameter, value in cls._defaults.items()}
        parts.append(class_stub(name, "BaseRanker", cls._defaults, kinds))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def main() -> None:
    if sys.argv[1:] != ["--check"]:
        TARGET.write_text(stub())
    elif TARGET.read_text() != stub():
        sys.exit(f"{TARGET} is not current: run python {Path(__file__).name}")


if __name__ == "__main__":
    main()
