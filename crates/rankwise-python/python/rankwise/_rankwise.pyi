"""The extension module behind the package."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Data",
    "Progress",
    "Ranker",
    "Recipe",
    "__version__",
    "catalogue",
    "compare_data",
    "compare_runs",
    "cross_validate",
    "evaluate_arrays",
    "evaluate_data",
    "evaluate_run",
    "learners",
    "load",
    "metric_names",
    "read",
    "read_trec_qrels",
    "read_trec_run",
    "run_experiment",
    "tune",
]
__version__: str

_Callback = Callable[[Progress], object]
_Objective = Callable[[NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]], tuple[ArrayLike, ArrayLike]]
_Metric = Callable[[NDArray[np.float64], NDArray[np.float32], NDArray[np.int64]], ArrayLike]
_Path = str | PathLike[str]
_Scorer = Literal["linear", "trees", "network"]

@final
class Data:
    def __new__(
        cls,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        query_weight: Any = None,
        names: Sequence[str] | None = None,
        categorical: Sequence[str | int] | None = None,
        docid: Any = None,
        position: Any = None,
    ) -> Data: ...
    def __len__(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def n_queries(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def labels(self) -> NDArray[np.float32]: ...
    @property
    def qid(self) -> list[str]: ...
    @property
    def queries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    @property
    def fingerprint(self) -> str: ...

@final
class Recipe:
    def __new__(
        cls,
        learner: str | None = None,
        *,
        objective: _Objective | None = None,
        scorer: str | None = None,
        metric: str | _Metric | None = None,
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        seed: int = 1,
        **parameters: Any,
    ) -> Recipe: ...
    def fit(
        self,
        data: Data,
        valid: Data | None = None,
        *,
        start: Ranker | None = None,
        checkpoint: _Path | None = None,
        checkpoint_every: int = 10,
        callbacks: Sequence[_Callback] = ...,
        n_jobs: int | None = None,
    ) -> Ranker: ...
    @property
    def learner(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def metric(self) -> str: ...
    @property
    def seed(self) -> int: ...

@final
class Ranker:
    def score(self, X: Any, *, qid: Any = None, n_jobs: int | None = None) -> NDArray[np.float64]: ...
    def evaluate(self, data: Data, scores: Any) -> float | None: ...
    def grades(self, X: Any, *, qid: Any = None, n_jobs: int | None = None) -> NDArray[np.float32]: ...
    def contributions(
        self, X: Any, *, qid: Any = None, n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], float]: ...
    def permutation_importance(
        self,
        data: Data,
        metric: str = "ndcg@10",
        *,
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        repeats: int = 5,
        seed: int = 1,
        n_jobs: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def feature_importances(self) -> NDArray[np.float64] | None: ...
    @property
    def split_counts(self) -> NDArray[np.uint64] | None: ...
    def save(self, path: _Path) -> None: ...
    def export(self, path: _Path, format: str | None = None, *, name: str | None = None) -> list[str]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Ranker: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def learner(self) -> str: ...
    @property
    def scorer(self) -> str | None: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def metric(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def scales_within_queries(self) -> bool: ...
    @property
    def weights(self) -> NDArray[np.float64] | None: ...
    @property
    def record(self) -> dict[str, Any]: ...
    @property
    def history(self) -> dict[str, list[float]]: ...

@final
class Progress:
    @property
    def iteration(self) -> int: ...
    @property
    def total(self) -> int | None: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float: ...

def read(
    path: _Path | Sequence[_Path],
    *,
    label: str | None = None,
    qid: str | None = None,
    docid: str | None = None,
    weight: str | None = None,
    position: str | None = None,
    ignore: Sequence[str] = ...,
    only: Sequence[str] = ...,
    categorical: Sequence[str] = ...,
    first_id: int | None = None,
) -> Data: ...
def load(path: _Path, *, first_id: int | None = None) -> Ranker: ...
def learners() -> list[dict[str, Any]]: ...

# What the package's own modules call. Results are dictionaries that `Evaluation`, `Comparison` and others wrap.
_Conventions = dict[str, Any] | None
_Judged = dict[Any, dict[Any, Any]]

def evaluate_run(
    qrels: _Judged,
    run: _Judged,
    metrics: str,
    preset: str,
    conventions: _Conventions,
    complete: bool,
    n_jobs: int | None,
) -> dict[str, Any]: ...
def evaluate_data(
    data: Data, scores: Any, metrics: str, preset: str, conventions: _Conventions, n_jobs: int | None
) -> dict[str, Any]: ...
def evaluate_arrays(
    labels: Any,
    scores: Any,
    qid: Any,
    group: Any,
    metrics: str,
    preset: str,
    conventions: _Conventions,
    n_jobs: int | None,
) -> dict[str, Any]: ...
def compare_runs(
    qrels: _Judged,
    names: Sequence[str],
    runs: Sequence[_Judged],
    metrics: str,
    preset: str,
    conventions: _Conventions,
    options: dict[str, Any],
) -> dict[str, Any]: ...
def compare_data(
    data: Data,
    names: Sequence[str],
    scores: Sequence[Any],
    metrics: str,
    preset: str,
    conventions: _Conventions,
    options: dict[str, Any],
) -> dict[str, Any]: ...
def read_trec_run(path: _Path) -> dict[str, dict[str, float]]: ...
def read_trec_qrels(path: _Path) -> dict[str, dict[str, float]]: ...
def catalogue() -> dict[str, list[dict[str, Any]]]: ...
def metric_names(specs: str, preset: str, conventions: _Conventions) -> list[str]: ...
def run_experiment(
    path: _Path | None,
    experiment: dict[str, Any] | None,
    out: _Path | None,
    keep_models: bool,
    fresh: bool,
    program: _Path,
    n_jobs: int | None,
    callbacks: Sequence[_Callback],
) -> dict[str, Any]: ...
def cross_validate(
    recipe: Recipe,
    data: Data,
    cv: int | Sequence[tuple[Sequence[int], Sequence[int]]],
    metrics: str | None,
    preset: str,
    conventions: _Conventions,
    n_jobs: int | None,
    callbacks: Sequence[_Callback],
) -> dict[str, Any]: ...
def tune(
    recipe: Recipe,
    data: Data,
    grid: dict[str, Any],
    valid: Data | None,
    folds: int,
    method: str,
    draws: int,
    n_jobs: int | None,
    callbacks: Sequence[_Callback],
) -> dict[str, Any]: ...
