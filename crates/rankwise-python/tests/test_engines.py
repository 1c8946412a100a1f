"""Experiments whose jobs run elsewhere: the same findings by every engine, and after every loss."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rankwise as rw
from rankwise import _engines

EXPERIMENT = {
    "name": "small",
    "metrics": "ndcg@5,map",
    "selection": "ndcg@5",
    "search": {"method": "halving", "draws": 4, "first_fraction": 0.4},
    "data": [{"name": "made", "synth": {"shape": "mslr", "queries": 18, "documents": 8, "features": 4}, "k": 3}],
    "learner": [
        {"name": "regression", "grid": {"ridge": {"from": 1e-6, "to": 10.0, "log": True}}},
        {"name": "mart", "set": {"iterations": 3, "min_data_in_leaf": 2}},
    ],
}


def lasting(directory: Path) -> dict[str, bytes]:
    """The files that do not depend on who ran the jobs."""
    files = [directory / name for name in ("findings.json", "per_query.csv", "trials.csv")]
    files += (directory / "models").rglob("*.json")
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What this process finds."""
    directory = tmp_path_factory.mktemp("plain")
    rw.run(EXPERIMENT, directory, keep_models=True)
    found = lasting(directory)
    assert len(found) == 3 + 6
    return found


def test_local_processes_find_the_same(expected: dict[str, bytes], tmp_path: Path) -> None:
    steps: list[rw.Progress] = []
    result = rw.run(EXPERIMENT, tmp_path, keep_models=True, engine="local", workers=2, callbacks=[steps.append])
    assert lasting(tmp_path) == expected
    assert [step.iteration for step in steps] == list(range(1, steps[0].total + 1))  # type: ignore[operator]
    assert result.times["threads"] == 1


def test_files_of_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{d % 3} qid:{q} 1:{(d * 7 + q) % 5} 2:{d % 3}.5\n" for q in range(12) for d in range(6)]
    (tmp_path / "data.txt").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    experiment = {**EXPERIMENT, "data": [{"name": "file", "files": ["data.txt"], "k": 3}]}
    rw.run(experiment, "plain", keep_models=True)
    # The process is started in the directory of the caller, but the tasks name the file by its absolute path.
    with _engines.LocalProcesses(1) as processes:
        processes.submit(os.chdir, tmp_path.parent).result()
        rw.run(experiment, "processes", keep_models=True, engine=processes)
    assert lasting(tmp_path / "plain") == lasting(tmp_path / "processes")


def test_any_executor_is_an_engine(expected: dict[str, bytes], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        rw.run(EXPERIMENT, tmp_path, keep_models=True, engine=threads)
        assert threads.submit(abs, -1).result() == 1, "it is still the caller's"
    assert lasting(tmp_path) == expected


class Murderous:
    """Kills the process that gets one in some items, the first time that it comes."""

    def __init__(self, engine: _engines.Engine, one_in: int) -> None:
        self.engine, self.one_in = engine, one_in
        self.seen: set[str] = set()
        self.killed = 0

    def submit(self, function: Any, item: str, /) -> Any:
        kill = item not in self.seen and len(self.seen) % self.one_in == 0
        self.seen.add(item)
        self.killed += kill
        return self.engine.submit(os._exit, 9) if kill else self.engine.submit(function, item)


def test_jobs_of_killed_processes_run_again(expected: dict[str, bytes], tmp_path: Path) -> None:
    with _engines.LocalProcesses(2) as processes:
        engine = Murderous(processes, 3)
        rw.run(EXPERIMENT, tmp_path, keep_models=True, engine=engine)
    assert engine.killed > 6
    assert lasting(tmp_path) == expected


class Never:
    """Loses everything."""

    def submit(self, function: Any, item: Any, /) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("the node is gone"))
        return future


