"""Training on Dask: the model of one machine, byte for byte, also if workers are killed."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from test_distributed import RECIPE, shards, valid_shards  # noqa: F401

import rankwise as rw
from rankwise import distributed

dask_distributed = pytest.importorskip("distributed", reason="Dask is not installed")

pytestmark = pytest.mark.filterwarnings("default")


# Dask does not always bring back a worker that was killed, so every test has a cluster of its own.
@pytest.fixture(autouse=True)
def client():
    cluster = dask_distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GiB"
    )
    with cluster, dask_distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("workers", [2, 3])
def test_the_model_is_the_same_for_any_number_of_actors(shards, valid_shards, workers):  # noqa: F811
    alone = RECIPE.fit(rw.read(shards), rw.read(valid_shards))
    ranker = distributed.train(RECIPE, shards, engine="dask", workers=workers, valid=valid_shards)
    assert ranker.to_bytes() == alone.to_bytes() and ranker.history == alone.history


def test_a_killed_dask_worker_is_replaced(shards, client):  # noqa: F811
    from rankwise.distributed import _dask

    engine = _dask.Dask(2, 1, client, {}, False)
    killed = []

    def kill(step):
        if step.iteration in (2, 5):
            place = engine._places[step.iteration % 2]
            killed.append(client.run(os.getpid, workers=[place])[place])
            os.kill(killed[-1], signal.SIGKILL)

    ranker = distributed.train(RECIPE, shards, engine=engine, callbacks=[kill])
    assert ranker.to_bytes() == RECIPE.fit(rw.read(shards)).to_bytes()
    assert len(killed) == 2 and ranker.traffic["losses"] >= 2


def test_scores_and_metrics(shards, valid_shards, client):  # noqa: F811
    ranker = RECIPE.fit(rw.read(shards))
    joined = rw.read(valid_shards)
    scores = distributed.score(ranker, valid_shards, engine="dask", client=client)
    assert (np.concatenate(scores) == ranker.score(joined)).all()
    found = distributed.evaluate(ranker, valid_shards, "ndcg@5,map", engine="dask")
    assert found.mean == rw.evaluate(joined, ranker, "ndcg@5,map").mean
    with pytest.raises(FileNotFoundError, match="missing"):
        distributed.score(ranker, "missing.txt", engine="dask")


def test_a_task_whose_process_dies_is_done_again(tmp_path, client):
    from rankwise.distributed import _dask

    marker = tmp_path / "died"

    def once(shard):
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return shard

    engine = _dask.Dask(None, 1, client, {}, True)
    assert engine.map(once, ["a", "b"], 60) == ["a", "b"] and marker.exists()


def test_a_task_that_is_lost_again_and_again_is_named(client):
    from rankwise.distributed import _dask

    client.cluster.scheduler.allowed_failures = 0
    engine = _dask.Dask(None, 1, client, {}, True)
    with pytest.raises(RuntimeError, match="the task for b was lost 3 times; the last time, KilledWorker"):
        engine.map(die_for_b, ["a", "b"], 60)


def die_for_b(shard):
    if shard == "b":
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def test_an_exception_is_no_reason_to_try_again(tmp_path, client):
    from rankwise.distributed import _dask

    def fail(shard):
        with open(tmp_path / "calls", "a") as calls:
            calls.write(shard)
        raise FileNotFoundError(shard)

    engine = _dask.Dask(None, 1, client, {}, True)
    with pytest.raises(FileNotFoundError, match="^a$"):
        engine.map(fail, ["a"], 60)
    assert (tmp_path / "calls").read_text() == "a"


def test_tasks_that_cannot_run_are_named(valid_shards, shards, client):  # noqa: F811
    ranker = RECIPE.fit(rw.read(shards))
    told = r"no task has ended for 0.5 seconds; waiting for .*part-0.txt, .*part-1.txt, but no Dask worker has taken any"
    with pytest.raises(TimeoutError, match=told):
        distributed.score(ranker, valid_shards, engine="dask", options={"resources": {"moon": 1}}, limit=0.5)
    client.cluster.scale(0)
    with pytest.raises(TimeoutError, match="part-0.txt.* but the Dask cluster has no workers"):
        distributed.evaluate(ranker, valid_shards, engine="dask", limit=2)


def test_tasks_that_take_long_are_waited_for(client, caplog):
    from rankwise.distributed import _dask

    engine = _dask.Dask(None, 1, client, {}, True)
    assert engine.map(slow, ["a", "b"], 0.6) == ["a", "b"]
    assert "no task has ended for 0.6 seconds; waiting for a, b" in caplog.text


def slow(shard):
    time.sleep(3)
    return shard


def test_a_missing_file(shards):  # noqa: F811
    with pytest.raises(FileNotFoundError, match="missing.txt"):
        distributed.train(RECIPE, [*shards, "missing.txt"], engine="dask", workers=2)


def test_a_dask_frame(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frames = pytest.importorskip("dask.dataframe")
    from conftest import make

    data = make()
    frame = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(data.X.shape[1])])
    frame.insert(0, "qid", data.qid)
    frame.insert(0, "label", data.y)
    divided = frames.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="staging="):
        distributed.train(RECIPE, divided, engine="dask")
    ranker = distributed.train(RECIPE, divided, engine="dask", workers=2, staging=tmp_path)
    frame.to_parquet(tmp_path / "alone.parquet")
    assert ranker.to_bytes() == RECIPE.fit(rw.read(tmp_path / "alone.parquet")).to_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["alone.parquet"]
