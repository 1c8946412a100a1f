"""`rankwise.run`, `cross_validate` and `tune`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwise as rw

from test_evaluate import program

EXPERIMENT = """
name = "small"
metrics = "ndcg@5,map"
selection = "ndcg@5"

[[data]]
name = "made"
synth = { shape = "mslr", queries = 24, documents = 8, features = 5 }
k = 3

[[learner]]
name = "regression"
grid = { ridge = [1e-6, 1.0] }

[[learner]]
name = "prank"
"""
AS_DICTIONARY = {
    "name": "small",
    "metrics": "ndcg@5,map",
    "selection": "ndcg@5",
    "data": [{"name": "made", "synth": {"shape": "mslr", "queries": 24, "documents": 8, "features": 5}, "k": 3}],
    "learner": [{"name": "regression", "grid": {"ridge": [1e-6, 1.0]}}, {"name": "prank"}],
}


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(EXPERIMENT)
    return path


def findings(directory: Path) -> bytes:
    return (directory / "findings.json").read_bytes()


def test_the_findings_are_those_of_the_command_line(experiment: Path, tmp_path: Path) -> None:
    result = rw.run(experiment, tmp_path / "python", n_jobs=2)
    subprocess.run([program(), "-q", "run", experiment, "-o", tmp_path / "shell"], check=True, capture_output=True)
    assert findings(tmp_path / "python") == findings(tmp_path / "shell")
    names = [{path.name for path in (tmp_path / kind).iterdir()} for kind in ("python", "shell")]
    # A command line without Parquet does not write that file.
    assert names[0] - {"per_query.parquet"} == names[1] - {"per_query.parquet"}
    assert json.loads(findings(tmp_path / "python")) == result.findings
    assert result.succeeded and result.report.read_text().startswith("<!")


def test_a_dictionary_is_the_same_experiment(experiment: Path, tmp_path: Path) -> None:
    rw.run(experiment, tmp_path / "file")
    rw.run(AS_DICTIONARY, tmp_path / "dictionary")
    assert findings(tmp_path / "file") == findings(tmp_path / "dictionary")
    with pytest.raises(ValueError, match="learner"):
        rw.run({**AS_DICTIONARY, "learner": [{"name": "regresion"}]}, tmp_path / "wrong")
    with pytest.raises(FileNotFoundError):
        rw.run(tmp_path / "nothing.toml")


def test_a_stopped_run_resumes_and_ends_with_the_same_bytes(experiment: Path, tmp_path: Path) -> None:
    whole = rw.run(experiment, tmp_path / "whole")
    calls: list[rw.Progress] = []

    def interrupt(step: rw.Progress) -> None:
        calls.append(step)
        if len(calls) == 4:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rw.run(experiment, tmp_path / "resumed", n_jobs=1, callbacks=[interrupt])
    done = len((tmp_path / "resumed" / "journal.jsonl").read_text().splitlines())
    assert 4 <= done < 13
    assert not (tmp_path / "resumed" / "findings.json").exists()
    steps: list[rw.Progress] = []
    rw.run(experiment, tmp_path / "resumed", callbacks=[steps.append])
    assert findings(tmp_path / "resumed") == findings(whole.directory)
    assert sorted(step.iteration for step in steps) == list(range(1, 13)) and steps[0].total == 12
    # Nothing is trained again: the journal does not grow.
    journal = (tmp_path / "resumed" / "journal.jsonl").read_bytes()
    rw.run(experiment, tmp_path / "resumed")
    assert (tmp_path / "resumed" / "journal.jsonl").read_bytes() == journal


def test_tables_of_an_experiment(experiment: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    result = rw.run(experiment, tmp_path / "out", keep_models=True)
    board = result.leaderboard
    assert board.columns.tolist() == ["data", "system", "ndcg@5", "map", "low", "high", "p_to_best"]
    assert board["ndcg@5"].is_monotonic_decreasing and np.isnan(board["p_to_best"][0])
    per_query = result.per_query
    assert len(per_query) == 2 * 24 and set(per_query["fold"]) == {0, 1, 2}
    by_system = per_query.groupby("system")["map"].mean()
    for system, value in zip(board["system"], board["map"]):
        assert by_system[system] == pytest.approx(value, rel=1e-12)
    assert len(result.trials) == 6 and len(result.comparisons) == 1
    assert result.comparisons["p_holm"][0] == board["p_to_best"][1]
    assert max(map(len, repr(result).splitlines()[:-1])) <= 80
    assert "regression" in result._repr_html_() and "report.html" in result._repr_html_()
    assert rw.load(tmp_path / "out/models/made/regression/fold-1.json").learner == "regression"


def made(seed: int = 1) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(240, 4)).astype(np.float32)
    labels = np.digitize(X[:, 0] + 0.5 * random.normal(size=240), [0.3, 1.0])
    return X, labels, np.repeat(np.arange(30), 8)


@pytest.mark.parametrize("name", ["regression", "lambda-mart", "list-net"])
def test_cross_validation_is_a_loop_written_by_hand(name: str) -> None:
    pytest.importorskip("pandas")
    X, y, qid = made()
    parameters: dict[str, Any] = {"iterations": 5} if name == "lambda-mart" else {}
    recipe = rw.Recipe(name, seed=4, **parameters)
    found = rw.cross_validate(recipe, X, y, qid=qid, cv=3, metrics="ndcg@10,map")
    folds = found.per_query.groupby("fold")["query_id"].apply(lambda ids: [int(query) for query in ids])
    assert sorted(sum(folds, [])) == list(range(30)) and folds.map(len).tolist() == [10, 10, 10]
    for fold, queries in enumerate(folds):
        tested = np.isin(qid, queries)
        ranker = recipe.fit(rw.Data(X[~tested], y[~tested], qid=qid[~tested]))
        assert ranker.to_bytes() == found.rankers[fold].to_bytes()
        scores = ranker.score(X[tested])
        np.testing.assert_array_equal(scores, found.scores[tested])
        by_hand = rw.evaluate(y[tested], scores, "ndcg@10,map", qid=qid[tested])
        assert by_hand.mean == dict(zip(found.metrics, found.folds.iloc[fold, 1:]))
    assert found["map"] == pytest.approx(rw.evaluate(y, found.scores, "map", qid=qid)["map"], rel=1e-14)


def test_rows_in_any_order_and_threads_change_nothing() -> None:
    X, y, qid = made()
    mixed = np.random.default_rng(2).permutation(240)
    one = rw.cross_validate("regression", X, y, qid=qid, cv=5, n_jobs=1)
    two = rw.cross_validate("regression", rw.Data(X, y, qid=qid), cv=5, n_jobs=2)
    assert one.scores.tobytes() == two.scores.tobytes() and one.mean == two.mean
    shuffled = rw.cross_validate("regression", X[mixed], y[mixed], qid=qid[mixed], cv=5)
    assert shuffled.scores.shape == (240,) and not np.isnan(shuffled.scores).any()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_splitters_of_scikit_learn() -> None:
    model_selection = pytest.importorskip("sklearn.model_selection")
    X, y, qid = made()
    splitter = model_selection.GroupKFold(4)
    found = rw.cross_validate("regression", X, y, qid=qid, cv=splitter, metrics="ndcg@10")
    for fold, (train, test) in enumerate(splitter.split(X, y, qid)):
        ranker = rw.Recipe("regression").fit(rw.Data(X[train], y[train], qid=qid[train]))
        assert ranker.to_bytes() == found.rankers[fold].to_bytes()
        np.testing.assert_array_equal(ranker.score(X[test]), found.scores[test])
    same = rw.cross_validate("regression", X, y, qid=qid, cv=list(splitter.split(X, y, qid)), metrics="ndcg@10")
    assert same.mean == found.mean
    with pytest.raises(ValueError, match="fold 1 has only some rows of query 4; divide by query"):
        rw.cross_validate("regression", X, y, qid=qid, cv=model_selection.KFold(7))
    with pytest.raises(ValueError, match="fold 1 has row 240, and there are 240 rows"):
        rw.cross_validate("regression", X, y, qid=qid, cv=[(range(8, 248), range(8))])
    with pytest.raises(ValueError, match="fold 1 trains and tests on query number 0"):
        rw.cross_validate("regression", X, y, qid=qid, cv=[(range(240), range(8))])


def test_estimators_and_wrong_arguments() -> None:
    X, y, qid = made()

    class Estimator:
        def to_recipe(self) -> rw.Recipe:
            return rw.Recipe("regression", ridge=0.5, metric="map")

    found = rw.cross_validate(Estimator(), X, y, qid=qid)
    assert found.metrics == ["map"] and found.rankers[0].parameters["ridge"] == 0.5
    assert "fold" in repr(found) and found._repr_html_().count("<tr>") == 7
    with pytest.raises(TypeError, match="a value of type int is no recipe"):
        rw.cross_validate(3, X, y, qid=qid)
    with pytest.raises(ValueError, match="31 folds are not possible with 30 training queries"):
        rw.cross_validate("regression", X, y, qid=qid, cv=31)
    with pytest.raises(ValueError, match="a Data has labels and queries already"):
        rw.cross_validate("regression", rw.Data(X, y, qid=qid), y)
    with pytest.raises(ValueError, match="no labels"):
        rw.cross_validate("regression", X, qid=qid)


def test_callbacks_of_cross_validation() -> None:
    X, y, qid = made()
    steps: list[rw.Progress] = []
    rw.cross_validate("regression", X, y, qid=qid, cv=4, callbacks=[steps.append])
    assert [(step.iteration, step.total, step.name) for step in steps] == [(i, 4, "ndcg@10") for i in range(1, 5)]

    def refuse(step: rw.Progress) -> None:
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more"):
        rw.cross_validate("regression", X, y, qid=qid, cv=4, callbacks=[refuse])


def save_letor(path: Path, X: Any, y: Any, qid: Any) -> Path:
    rows = (f"{y[i]} qid:{qid[i]} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(X[i].tolist())) for i in range(len(X)))
    path.write_text("\n".join(rows) + "\n")
    return path


def test_tuning_is_that_of_the_command_line(tmp_path: Path) -> None:
    X, y, qid = made()
    train, model = save_letor(tmp_path / "train.txt", X, y, qid), tmp_path / "model.json"
    told = subprocess.run(
        [program(), "tune", "regression", "--train", train, "--grid", "ridge=[1e-6, 1e-2, 100.0]", "--folds", "4",
         "--seed", "3", "-o", model, "--json"],
        check=True, capture_output=True,
    )  # fmt: skip
    found = rw.tune(rw.Recipe("regression", seed=3), rw.read(train), grid={"ridge": [1e-6, 1e-2, 100.0]}, cv=4)
    assert found.ranker.to_bytes() == model.read_bytes()
    printed = json.loads(told.stdout)
    assert [trial["valid"] for trial in printed["trials"]] == list(found.trials["ndcg@10"])
    assert printed["valid"] == found.value == max(found.trials["ndcg@10"])
    assert list(found.trials["ridge"]) == [1e-6, 1e-2, 100.0]
    assert "4 folds" in repr(found) and found.parameters["ridge"] == printed["parameters"]["ridge"]


def test_tuning_on_validation_data_and_by_random_draws() -> None:
    pytest.importorskip("pandas")
    X, y, qid = made()
    valid = rw.Data(*made(2)[:2], qid=qid)
    found = rw.tune("regression", X, y, qid=qid, valid=valid, grid={"ridge": [1e-6, 1e3]})
    best = found.trials["ridge"][int(found.trials["ndcg@10"].argmax())]
    by_hand = rw.Recipe("regression", ridge=best).fit(rw.Data(X, y, qid=qid), valid)
    assert by_hand.to_bytes() == found.ranker.to_bytes()
    assert found.value == rw.evaluate(valid, by_hand)["ndcg@10"]
    grid = {"ridge": {"from": 1e-3, "to": 1e3, "log": True}}
    drawn = rw.tune("regression", X, y, qid=qid, grid=grid, method="random", draws=4, cv=2)
    assert len(drawn.trials) == 4 and drawn.trials["ridge"].between(1e-3, 1e3).all()
    with pytest.raises(ValueError, match='unknown method "fastest"'):
        rw.tune("regression", X, y, qid=qid, grid=grid, method="fastest")
    with pytest.raises(ValueError, match="ridgy"):
        rw.tune("regression", X, y, qid=qid, grid={"ridgy": [1]})
    with pytest.raises(TypeError, match="valid is a value of type tuple"):
        rw.tune("regression", X, y, qid=qid, grid=grid, valid=(X, y))  # type: ignore[arg-type]
