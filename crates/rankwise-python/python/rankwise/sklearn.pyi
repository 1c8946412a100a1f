"""A scikit-learn estimator for every learner. Written by stubs.py."""

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

__all__ = [
    "BaseRanker",
    "Linear",
    "Trees",
    "Network",
    "Regression",
    "OcSvm",
    "PRank",
    "RankSvm",
    "IrSvm",
    "SvmAuc",
    "SvmMap",
    "SvmMrr",
    "SvmNdcg",
    "SvmCombo",
    "Dorm",
    "MinPerturb",
    "TieRandom",
    "MaxMax",
    "Mle",
    "ExpGain",
    "L3",
    "ConvexLoss",
    "RankNet",
    "LambdaRank",
    "ListNet",
    "ListMle",
    "RankCosine",
    "SoftRank",
    "BoltzRank",
    "ApproxNdcg",
    "XeNdcg",
    "LambdaLoss",
    "CoordinateAscent",
    "AdaRank",
    "RankBoost",
    "FRank",
    "NdcgBoost",
    "MART",
    "LambdaMART",
    "GbRank",
    "McRank",
    "RandomForest",
]

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

class Linear(_Scorer):
    ridge: float | None
    c: float | None
    iterations: int | None
    tolerance: float | None
    scale: bool | None
    starts: int | None
    reorderings: int | None
    def __init__(
        self,
        *,
        ridge: float | None = None,
        c: float | None = None,
        iterations: int | None = None,
        tolerance: float | None = None,
        scale: bool | None = None,
        starts: int | None = None,
        reorderings: int | None = None,
        **other_names: Any,
    ) -> None: ...

class Trees(_Scorer):
    iterations: int | None
    learning_rate: float | None
    num_leaves: int | None
    max_depth: int | None
    growth_policy: str | None
    max_bin: int | None
    min_data_in_leaf: int | None
    min_child_weight: float | None
    min_split_gain: float | None
    l1: float | None
    l2: float | None
    bagging_fraction: float | None
    feature_fraction: float | None
    feature_fraction_per_split: float | None
    monotone: str | None
    max_onehot_categories: int | None
    max_categories: int | None
    category_smoothing: float | None
    category_l2: float | None
    min_data_per_category_group: int | None
    dropout: float | None
    early_stopping_rounds: int | None
    def __init__(
        self,
        *,
        iterations: int | None = None,
        learning_rate: float | None = None,
        num_leaves: int | None = None,
        max_depth: int | None = None,
        growth_policy: str | None = None,
        max_bin: int | None = None,
        min_data_in_leaf: int | None = None,
        min_child_weight: float | None = None,
        min_split_gain: float | None = None,
        l1: float | None = None,
        l2: float | None = None,
        bagging_fraction: float | None = None,
        feature_fraction: float | None = None,
        feature_fraction_per_split: float | None = None,
        monotone: str | None = None,
        max_onehot_categories: int | None = None,
        max_categories: int | None = None,
        category_smoothing: float | None = None,
        category_l2: float | None = None,
        min_data_per_category_group: int | None = None,
        dropout: float | None = None,
        early_stopping_rounds: int | None = None,
        **other_names: Any,
    ) -> None: ...

class Network(_Scorer):
    layers: str | None
    activation: str | None
    dropout: float | None
    batch_size: int | None
    epochs: int | None
    learning_rate: float | None
    optimizer: str | None
    momentum: float | None
    schedule: str | None
    weight_decay: float | None
    clip: float | None
    early_stopping_rounds: int | None
    validation_fraction: float | None
    def __init__(
        self,
        *,
        layers: str | None = None,
        activation: str | None = None,
        dropout: float | None = None,
        batch_size: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        optimizer: str | None = None,
        momentum: float | None = None,
        schedule: str | None = None,
        weight_decay: float | None = None,
        clip: float | None = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        **other_names: Any,
    ) -> None: ...