def test_a_job_lost_three_times_is_named(tmp_path: Path) -> None:
    lost = r"cannot run the job made fold \d .* lost 3 times, .* RuntimeError: the node is gone"
    with pytest.raises(OSError, match=lost):
        rw.run(EXPERIMENT, tmp_path, engine=Never())


class Idle:
    """Starts nothing, and may know why."""

    def submit(self, function: Any, item: Any, /) -> Future[Any]:
        return Future()


class Closed(Idle):
    def obstacle(self, futures: list[Any]) -> str:
        return f"{len(futures)} are too many for a closed shop"


def test_jobs_that_cannot_run_end_the_run_and_are_named(tmp_path: Path) -> None:
    stuck = r"no task has ended for 0.2 seconds; waiting for made fold 1 .*, made fold 1 .* more, but 1\d are too many"
    with pytest.raises(TimeoutError, match=stuck):
        rw.run(EXPERIMENT, tmp_path, engine=Closed(), limit=0.2)
    with pytest.raises(ValueError, match="limit is 0"):
        rw.run(EXPERIMENT, tmp_path, engine=Closed(), limit=0)


def test_jobs_that_take_long_are_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    tasks = _engines.Tasks(Idle(), abs, 0.1)
    for number in range(5):
        tasks.submit(number, f"job {number}", -number)
    for _ in range(3):
        assert tasks.next(0.15) is None
    told = "no task has ended for 0.1 seconds; waiting for job 0, job 1, job 2 and 2 more"
    assert [record.getMessage() for record in caplog.records] == [told] * 3


def test_a_slow_job_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    with _engines.LocalProcesses(1) as processes:
        tasks = _engines.Tasks(processes, time.sleep, 0.2)
        tasks.submit(0, "the nap", 1)
        ended = None
        while ended is None:
            ended = tasks.next(0.1)
    assert ended == (0, None, None)
    assert "waiting for the nap" in caplog.text


def interrupted_run(directory: Path, engine: str, **options: Any) -> bytes:
    """A run that is stopped after seven jobs, and its journal."""
    steps: list[rw.Progress] = []

    def interrupt(step: rw.Progress) -> None:
        steps.append(step)
        if len(steps) == 7:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rw.run(EXPERIMENT, directory, keep_models=True, engine=engine, callbacks=[interrupt], **options)
    journal = (directory / "journal.jsonl").read_bytes()
    assert 8 <= len(journal.splitlines()) < 25
    return journal


def test_a_run_continues_with_another_engine(expected: dict[str, bytes], tmp_path: Path) -> None:
    before = interrupted_run(tmp_path, "local", workers=2)
    rw.run(EXPERIMENT, tmp_path, keep_models=True)
    assert lasting(tmp_path) == expected
    assert (tmp_path / "journal.jsonl").read_bytes().startswith(before)


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown engine 'spark'; there are 'ray', 'dask', 'local'"):
        rw.run(EXPERIMENT, tmp_path, engine="spark")
    with pytest.raises(ValueError, match="workers is for local processes"):
        rw.run(EXPERIMENT, tmp_path, engine="ray", workers=2)
    with pytest.raises(ValueError, match="client is for Dask"):
        rw.run(EXPERIMENT, tmp_path, engine="local", client=1)
    with pytest.raises(ValueError, match="client and workers are for engines"):
        rw.run(EXPERIMENT, tmp_path, workers=2)
    with pytest.raises(ValueError, match="n_jobs is -1; with an engine"):
        rw.run(EXPERIMENT, tmp_path, engine="local", n_jobs=-1)


def test_local_processes() -> None:
    with _engines.LocalProcesses(2) as processes:
        assert processes.submit(print, "on standard error").result() is None
        assert processes.submit(len, [1, 2]).result() == 2
        with pytest.raises(TypeError):
            processes.submit(len, 3).result()
        with pytest.raises(RuntimeError, match="its process ended with exit code 3"):
            processes.submit(os._exit, 3).result()
        with pytest.raises(Exception, match="lambda|pickle"):
            processes.submit(len, lambda: None).result()
        assert processes.submit(len, [1]).result() == 1


