"""The extension module behind the package."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ClickLog",
    "ClickModel",
    "Data",
    "Judgments",
    "MergedLabels",
    "Progress",
    "Propensities",
    "Ranker",
    "Recipe",
    "SearchIndex",
    "Worker",
    "__version__",
    "catalogue",
    "compare_data",
    "compare_runs",
    "cross_validate",
    "evaluate_arrays",
    "evaluate_data",
    "evaluate_run",
    "evaluate_shard",
    "interleave_lists",
    "join_evaluations",
    "learners",
    "load",
    "metric_names",
    "read",
    "read_queries",
    "read_trec_qrels",
    "read_trec_run",
    "run_experiment",
    "score_shard",
    "serve_worker",
    "simulate_clicks",
    "train_on_workers",
    "run_task",
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
    def docid(self) -> list[str] | None: ...
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
    @property
    def traffic(self) -> dict[str, int] | None: ...

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
    tasks: Any,
) -> dict[str, Any]: ...
def run_task(task: str, program: _Path, n_jobs: int | None) -> str: ...
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
@final
class SearchIndex:
    def __new__(cls, path: _Path) -> SearchIndex: ...
    @staticmethod
    def create(
        path: _Path,
        documents: Any,
        fields: Sequence[str],
        links: Sequence[str],
        analyzer: str,
        options: dict[str, Any],
        callbacks: Sequence[_Callback],
    ) -> SearchIndex: ...
    def update(
        self, documents: Any, delete: Sequence[str], options: dict[str, Any], callbacks: Sequence[_Callback]
    ) -> dict[str, Any]: ...
    def refresh(self) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def search(
        self, query: str, k: int, skip: int, explain: bool, snippet: int, options: dict[str, Any]
    ) -> list[dict[str, Any]]: ...
    def run(
        self, queries: Sequence[tuple[str, str]], k: int, options: dict[str, Any]
    ) -> dict[str, dict[str, float]]: ...
    def why_not(self, query: str, id: str, k: int, options: dict[str, Any]) -> tuple[dict[str, Any], str]: ...
    def feature_set(self, set: str, pick: Sequence[str], without: Sequence[str]) -> tuple[list[str], str]: ...
    def features(
        self,
        queries: Sequence[tuple[str, str]],
        candidates: str | dict[str, dict[str, float]],
        qrels: dict[str, dict[str, int]] | None,
        set: str,
        pick: Sequence[str],
        without: Sequence[str],
        keep_unjudged: bool,
        options: dict[str, Any],
    ) -> Data: ...

def read_queries(path: _Path) -> list[tuple[str, str]]: ...
@final
class Worker:
    def __new__(cls) -> Worker: ...
    def reply(self, message: bytes) -> bytes: ...

def serve_worker() -> None: ...
def train_on_workers(
    recipe: Recipe,
    train: Sequence[_Path],
    valid: Sequence[_Path] | None,
    reading: dict[str, Any],
    engine: Any,
    threads: int | None,
    limit: float,
    checkpoint: _Path | None,
    checkpoint_every: int,
    callbacks: Sequence[_Callback],
) -> Ranker: ...
def score_shard(
    ranker: Ranker, path: _Path, reading: dict[str, Any], n_jobs: int | None
) -> NDArray[np.float64]: ...
def evaluate_shard(
    ranker: Ranker,
    path: _Path,
    reading: dict[str, Any],
    metrics: str,
    preset: str,
    conventions: _Conventions,
    n_jobs: int | None,
) -> str: ...
def join_evaluations(
    parts: Sequence[str], names: Sequence[str], metrics: str, preset: str, conventions: _Conventions
) -> dict[str, Any]: ...

# What `rankwise.labels` wraps.
_JudgmentRow = tuple[str, str, str, float | None, str | None, str | None]

@final
class Judgments:
    @staticmethod
    def read(paths: Sequence[_Path], columns: Sequence[str | None]) -> Judgments: ...
    @staticmethod
    def of_rows(rows: Sequence[_JudgmentRow]) -> Judgments: ...
    def __len__(self) -> int: ...
    @property
    def replaced(self) -> int: ...
    @property
    def without_grade(self) -> int: ...
    @property
    def withdrawn(self) -> int: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def write(self, path: _Path) -> None: ...
    def agreement(
        self, resamples: int, confidence: float, seed: int, n_jobs: int | None
    ) -> dict[str, Any]: ...
    def agreement_by_query(
        self, resamples: int, confidence: float, seed: int, n_jobs: int | None
    ) -> list[dict[str, Any]]: ...
    def merge(self, rule: str, iterations: int) -> tuple[MergedLabels, dict[str, Any] | None]: ...

@final
class MergedLabels:
    @property
    def tied(self) -> int: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def rounded(self) -> MergedLabels: ...
    def qrels(self) -> dict[str, dict[str, int]]: ...
    def write(self, path: _Path, table: bool) -> None: ...

# What `rankwise.clicks` wraps.
@final
class ClickLog:
    @staticmethod
    def of_files(paths: Sequence[_Path]) -> ClickLog: ...
    @staticmethod
    def of_dictionaries(given: Sequence[Any]) -> ClickLog: ...
    @staticmethod
    def of_metarank(path: _Path, query_field: str, types: Sequence[str]) -> ClickLog: ...
    def report(self) -> dict[str, Any]: ...
    def dictionaries(self) -> list[dict[str, Any]]: ...
    def write(self, path: _Path) -> None: ...
    def stats(self) -> dict[str, Any]: ...
    def fit(
        self, kind: str, held_out: float, iterations: int, tolerance: float
    ) -> tuple[ClickModel, dict[str, Any]]: ...
    def propensities(
        self, by: str, depth: int | None, smoothing: float, iterations: int
    ) -> Propensities: ...
    def preferences(self, rule: str) -> list[tuple[str, str, str, int]]: ...
    def evaluate(
        self,
        run: _Judged,
        propensities: Propensities,
        metric: str,
        clip: float,
        resamples: int,
        confidence: float,
        seed: int,
        n_jobs: int | None,
    ) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def training_data(
        self,
        features: Data | None,
        propensities: Propensities | None,
        clip: float,
        by_session: bool,
        fill_in: Ranker | None,
    ) -> Data: ...
    def interleaving(self, confidence: float) -> tuple[list[dict[str, Any]], int]: ...

@final
class ClickModel:
    @staticmethod
    def read(path: _Path) -> ClickModel: ...
    def write(self, path: _Path) -> None: ...
    @property
    def kind(self) -> str: ...
    def browsing(self) -> dict[str, Any]: ...
    def attractiveness(self) -> dict[str, Any]: ...
    def probabilities(self, query: str, shown: Sequence[str]) -> NDArray[np.float64]: ...
    def conditional(
        self, query: str, shown: Sequence[str], clicked: Sequence[bool]
    ) -> NDArray[np.float64]: ...
    def evaluate(self, log: ClickLog) -> dict[str, Any]: ...

@final
class Propensities:
    @staticmethod
    def given(theta: Sequence[float]) -> Propensities: ...
    @staticmethod
    def read(path: _Path) -> Propensities: ...
    def write(self, path: _Path) -> None: ...
    @property
    def method(self) -> str: ...
    @property
    def converged(self) -> bool: ...
    @property
    def interpolated(self) -> list[int]: ...
    @property
    def theta(self) -> NDArray[np.float64]: ...

def simulate_clicks(
    data: Data, names: Sequence[str], scores: Sequence[Any], options: dict[str, Any]
) -> ClickLog: ...
def interleave_lists(
    first: Sequence[int],
    second: Sequence[int],
    how: str,
    steepness: float | None,
    depth: int,
    seed: int,
    session: str,
) -> tuple[list[int], list[float]]: ...
