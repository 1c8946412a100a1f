"""Data that the tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
EXIT_STATUS = pytest.StashKey[int]()


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


@pytest.fixture(scope="session")
def ray() -> Any:
    """One Ray for all tests that are marked `ray`."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 1024**2, log_to_driver=False)
    return ray


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[EXIT_STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves without `ray.shutdown()`: a thread of Ray that asks for something during it or just after ends the process
    with status 1 and without a word. Ray's own processes end with this one."""
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[EXIT_STATUS])
