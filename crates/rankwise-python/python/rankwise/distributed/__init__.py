"""Training, scoring and evaluation on several machines, by Ray, by Dask, or by processes of one machine.

Every worker reads its own files and keeps its own queries. The model is the same as on one machine, byte for byte, for any
number of workers. A worker may be lost at any time: another one takes its place.

>>> import pathlib, tempfile
>>> import rankwise as rw
>>> from rankwise import distributed
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> for query in range(6):
...     rows = [f"{d % 3} qid:{query} 1:{d % 3 + d / 10} 2:{d}" for d in range(10)]
...     _ = (folder / f"part-{query}.txt").write_text("\\n".join(rows) + "\\n")
>>> recipe = rw.Recipe("lambda-mart", iterations=5, min_data_in_leaf=2)
>>> ranker = distributed.train(recipe, folder, engine="local", workers=2)
>>> alone = recipe.fit(rw.read(sorted(folder.iterdir())))
>>> ranker.to_bytes() == alone.to_bytes()
True
>>> [scores.shape for scores in distributed.score(ranker, folder)][:2]
[(10,), (10,)]
>>> distributed.evaluate(ranker, folder, "ndcg@10")["ndcg@10"]
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwise.distributed._engine import Engine
from rankwise.distributed._shards import files
from rankwise.distributed._work import evaluate, score, train

if TYPE_CHECKING:
    from rankwise.distributed._estimators import DistributedRanker

__all__ = ["DistributedRanker", "Engine", "evaluate", "files", "score", "train"]


def __getattr__(name: str) -> Any:
    """The classes for learners. They are made when one is asked for, since they need scikit-learn."""
    if not name.startswith("_"):
        from rankwise.distributed import _estimators

        if name in _estimators.CLASSES or name == "DistributedRanker":
            return getattr(_estimators, name)
    raise AttributeError(f"module 'rankwise.distributed' has no attribute {name!r}")