def test_the_command(tmp_path: Path, expected: dict[str, bytes]) -> None:
    text = """
        name = "small"
        metrics = "ndcg@5,map"
        selection = "ndcg@5"
        search = { method = "halving", draws = 4, first_fraction = 0.4 }
        [[data]]
        name = "made"
        synth = { shape = "mslr", queries = 18, documents = 8, features = 4 }
        k = 3
        [[learner]]
        name = "regression"
        grid = { ridge = { from = 1e-6, to = 10.0, log = true } }
        [[learner]]
        name = "mart"
        set = { iterations = 3, min_data_in_leaf = 2 }
    """
    (tmp_path / "small.toml").write_text(text)
    command: list[str | Path] = [sys.executable, "-m", "rankwise", "run", tmp_path / "small.toml", "-o", tmp_path / "out"]
    told = subprocess.run(
        [*command, "--engine", "local", "--workers", "2", "--keep-models"], check=True, capture_output=True, text=True
    )
    assert "regression" in told.stdout and "report.html" in told.stdout
    assert lasting(tmp_path / "out") == expected
    wrong = subprocess.run([*command[:4], tmp_path / "absent.toml"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "cannot read" in wrong.stderr and "Traceback" not in wrong.stderr


@pytest.mark.ray
@pytest.mark.usefixtures("ray")
@pytest.mark.filterwarnings("ignore")
def test_ray( expected: dict[str, bytes], tmp_path: Path) -> None:
    rw.run(EXPERIMENT, tmp_path / "whole", keep_models=True, engine="ray")
    assert lasting(tmp_path / "whole") == expected
    interrupted_run(tmp_path / "cut", "ray")
    rw.run(EXPERIMENT, tmp_path / "cut", keep_models=True, engine="local", workers=1)
    assert lasting(tmp_path / "cut") == expected


@pytest.mark.ray
@pytest.mark.usefixtures("ray")
@pytest.mark.filterwarnings("ignore")
def test_workers_of_ray_that_die(expected: dict[str, bytes], tmp_path: Path) -> None:
    engine = Murderous(_engines.engine("ray"), 5)
    rw.run(EXPERIMENT, tmp_path, keep_models=True, engine=engine)
    assert lasting(tmp_path) == expected and engine.killed > 3


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    # A task whose worker died is reported at once.
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
def test_dask(client: Any, expected: dict[str, bytes], tmp_path: Path) -> None:
    rw.run(EXPERIMENT, tmp_path / "current", keep_models=True, engine="dask")
    rw.run(EXPERIMENT, tmp_path / "given", keep_models=True, engine="dask", client=client)
    assert lasting(tmp_path / "current") == expected and lasting(tmp_path / "given") == expected
    interrupted_run(tmp_path / "cut", "dask")
    rw.run(EXPERIMENT, tmp_path / "cut", keep_models=True, engine="dask")
    assert lasting(tmp_path / "cut") == expected


@pytest.mark.filterwarnings("ignore")
def test_workers_of_dask_that_die(client: Any, expected: dict[str, bytes], tmp_path: Path) -> None:
    engine = Murderous(_engines.engine("dask", client=client), 9)
    rw.run(EXPERIMENT, tmp_path, keep_models=True, engine=engine)
    assert lasting(tmp_path) == expected and engine.killed > 1


@pytest.mark.filterwarnings("ignore")
def test_dask_without_workers(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(TimeoutError, match="waiting for made fold 1 .* the Dask cluster has no workers"),
    ):
        rw.run(EXPERIMENT, tmp_path, engine="dask", client=client, limit=0.5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call", [f"run({EXPERIMENT!r}, 'out', engine='dask')", "distributed.train('mart', ['a'], engine='dask')"]
)
def test_dask_without_a_client(call: str) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    code = f"import rankwise.distributed; rankwise.{call}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ValueError: there is no client of Dask" in told.stderr
