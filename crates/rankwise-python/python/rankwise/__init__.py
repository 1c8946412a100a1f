"""Rankwise: learn to order documents, products or answers from judged examples, measure rankings honestly, and ship
the models.

>>> import numpy as np
>>> import rankwise as rw
>>> X = np.array([[0.2], [0.9], [0.4], [0.1]], dtype=np.float32)
>>> data = rw.Data(X, y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
>>> ranker = rw.Recipe("list-net").fit(data)
>>> scores = ranker.score(X)
>>> bool(scores[1] > scores[0])
True
"""

from __future__ import annotations

from rankwise._callbacks import optuna, progress
from rankwise._compare import Comparison, compare
from rankwise._evaluate import Evaluation, evaluate, metrics
from rankwise._experiments import CrossValidation, ExperimentResult, Tuned, cross_validate, run, tune
from rankwise._rankwise import Data, Progress, Ranker, Recipe, __version__, learners, load, read
from rankwise._search import Hit, Index, SearchResult

__all__ = [
    "Comparison",
    "CrossValidation",
    "Data",
    "Evaluation",
    "ExperimentResult",
    "Hit",
    "Index",
    "Progress",
    "Ranker",
    "Recipe",
    "SearchResult",
    "Tuned",
    "__version__",
    "compare",
    "cross_validate",
    "evaluate",
    "learners",
    "load",
    "metrics",
    "optuna",
    "progress",
    "read",
    "run",
    "tune",
]
