"""`rankwise.compare`: the figures of the command line, and charts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwise as rw

from test_evaluate import generated, program, write_trec

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}
GOOD, BAD = {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}


def test_by_hand() -> None:
    # Three differences of 0.5 and a tie: of the 8 sign assignments, 2 are as extreme.
    old = {"q1": BAD, "q2": BAD, "q3": BAD, "q4": GOOD}
    new = {"q1": GOOD, "q2": GOOD, "q3": GOOD, "q4": GOOD}
    found = rw.compare(QRELS, {"old": old, "new": new}, "mrr,P@1")
    assert found.mean == {"old": {"mrr": 0.625, "p@1": 0.25}, "new": {"mrr": 1.0, "p@1": 1.0}}
    pair = found.by_metric["mrr"]["pairs"][0]
    assert (pair["difference"], pair["wins"], pair["ties"], pair["losses"]) == (0.375, 3, 1, 0)
    assert (pair["p_permutation"], pair["exact"]) == (0.25, True)
    assert found.values.shape == (2, 4, 2)


def test_a_run_that_lacks_a_query_retrieved_nothing() -> None:
    found = rw.compare(QRELS, {"a": {"q1": GOOD, "q2": GOOD}, "b": {"q2": GOOD, "q3": GOOD}}, "mrr")
    assert found.query_ids == ["q1", "q2", "q3"]
    assert found.values[:, :, 0].tolist() == [[1, 1, 0], [0, 1, 1]]
    assert found.notes[0] == "2 topics are missing from some of the runs; there they count as empty rankings"


@pytest.mark.parametrize("all_pairs", [False, True])
def test_runs_as_on_the_command_line(tmp_path: Path, all_pairs: bool) -> None:
    qrels, first = generated(ties=True)
    runs = {"a": first, "b": generated(ties=False, seed=8)[1], "c": generated(ties=True, seed=9)[1]}
    found = rw.compare(qrels, runs, "map,ndcg@10", all_pairs=all_pairs, seed=3, permutations=2000)
    paths = []
    for name, run in runs.items():
        (tmp_path / name).mkdir()
        judged, path = write_trec(tmp_path / name, qrels, run)
        paths.append(path)
    options = ["--metrics", "map,ndcg@10", "--seed", "3", "--permutations", "2000", "--per-query", "--json"]
    told = json.loads(
        subprocess.run(
            [program(), "compare", *paths, judged, *options, *(["--all-pairs"] if all_pairs else [])],
            check=True,
            capture_output=True,
        ).stdout
    )
    for ours, theirs in zip(found.by_metric.values(), told["by_metric"]):
        for pair, told_pair in zip(ours["pairs"], theirs["pairs"], strict=True):
            # Builds with other optimisations may round the distribution function of the t-test otherwise.
            for name in ("p_t", "p_t_holm"):
                assert pair.pop(name) == pytest.approx(told_pair.pop(name), rel=1e-12)
            assert pair == told_pair
        assert [s["mean"] for s in ours["systems"]] == [s["mean"] for s in theirs["systems"]]
        assert [s["interval"] for s in ours["systems"]] == [s["interval"] for s in theirs["systems"]]
    rows = [[row["values"][m] for m in found.metrics] for row in told["per_query"]]
    np.testing.assert_array_equal(found.values, np.array(rows).transpose(2, 0, 1))


def data_and_scores() -> tuple[rw.Data, dict[str, Any]]:
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 3)).astype(np.float32)
    labels = np.digitize(X[:, 0] + random.normal(size=300), [0.5, 1.5])
    data = rw.Data(X, labels, qid=np.repeat(np.arange(30), 10))
    return data, {"first": X[:, 0], "second": X[:, 1], "model": rw.Recipe("regression").fit(data)}


def test_data_and_a_baseline() -> None:
    pd = pytest.importorskip("pandas")
    data, systems = data_and_scores()
    found = rw.compare(data, systems, ["ndcg@10", "map"], baseline="second")
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame[["metric", "system", "against"]].values.tolist() == [
        [metric, system, "second"] for metric in ("ndcg@10", "map") for system in ("first", "model")
    ]
    model = systems["model"].score(data)
    for name, scores in {**systems, "model": model}.items():
        assert found.mean[name] == rw.evaluate(data, scores, "ndcg@10,map").mean
    difference = frame["difference"][0]
    assert difference == found.mean["first"]["ndcg@10"] - found.mean["second"]["ndcg@10"]
    assert (frame["low"] < frame["difference"]).all() and (frame["difference"] < frame["high"]).all()
    per_query = found.per_query
    assert per_query.columns.tolist() == ["query_id", "metric", "first", "second", "model"]
    means = per_query[per_query["metric"] == "map"][["first", "second", "model"]].mean()
    assert means.tolist() == pytest.approx([found.mean[name]["map"] for name in systems], rel=1e-12)
    assert len(found.means_frame()) == 6


def test_what_cannot_be_compared() -> None:
    data, systems = data_and_scores()
    with pytest.raises(ValueError, match="at least 2 systems, and there is 1"):
        rw.compare(data, {"a": systems["first"]})
    with pytest.raises(ValueError, match="baseline 'x' is not among the systems: first, second, model"):
        rw.compare(data, systems, baseline="x")
    with pytest.raises(ValueError, match="exclude each other"):
        rw.compare(data, systems, baseline="first", all_pairs=True)
    with pytest.raises(ValueError, match="the scores of b has 2 values"):
        rw.compare(data, {"a": systems["first"], "b": [1, 2]})
    with pytest.raises(ValueError, match="b: no query of the run is judged"):
        rw.compare(QRELS, {"a": {"q1": GOOD}, "b": {"q7": GOOD}})
    with pytest.raises(ValueError, match="confidence"):
        rw.compare(data, systems, confidence=1.5)


def test_the_text_fits_the_terminal() -> None:
    data, systems = data_and_scores()
    found = rw.compare(data, {"a system with a name that is quite a bit too long for a table " * 2: [0] * 300, **systems})
    assert max(map(len, repr(found).splitlines())) <= 80
    assert found._repr_html_().count("<table") == 2


def test_charts(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data, systems = data_and_scores()
    found = rw.compare(data, systems, "ndcg@10,map")
    axes = found.plot("AP")
    assert [text.get_text() for text in axes.get_yticklabels()] == ["first", "second", "model"]
    assert axes.get_xlabel().startswith("map, mean and 95 %")
    axes.figure.savefig(tmp_path / "means.png")
    drawn = found.plot_per_query("first", "second")
    heights = [bar.get_height() for bar in drawn.patches]
    assert heights == sorted(heights, reverse=True) and len(heights) == 30
    expected = found.values[0, :, 0] - found.values[1, :, 0]
    np.testing.assert_array_equal(np.sort(heights), np.sort(expected))
    drawn.figure.savefig(tmp_path / "queries.png")
    with pytest.raises(KeyError, match="nobody was not compared"):
        found.plot_per_query("first", "nobody")
    with pytest.raises(KeyError, match="err was not compared"):
        found.plot("err")
    plt.close("all")
