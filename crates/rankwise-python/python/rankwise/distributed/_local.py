"""Workers that are processes of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rankwise
from rankwise.distributed._engine import Engine


class Local(Engine):
    """Processes that the library starts, talks to by pipes, and ends. Each has its part of the cores."""

    def __init__(self, workers: int | None, threads: int | None) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.workers = workers or min(2, cores)
        self.threads = threads or max(1, cores // self.workers)
        self.command = [sys.executable, "-m", "rankwise.distributed.worker"]
        # This very package, also if it was found by a path that only this process knows.
        package = str(Path(rankwise.__file__).resolve().parents[1])
        inherited = os.environ.get("PYTHONPATH")
        self.environment = {"PYTHONPATH": package + (os.pathsep + inherited if inherited else "")}

    # The library starts processes by the command and talks to them itself, so there is no deliver and no restart.

    def map(self, function: Callable[[str], Any], shards: Sequence[str], limit: float) -> list[Any]:
        """In this process, one shard after the other: each one takes all threads."""
        return [function(shard) for shard in shards]
