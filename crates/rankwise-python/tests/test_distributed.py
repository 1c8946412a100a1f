"""Training on several workers: the model of one machine, byte for byte."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import make

import rankwise as rw
from rankwise import distributed


def write(folder: Path, parts: int = 3, queries: int = 12, seed: int = 0) -> list[Path]:
    """LETOR files with adjacent queries."""
    data = make(queries=queries, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part, rows in enumerate(np.array_split(np.arange(len(data.y)).reshape(queries, -1), parts)):
        path = folder / f"part-{part}.txt"
        lines = []
        for row in rows.reshape(-1):
            features = " ".join(f"{i + 1}:{x}" for i, x in enumerate(data.X[row]))
            lines.append(f"{data.y[row]:g} qid:{data.qid[row]} {features}\n")
        path.write_text("".join(lines))
        paths.append(path)
    return paths


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    return write(tmp_path / "train")


@pytest.fixture
def valid_shards(tmp_path: Path) -> list[Path]:
    return write(tmp_path / "valid", parts=2, seed=1)


RECIPE = rw.Recipe("lambda-mart", iterations=8, num_leaves=4, min_data_in_leaf=3, early_stopping_rounds=3)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_model_is_the_same_for_any_number_of_processes(shards, valid_shards, workers):
    alone = RECIPE.fit(rw.read(shards), rw.read(valid_shards))
    steps: list[rw.Progress] = []
    ranker = distributed.train(
        RECIPE, shards, engine="local", workers=workers, valid=valid_shards, callbacks=[steps.append]
    )
    assert ranker.to_bytes() == alone.to_bytes()
    assert ranker.history == alone.history
    assert steps[0].iteration == 1 and steps[0].name.endswith("(valid)")
    assert ranker.traffic["questions"] > 0 and ranker.traffic["losses"] == 0
    assert alone.traffic is None


def test_a_linear_learner(shards):
    recipe = rw.Recipe("list-net", seed=3)
    assert distributed.train(recipe, shards, workers=2).to_bytes() == recipe.fit(rw.read(shards)).to_bytes()


def test_tables_with_weights_categories_and_missing_values(tmp_path):
    data, random = make(), np.random.default_rng(3)
    rows = ["rel,query,w,brand,x,y\n"]
    for row, qid in enumerate(data.qid):
        x = "" if random.random() < 0.2 else f"{data.X[row, 0]}"
        rows.append(f"{data.y[row]:g},{qid},{qid % 3 + 1},{'abc'[row % 3]},{x},{data.X[row, 1]}\n")
    middle = len(rows) // 2 + 1
    (tmp_path / "a.csv").write_text("".join(rows[:middle]))
    (tmp_path / "b.csv").write_text("".join(rows[:1] + rows[middle:]))
    reading = {"label": "rel", "qid": "query", "weight": "w", "categorical": ["brand"]}
    recipe = rw.Recipe("lambda-mart", iterations=5, min_data_in_leaf=3)
    alone = recipe.fit(rw.read([tmp_path / "a.csv", tmp_path / "b.csv"], **reading))
    ranker = distributed.train(recipe, tmp_path / "*.csv", workers=2, **reading)
    assert ranker.to_bytes() == alone.to_bytes()
    scores = distributed.score(ranker, tmp_path, **reading)
    joined = alone.score(rw.read([tmp_path / "a.csv", tmp_path / "b.csv"], **reading))
    assert (np.concatenate(scores) == joined).all()


def test_checkpoints_resume_with_another_number_of_workers(shards, tmp_path):
    state = tmp_path / "state.json"

    class Crash(Exception):
        pass

    def crash(step):
        if step.iteration == 5:
            raise Crash

    with pytest.raises(Crash):
        distributed.train(RECIPE, shards, workers=2, checkpoint=state, checkpoint_every=1, callbacks=[crash])
    assert state.exists()
    seen: list[int] = []
    ranker = distributed.train(
        RECIPE, shards, workers=3, checkpoint=state, callbacks=[lambda step: seen.append(step.iteration)]
    )
    assert seen[0] > 1
    assert ranker.to_bytes() == RECIPE.fit(rw.read(shards)).to_bytes()
    assert not state.exists()


def test_a_callback_ends_training_with_the_model_so_far(shards):
    ranker = distributed.train(RECIPE, shards, workers=2, callbacks=[lambda step: step.iteration == 2])
    assert ranker.record["outcome"] == "interrupted" and 2 <= ranker.record["iterations"] < 8


def test_mistakes(shards, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.txt"):
        distributed.train(RECIPE, [*shards, tmp_path / "missing.txt"], workers=2)
    with pytest.raises(ValueError, match="several workers"):
        distributed.train(rw.Recipe("rank-net", scorer="network"), shards, workers=2)
    with pytest.raises(ValueError, match="workers is 0"):
        distributed.train(RECIPE, shards, workers=0)
    with pytest.raises(ValueError, match="'spark'"):
        distributed.train(RECIPE, shards, engine="spark")
    with pytest.raises(TypeError, match="'labels'"):
        distributed.train(RECIPE, shards, labels="y")
    with pytest.raises(ValueError, match="no file matches"):
        distributed.train(RECIPE, tmp_path / "*.csv")
    with pytest.raises(ValueError, match="limit"):
        distributed.train(RECIPE, shards, limit=-1)
    with pytest.raises(ValueError, match="code of this process"):
        distributed.train(rw.Recipe(objective=lambda s, y, b: (s - y, np.ones_like(s))), shards, workers=1)
    with pytest.raises(TypeError, match="no ranker"):
        distributed.score(RECIPE, shards)


def test_an_engine_of_ones_own_may_lose_messages(shards, caplog):
    from rankwise.distributed.worker import Worker

    class Forgetful(distributed.Engine):
        """In this process. Every seventh reply is lost, with the worker."""

        def __init__(self, workers):
            self.workers, self.threads, self.count = workers, 1, 0
            self.all = [Worker() for _ in range(workers)]

        def deliver(self, messages, limit):
            return [(worker, self.reply(worker, message)) for worker, message in messages]

        def reply(self, worker, message):
            self.count += 1
            return "it was forgotten" if self.count % 7 == 0 else self.all[worker].reply(message)

        def restart(self, worker):
            self.all[worker] = Worker()

    ranker = distributed.train(RECIPE, shards, engine=Forgetful(2))
    assert ranker.to_bytes() == RECIPE.fit(rw.read(shards)).to_bytes()
    assert ranker.traffic["losses"] > 5
    told = [record.getMessage() for record in caplog.records]
    assert "worker 0 was lost, and another one takes its place: it was forgotten" in told
    assert len(told) == ranker.traffic["losses"]


def test_fewer_files_than_workers_are_noted(shards, caplog):
    caplog.set_level("INFO", "rankwise")
    distributed.train(RECIPE, shards[:1], workers=2)
    assert "the training data is 1 file for 2 workers" in caplog.text


def test_an_engine_that_fails_ends_the_training_with_its_exception(shards):
    class Broken(distributed.Engine):
        workers = 1

        def deliver(self, messages, limit):
            raise KeyError("cable")

    with pytest.raises(KeyError, match="cable"):
        distributed.train(RECIPE, shards, engine=Broken())


def test_scores_and_metrics_are_those_of_the_joined_data(shards, valid_shards, tmp_path):
    ranker = RECIPE.fit(rw.read(shards))
    joined = rw.read(valid_shards)
    scores = distributed.score(ranker, valid_shards)
    assert len(scores) == 2 and (np.concatenate(scores) == ranker.score(joined)).all()
    files = distributed.score(ranker, valid_shards, out=tmp_path / "scores")
    assert [np.loadtxt(file).tolist() for file in files] == [part.tolist() for part in scores]
    found = distributed.evaluate(ranker, valid_shards, "ndcg@5,map,num-q")
    expected = rw.evaluate(joined, ranker, "ndcg@5,map,num-q")
    assert found.mean == expected.mean and found.total == expected.total and found.notes == expected.notes
    assert found.query_ids == expected.query_ids and np.array_equal(found.values, expected.values, equal_nan=True)


def test_a_query_in_two_shards_is_gathered_to_train_and_refused_to_evaluate(shards):
    moved = shards[0].read_text().splitlines(keepends=True)
    shards[0].write_text("".join(moved[1:]))
    shards[1].write_text(shards[1].read_text() + moved[0])
    ranker = distributed.train(RECIPE, shards, workers=2)
    assert ranker.to_bytes() == RECIPE.fit(rw.read(shards)).to_bytes()
    with pytest.raises(ValueError, match=r"query `1` is in .*part-0.txt and in .*part-1.txt"):
        distributed.evaluate(ranker, shards)


def test_text_whose_first_feature_is_missing_in_one_shard(tmp_path):
    (tmp_path / "a.txt").write_text("2 qid:1 0:1 1:3\n0 qid:1 0:0.5 1:1\n")
    (tmp_path / "b.txt").write_text("1 qid:2 1:2\n0 qid:2 1:0.1\n")
    files = sorted(tmp_path.iterdir())
    ranker = rw.Recipe("list-net").fit(rw.read(files))
    assert (np.concatenate(distributed.score(ranker, files)) == ranker.score(rw.read(files))).all()


def test_files(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("b.txt", "deep/a.txt", ".hidden", "_SUCCESS"):
        (tmp_path / name).touch()
    assert distributed.files(tmp_path) == [str(tmp_path / "b.txt"), str(tmp_path / "deep" / "a.txt")]
    assert distributed.files([tmp_path / "b.txt"]) == distributed.files(str(tmp_path / "*.txt"))
    with pytest.raises(ValueError, match="empty"):
        distributed.files([])
    with pytest.raises(ValueError, match="not a path"):
        distributed.files("s3://bucket/a.parquet")
    with pytest.raises(TypeError, match="shards is a value of type int"):
        distributed.files(3)


def test_estimators(shards, valid_shards):
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    model = distributed.LambdaMART(n_estimators=5, min_data_in_leaf=3, workers=2, n_jobs=1)
    copy = clone(model)
    assert copy.workers == 2 and copy.iterations == 5
    assert copy.fit(shards, valid=valid_shards) is copy
    alone = copy.to_recipe().fit(rw.read(shards), rw.read(valid_shards))
    assert copy.ranker_.to_bytes() == alone.to_bytes()
    assert [len(scores) for scores in copy.predict(valid_shards)] == [48, 48]
    assert copy.score(valid_shards) == rw.evaluate(rw.read(valid_shards), alone)["ndcg@10"]
    assert copy.feature_importances_.shape == (copy.n_features_in_,)
    with pytest.raises(AttributeError, match="Nothing"):
        distributed.Nothing  # noqa: B018


# Ctrl-C is ignored in programs that a shell starts in the background, and the tests may be one.
CTRL_C = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import rankwise as rw
from rankwise import distributed
recipe = rw.Recipe("lambda-mart", iterations=10**6, min_data_in_leaf=3)
print("ready", flush=True)
try:
    distributed.train(recipe, sys.argv[1:], workers=2, callbacks=[lambda step: print("step", flush=True)])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_training_and_the_processes(shards):
    process = subprocess.Popen([sys.executable, "-c", CTRL_C, *shards], stdout=subprocess.PIPE, text=True)
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "step\n"]
    workers = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert rest.endswith("interrupted\n") and time.monotonic() - start < 10
    assert len(workers) == 2
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() - start < 20, "a worker goes on"
        time.sleep(0.05)


def test_a_missing_engine_says_what_to_install(shards, monkeypatch):
    for engine, module, package in (("ray", "ray", "pip install ray"), ("dask", "distributed", r"dask\[distributed\]")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ModuleNotFoundError, match=package):
            distributed.train(RECIPE, shards, engine=engine)


def test_data_in_memory_are_refused_with_the_way_out(shards):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"label": [0, 1], "qid": [1, 1], "x": [0.1, 0.2]})
    for data in (frame, np.zeros((2, 2)), {"label": [0]}):
        with pytest.raises(TypeError, match="workers read files|give files"):
            distributed.train(RECIPE, data)
    model = distributed.LambdaMART(workers=2)
    for name, value in (("y", [1]), ("group", [2]), ("sample_weight", [1.0]), ("eval_set", [(1, 2)])):
        with pytest.raises(TypeError, match=f"{name} cannot be given here: workers read .*fit\\(shards"):
            model.fit(shards, **{name: value})
    with pytest.raises(TypeError, match="qid is of type list; workers read the data from files, so give the name"):
        model.fit(shards, qid=[1, 2])
    with pytest.raises(TypeError, match="ignore is 'x'; give a list of names"):
        model.fit(shards, ignore="x")


def test_new_data_is_scored_without_labels(tmp_path):
    (tmp_path / "train.csv").write_text("label,qid,x\n0,1,0.1\n1,1,0.9\n0,2,0.3\n1,2,0.7\n")
    (tmp_path / "new.csv").write_text("qid,x\n7,0.25\n7,0.75\n")
    ranker = rw.Recipe("regression").fit(rw.read(tmp_path / "train.csv"))
    [scores] = distributed.score(ranker, tmp_path / "new.csv")
    assert scores.shape == (2,) and scores[1] > scores[0]


def test_notes_on_the_data_are_logged(shards, caplog):
    distributed.train(RECIPE, shards, workers=2, valid=shards)
    assert "12 of 12 validation queries are also training queries" in caplog.text