class Regression(BaseRanker):
    ridge: float
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        ridge: float = 0.001,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class OcSvm(BaseRanker):
    constraints: str
    balance: bool
    c: float
    iterations: int
    tolerance: float
    scale: bool
    def __init__(
        self,
        *,
        constraints: str = "explicit",
        balance: bool = True,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class PRank(BaseRanker):
    passes: int
    averaged: bool
    balance: float
    shuffle: bool
    scale: bool
    def __init__(
        self,
        *,
        passes: int = 20,
        averaged: bool = True,
        balance: float = 5.0,
        shuffle: bool = True,
        scale: bool = True,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class RankSvm(BaseRanker):
    loss: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        loss: str = "hinge",
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class IrSvm(BaseRanker):
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        c: float = 10.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class SvmAuc(BaseRanker):
    threshold: float
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        threshold: float = 1.0,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class SvmMap(BaseRanker):
    threshold: float
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        threshold: float = 1.0,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class SvmMrr(BaseRanker):
    threshold: float
    k: int
    map: str
    documents: int
    draws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        threshold: float = 1.0,
        k: int = 0,
        map: str = "pair-order",
        documents: int = 5,
        draws: int = 100,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class SvmNdcg(BaseRanker):
    threshold: float
    k: int
    discount: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        threshold: float = 1.0,
        k: int = 0,
        discount: str = "log2",
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class SvmCombo(BaseRanker):
    threshold: float
    metrics: Sequence[Any]
    weights: Sequence[Any]
    slacks: str
    mrr_map: str
    discount: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        threshold: float = 1.0,
        metrics: Sequence[Any] = ('auc', 'map', 'mrr', 'ndcg'),
        weights: Sequence[Any] = (),
        slacks: str = "separate",
        mrr_map: str = "pair-order",
        discount: str = "log2",
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class Dorm(BaseRanker):
    gain: str
    threshold: float
    k: int
    discount: str
    decay: float
    cut_off: int
    documents: int
    draws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        gain: str = "exp2",
        threshold: float = 1.0,
        k: int = 0,
        discount: str = "log2",
        decay: float = 0.5,
        cut_off: int = 0,
        documents: int = 3,
        draws: int = 100,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class MinPerturb(BaseRanker):
    margin: float
    spacing: str
    k: int
    discount: str
    documents: int
    draws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        margin: float = 0.1,
        spacing: str = "equal",
        k: int = 10,
        discount: str = "log2",
        documents: int = 3,
        draws: int = 100,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class TieRandom(BaseRanker):
    version: str
    k: int
    discount: str
    decay: float
    cut_off: int
    documents: int
    draws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        version: str = "full",
        k: int = 0,
        discount: str = "log2",
        decay: float = 0.5,
        cut_off: int = 0,
        documents: int = 3,
        draws: int = 100,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class MaxMax(BaseRanker):
    version: str
    k: int
    discount: str
    decay: float
    cut_off: int
    documents: int
    draws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        version: str = "full",
        k: int = 0,
        discount: str = "log2",
        decay: float = 0.5,
        cut_off: int = 0,
        documents: int = 3,
        draws: int = 100,
        c: float = 1.0,
        iterations: int = 2000,
        tolerance: float = 0.001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class Mle(BaseRanker):
    gain: str
    method: str
    kappa: str
    threshold: float
    k: int
    discount: str
    samples: int
    restarts: str
    best: float
    skew: float
    rungs: int
    steps: int
    thinning: int
    redraws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    starts: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        gain: str = "auc",
        method: str = "exact",
        kappa: str = "one",
        threshold: float = 1.0,
        k: int = 0,
        discount: str = "log2",
        samples: int = 1000,
        restarts: str = "ends",
        best: float = 0.9,
        skew: float = -5.0,
        rungs: int = 20,
        steps: int = 101,
        thinning: int = 5,
        redraws: int = 10,
        c: float = 1.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        starts: int = 1,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class ExpGain(BaseRanker):
    gain: str
    method: str
    kappa: str
    threshold: float
    k: int
    discount: str
    samples: int
    restarts: str
    best: float
    skew: float
    rungs: int
    steps: int
    thinning: int
    redraws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    starts: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        gain: str = "auc",
        method: str = "exact",
        kappa: str = "one",
        threshold: float = 1.0,
        k: int = 0,
        discount: str = "log2",
        samples: int = 1000,
        restarts: str = "ends",
        best: float = 0.9,
        skew: float = -5.0,
        rungs: int = 20,
        steps: int = 101,
        thinning: int = 5,
        redraws: int = 10,
        c: float = 0.3,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        starts: int = 3,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class L3(BaseRanker):
    gain: str
    method: str
    kappa: str
    threshold: float
    k: int
    discount: str
    samples: int
    restarts: str
    best: float
    skew: float
    rungs: int
    steps: int
    thinning: int
    redraws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    starts: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        gain: str = "ndcg",
        method: str = "sampled",
        kappa: str = "one",
        threshold: float = 1.0,
        k: int = 0,
        discount: str = "log2",
        samples: int = 1000,
        restarts: str = "ends",
        best: float = 0.9,
        skew: float = -5.0,
        rungs: int = 20,
        steps: int = 101,
        thinning: int = 5,
        redraws: int = 10,
        c: float = 1.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        starts: int = 3,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class ConvexLoss(BaseRanker):
    gain: str
    method: str
    kappa: str
    threshold: float
    k: int
    discount: str
    samples: int
    restarts: str
    best: float
    skew: float
    rungs: int
    steps: int
    thinning: int
    redraws: int
    c: float
    iterations: int
    tolerance: float
    scale: bool
    starts: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        gain: str = "ndcg",
        method: str = "sampled",
        kappa: str = "one",
        threshold: float = 1.0,
        k: int = 0,
        discount: str = "log2",
        samples: int = 1000,
        restarts: str = "ends",
        best: float = 0.9,
        skew: float = -5.0,
        rungs: int = 20,
        steps: int = 101,
        thinning: int = 5,
        redraws: int = 10,
        c: float = 1.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        starts: int = 1,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class RankNet(BaseRanker):
    sum: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        sum: str = "total",
        c: float = 1.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class LambdaRank(BaseRanker):
    lambda_metric: str
    k: int
    sigma: float
    gain: str
    threshold: float
    max_grade: float
    c: float
    iterations: int
    tolerance: float
    scale: bool
    reorderings: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        lambda_metric: str = "ndcg",
        k: int = 0,
        sigma: float = 1.0,
        gain: str = "exp2",
        threshold: float = 1.0,
        max_grade: float = 4.0,
        c: float = 10.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        reorderings: int = 10,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class ListNet(BaseRanker):
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        c: float = 1.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class ListMle(BaseRanker):
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        c: float = 0.1,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class RankCosine(BaseRanker):
    unit: float
    centred: bool
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        unit: float = 1.0,
        centred: bool = True,
        c: float = 100.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class SoftRank(BaseRanker):
    deviation: float
    k: int
    gain: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        deviation: float = 1.0,
        k: int = 0,
        gain: str = "exp2",
        c: float = 1000.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class BoltzRank(BaseRanker):
    samples: int
    mix: float
    k: int
    gain: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        samples: int = 100,
        mix: float = 0.5,
        k: int = 10,
        gain: str = "exp2",
        c: float = 1000.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class ApproxNdcg(BaseRanker):
    temperature: float
    gain: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        temperature: float = 1.0,
        gain: str = "exp2",
        c: float = 1000.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class XeNdcg(BaseRanker):
    c: float
    iterations: int
    tolerance: float
    scale: bool
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        c: float = 10.0,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class LambdaLoss(BaseRanker):
    mu: float
    k: int
    sigma: float
    gain: str
    c: float
    iterations: int
    tolerance: float
    scale: bool
    reorderings: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    def __init__(
        self,
        *,
        mu: float = 10.0,
        k: int = 0,
        sigma: float = 1.0,
        gain: str = "exp2",
        c: float = 0.1,
        iterations: int = 200,
        tolerance: float = 0.0001,
        scale: bool = True,
        reorderings: int = 10,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class CoordinateAscent(BaseRanker):
    restarts: int
    passes: int
    tolerance: float
    step: float
    steps: int
    def __init__(
        self,
        *,
        restarts: int = 5,
        passes: int = 25,
        tolerance: float = 0.001,
        step: float = 0.02,
        steps: int = 7,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class AdaRank(BaseRanker):
    iterations: int
    max_repeats: int
    early_stopping_rounds: int
    tolerance: float
    scale: bool
    def __init__(
        self,
        *,
        iterations: int = 500,
        max_repeats: int = 1,
        early_stopping_rounds: int = 50,
        tolerance: float = 0.0,
        scale: bool = True,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class RankBoost(BaseRanker):
    step: str
    iterations: int
    thresholds: int
    early_stopping_rounds: int
    def __init__(
        self,
        *,
        step: str = "r",
        iterations: int = 300,
        thresholds: int = 254,
        early_stopping_rounds: int = 100,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class FRank(BaseRanker):
    iterations: int
    thresholds: int
    early_stopping_rounds: int
    validation_fraction: float
    def __init__(
        self,
        *,
        iterations: int = 300,
        thresholds: int = 254,
        early_stopping_rounds: int = 100,
        validation_fraction: float = 0.2,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class NdcgBoost(BaseRanker):
    weak: str
    num_leaves: int
    sample: float
    iterations: int
    thresholds: int
    early_stopping_rounds: int
    def __init__(
        self,
        *,
        weak: str = "stump",
        num_leaves: int = 4,
        sample: float = 0.0,
        iterations: int = 100,
        thresholds: int = 254,
        early_stopping_rounds: int = 100,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class MART(BaseRanker):
    iterations: int
    learning_rate: float
    num_leaves: int
    max_depth: int
    growth_policy: str
    max_bin: int
    min_data_in_leaf: int
    min_child_weight: float
    min_split_gain: float
    l1: float
    l2: float
    bagging_fraction: float
    feature_fraction: float
    feature_fraction_per_split: float
    monotone: str
    max_onehot_categories: int
    max_categories: int
    category_smoothing: float
    category_l2: float
    min_data_per_category_group: int
    dropout: float
    early_stopping_rounds: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    objective: _Objective | None
    def __init__(
        self,
        *,
        iterations: int = 200,
        learning_rate: float = 0.05,
        num_leaves: int = 16,
        max_depth: int = 0,
        growth_policy: str = "leaf-wise",
        max_bin: int = 255,
        min_data_in_leaf: int = 20,
        min_child_weight: float = 0.001,
        min_split_gain: float = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        bagging_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        feature_fraction_per_split: float = 1.0,
        monotone: str = "",
        max_onehot_categories: int = 4,
        max_categories: int = 32,
        category_smoothing: float = 10.0,
        category_l2: float = 10.0,
        min_data_per_category_group: int = 100,
        dropout: float = 0.0,
        early_stopping_rounds: int = 50,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        objective: _Objective | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class LambdaMART(BaseRanker):
    lambda_metric: str
    k: int
    sigma: float
    lambda_norm: bool
    gain: str
    threshold: float
    max_grade: float
    position_bias: str
    position_bias_regularization: float
    iterations: int
    learning_rate: float
    num_leaves: int
    max_depth: int
    growth_policy: str
    max_bin: int
    min_data_in_leaf: int
    min_child_weight: float
    min_split_gain: float
    l1: float
    l2: float
    bagging_fraction: float
    feature_fraction: float
    feature_fraction_per_split: float
    monotone: str
    max_onehot_categories: int
    max_categories: int
    category_smoothing: float
    category_l2: float
    min_data_per_category_group: int
    dropout: float
    early_stopping_rounds: int
    scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None
    objective: _Objective | None
    def __init__(
        self,
        *,
        lambda_metric: str = "ndcg",
        k: int = 30,
        sigma: float = 1.0,
        lambda_norm: bool = True,
        gain: str = "exp2",
        threshold: float = 1.0,
        max_grade: float = 4.0,
        position_bias: str = "none",
        position_bias_regularization: float = 0.0,
        iterations: int = 200,
        learning_rate: float = 0.05,
        num_leaves: int = 16,
        max_depth: int = 0,
        growth_policy: str = "leaf-wise",
        max_bin: int = 255,
        min_data_in_leaf: int = 20,
        min_child_weight: float = 0.001,
        min_split_gain: float = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        bagging_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        feature_fraction_per_split: float = 1.0,
        monotone: str = "",
        max_onehot_categories: int = 4,
        max_categories: int = 32,
        category_smoothing: float = 10.0,
        category_l2: float = 10.0,
        min_data_per_category_group: int = 100,
        dropout: float = 0.0,
        early_stopping_rounds: int = 50,
        scorer: Literal["linear", "trees", "network"] | Linear | Trees | Network | None = None,
        objective: _Objective | None = None,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class GbRank(BaseRanker):
    tau: float
    initial_iterations: int
    initial_learning_rate: float
    iterations: int
    learning_rate: float
    num_leaves: int
    max_depth: int
    growth_policy: str
    max_bin: int
    min_data_in_leaf: int
    min_child_weight: float
    min_split_gain: float
    l1: float
    l2: float
    bagging_fraction: float
    feature_fraction: float
    feature_fraction_per_split: float
    monotone: str
    max_onehot_categories: int
    max_categories: int
    category_smoothing: float
    category_l2: float
    min_data_per_category_group: int
    dropout: float
    early_stopping_rounds: int
    def __init__(
        self,
        *,
        tau: float = 1.0,
        initial_iterations: int = 50,
        initial_learning_rate: float = 0.1,
        iterations: int = 100,
        learning_rate: float = 1.0,
        num_leaves: int = 31,
        max_depth: int = 0,
        growth_policy: str = "leaf-wise",
        max_bin: int = 255,
        min_data_in_leaf: int = 20,
        min_child_weight: float = 0.001,
        min_split_gain: float = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        bagging_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        feature_fraction_per_split: float = 1.0,
        monotone: str = "",
        max_onehot_categories: int = 4,
        max_categories: int = 32,
        category_smoothing: float = 10.0,
        category_l2: float = 10.0,
        min_data_per_category_group: int = 100,
        dropout: float = 0.0,
        early_stopping_rounds: int = 50,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class McRank(BaseRanker):
    classes: str
    iterations: int
    learning_rate: float
    num_leaves: int
    max_depth: int
    growth_policy: str
    max_bin: int
    min_data_in_leaf: int
    min_child_weight: float
    min_split_gain: float
    l1: float
    l2: float
    bagging_fraction: float
    feature_fraction: float
    feature_fraction_per_split: float
    monotone: str
    max_onehot_categories: int
    max_categories: int
    category_smoothing: float
    category_l2: float
    min_data_per_category_group: int
    dropout: float
    early_stopping_rounds: int
    def __init__(
        self,
        *,
        classes: str = "softmax",
        iterations: int = 200,
        learning_rate: float = 0.05,
        num_leaves: int = 16,
        max_depth: int = 0,
        growth_policy: str = "leaf-wise",
        max_bin: int = 255,
        min_data_in_leaf: int = 20,
        min_child_weight: float = 0.001,
        min_split_gain: float = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        bagging_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        feature_fraction_per_split: float = 1.0,
        monotone: str = "",
        max_onehot_categories: int = 4,
        max_categories: int = 32,
        category_smoothing: float = 10.0,
        category_l2: float = 10.0,
        min_data_per_category_group: int = 100,
        dropout: float = 0.0,
        early_stopping_rounds: int = 50,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...

class RandomForest(BaseRanker):
    num_trees: int
    num_leaves: int
    max_depth: int
    min_data_in_leaf: int
    feature_fraction_per_split: float
    bagging_fraction: float
    max_bin: int
    def __init__(
        self,
        *,
        num_trees: int = 300,
        num_leaves: int = 255,
        max_depth: int = 0,
        min_data_in_leaf: int = 5,
        feature_fraction_per_split: float = 0.3,
        bagging_fraction: float = 1.0,
        max_bin: int = 255,
        metric: str | _Metric = "ndcg@10",
        preset: str = "default",
        conventions: dict[str, Any] | None = None,
        normalize: str | None = None,
        categorical: Sequence[str | int] | None = None,
        random_state: int | RandomState | None = 1,
        n_jobs: int | None = None,
        **other_names: Any,
    ) -> None: ...
