"""Training on Ray: the model of one machine, byte for byte, also if actors are killed."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from test_distributed import RECIPE, shards, valid_shards  # noqa: F401

import rankwise as rw
from rankwise import distributed
from rankwise.distributed import _ray

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray"), pytest.mark.filterwarnings("default")]


class Reachable(_ray.Ray):
    """Knows the processes of its actors."""

    def processes(self):
        return self._ray.get([actor.__ray_call__.remote(lambda self: os.getpid()) for actor in self._actors])


@pytest.mark.parametrize("workers", [2, 3])
def test_the_model_is_the_same_for_any_number_of_actors(shards, valid_shards, workers):  # noqa: F811
    alone = RECIPE.fit(rw.read(shards), rw.read(valid_shards))
    ranker = distributed.train(RECIPE, shards, engine="ray", workers=workers, valid=valid_shards)
    assert ranker.to_bytes() == alone.to_bytes() and ranker.history == alone.history


def test_a_killed_actor_is_replaced(shards):  # noqa: F811
    engine, killed = Reachable(2, 1, {}, False), []

    def kill(step):
        if step.iteration in (2, 5):
            killed.append(engine.processes()[step.iteration % 2])
            os.kill(killed[-1], signal.SIGKILL)

    ranker = distributed.train(RECIPE, shards, engine=engine, callbacks=[kill])
    assert ranker.to_bytes() == RECIPE.fit(rw.read(shards)).to_bytes()
    assert len(set(killed)) == 2


def test_scores_and_metrics(shards, valid_shards):  # noqa: F811
    ranker = RECIPE.fit(rw.read(shards))
    joined = rw.read(valid_shards)
    assert (np.concatenate(distributed.score(ranker, valid_shards, engine="ray")) == ranker.score(joined)).all()
    found = distributed.evaluate(ranker, valid_shards, "ndcg@5,map", engine="ray")
    assert found.mean == rw.evaluate(joined, ranker, "ndcg@5,map").mean
    with pytest.raises(FileNotFoundError, match="missing"):
        distributed.score(ranker, "missing.txt", engine="ray")


def test_a_task_whose_process_dies_is_done_again(shards, tmp_path):  # noqa: F811
    marker = tmp_path / "died"

    def once(shard):
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return shard

    engine = _ray.Ray(None, 1, {}, True)
    assert engine.map(once, ["a", "b"], 60) == ["a", "b"] and marker.exists()


def test_a_task_that_is_lost_again_and_again_is_named(ray):
    def die(shard):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match="the task for a was lost 3 times; the last time, WorkerCrashedError"):
        _ray.Ray(None, 1, {}, True).map(die, ["a"], 60)


def test_tasks_that_cannot_run_are_named(shards, valid_shards):  # noqa: F811
    ranker = RECIPE.fit(rw.read(shards))
    told = "waiting for .*part-0.txt, .*part-1.txt, but no machine of Ray has 64 CPU, 1 moon; `ray status`"
    options = {"num_cpus": 64, "resources": {"moon": 1}}
    with pytest.raises(TimeoutError, match=told):
        distributed.score(ranker, valid_shards, engine="ray", options=options, limit=0.5)


def test_tasks_that_take_long_are_waited_for(ray, caplog):
    def slow(shard):
        time.sleep(3)
        return shard

    assert _ray.Ray(None, 1, {}, True).map(slow, ["a", "b"], 0.6) == ["a", "b"]
    assert "no task has ended for 0.6 seconds; waiting for a, b" in caplog.text


def test_a_missing_file(shards):  # noqa: F811
    with pytest.raises(FileNotFoundError, match="missing.txt"):
        distributed.train(RECIPE, [*shards, "missing.txt"], engine="ray", workers=2)


def test_a_ray_dataset(ray, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("ray.data")
    from conftest import make

    data = make()
    frame = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(data.X.shape[1])])
    frame.insert(0, "qid", data.qid)
    frame.insert(0, "label", data.y)
    dataset = ray.data.from_pandas([frame[:48], frame[48:]])
    with pytest.raises(ValueError, match="staging="):
        distributed.train(RECIPE, dataset, engine="ray", workers=2)
    ranker = distributed.train(RECIPE, dataset, engine="ray", workers=2, staging=tmp_path)
    frame.to_parquet(tmp_path / "alone.parquet")
    assert ranker.to_bytes() == RECIPE.fit(rw.read(tmp_path / "alone.parquet")).to_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["alone.parquet"]
