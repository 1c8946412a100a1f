"""Data that the tests share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]


def make(queries: int = 12, documents: int = 8, features: int = 5, seed: int = 0) -> SimpleNamespace:
    """Graded documents whose labels follow the first two features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(queries * documents, features)).astype(np.float32)
    relevance = X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=len(X))
    y = np.digitize(relevance, [0.3, 1.2]).astype(np.float32)
    return SimpleNamespace(X=X, y=y, qid=np.repeat(np.arange(1, queries + 1), documents))


@pytest.fixture
def small() -> SimpleNamespace:
    return make()


@pytest.fixture
def valid() -> SimpleNamespace:
    return make(seed=1)
