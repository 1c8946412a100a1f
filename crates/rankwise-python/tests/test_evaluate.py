"""`rankwise.evaluate`: values, forms of input, ties, missing queries and errors."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwise as rw

ROOT = Path(__file__).resolve().parents[3]
QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "e": -1}, "q2": {"x": 1, "y": 0}, "q3": {"y": 1}}
RUN = {"q1": {"c": 0.5, "a": 0.9, "z": 0.7}, "q2": {"y": 2, "x": 1}, "q9": {"x": 1.0}}


def program() -> str:
    """The command line, if it was built."""
    given = os.environ.get("RANKWISE_PROGRAM")
    built = [ROOT / "target" / kind / "rankwise" for kind in ("release", "debug")]
    found = [given] if given else [str(path) for path in built if path.exists()]
    if not found:
        pytest.skip("the command line is not built; RANKWISE_PROGRAM may name it")
    return found[0]


def write_trec(directory: Path, qrels: Any, run: Any) -> tuple[Path, Path]:
    judged, ranked = directory / "qrels.txt", directory / "run.txt"
    judged.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()))
    ranked.write_text("".join(f"{q} Q0 {d} 1 {s!r} tag\n" for q, docs in run.items() for d, s in docs.items()))
    return judged, ranked


def generated(ties: bool, seed: int = 7) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Runs with unjudged documents, judged ones that were not retrieved, and missing queries."""
    random = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(30):
        judged = random.choice(60, 25, replace=False)
        found = random.choice(60, 35, replace=False)
        scores = random.integers(0, 6, 35) if ties else random.normal(size=35)
        if query % 10 != 1:
            qrels[f"q{query}"] = {f"d{d}": int(g) for d, g in zip(judged, random.integers(-1, 4, 25))}
        if query % 10 != 2:
            run[f"q{query}"] = {f"d{d}": float(s) for d, s in zip(found, scores)}
    return qrels, run


def test_values_by_hand() -> None:
    found = rw.evaluate(QRELS, RUN, "ndcg@10,map,P@1,mrr")
    assert found.query_ids == ["q1", "q2"]
    # q1 ranks a (grade 2), z (unjudged), c (grade 1); the best order is 2, 1. q2 has its document second.
    ndcg = [(2 + 1 / 2) / (2 + 1 / math.log2(3)), 1 / math.log2(3)]
    expected = [[ndcg[0], (1 + 2 / 3) / 2, 1.0, 1.0], [ndcg[1], 0.5, 0.0, 0.5]]
    np.testing.assert_allclose(found.values, expected, rtol=1e-15)
    assert found.mean["map"] == pytest.approx((5 / 6 + 0.5) / 2, rel=1e-15)
    assert found["AP"] == found["map"] == found.mean["map"]
    assert dict(found) == found.mean
    assert list(found) == found.metrics == ["ndcg@10", "map", "p@1", "mrr"]
    assert found.notes[:2] == [
        "1 topic in the judgements but not in the run: left out of the averages",
        "1 topic in the run but not judged: left out",
    ]
    with pytest.raises(KeyError, match="err was not evaluated"):
        found["err"]


@pytest.mark.parametrize("name", ["answers.json", "trec-answers.json"])
def test_stored_answers_of_trec_eval(name: str) -> None:
    stored = json.loads((ROOT / "testdata/metrics" / name).read_text())
    sets = json.loads((ROOT / "testdata/metrics/answers.json").read_text())["sets"] | stored["sets"]
    compared = 0
    for answer in stored["answers"]:
        if answer["preset"] != "trec" or answer["tool"] != "pytrec_eval":
            continue
        topics = sets[answer["set"]]
        qrels = {q: {d: g for d, g in zip(t["ids"], t["labels"]) if g is not None} for q, t in enumerate(topics)}
        run = {q: dict(zip(t["ids"], t["scores"])) for q, t in enumerate(topics)}
        found = rw.evaluate(qrels, run, answer["metric"])
        assert found.query_ids == list(range(len(topics)))
        np.testing.assert_allclose(found.values[:, 0], answer["values"], rtol=answer["tolerance"], atol=1e-12)
        compared += 1
    assert compared > 10


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("preset", ["trec", "default", "ranx", "catboost"])
def test_every_form_gives_the_values_of_the_command_line(tmp_path: Path, ties: bool, preset: str) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    qrels, run = generated(ties)
    metrics = "ndcg@10,map,bpref,judged@5,num-ret,iprec@0.5"
    expected = rw.evaluate(qrels, run, metrics, preset=preset)
    judged, ranked = write_trec(tmp_path, qrels, run)
    qrel_rows = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    run_rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration", defaults=["0"])
    Scored = namedtuple("Scored", "query_id doc_id score")
    forms: list[tuple[Any, Any]] = [
        (judged, str(ranked)),
        (
            pd.DataFrame(qrel_rows, columns=["qid", "docno", "label"]),
            pd.DataFrame(run_rows, columns=["qid", "docno", "score"]).assign(rank=0),
        ),
        (
            pl.DataFrame(qrel_rows, schema=["query_id", "doc_id", "relevance"], orient="row"),
            pl.DataFrame(run_rows, schema=["q_id", "doc_id", "score"], orient="row"),
        ),
        ([Qrel(*row) for row in qrel_rows], (Scored(*row) for row in run_rows)),
        (qrels, ranked),
    ]
    for form in forms:
        found = rw.evaluate(*form, metrics, preset=preset)
        assert found.query_ids == expected.query_ids
        np.testing.assert_array_equal(found.values, expected.values)
        assert found.mean == expected.mean
        assert found.notes == expected.notes
    printed = subprocess.run(
        [program(), "eval", ranked, judged, "--metrics", metrics, "--preset", preset, "--per-query", "--json"],
        check=True,
        capture_output=True,
    )
    told = json.loads(printed.stdout)
    assert told["means"] == expected.mean
    assert [list(row["values"].values()) for row in told["per_query"]] == expected.values.tolist()
    assert told["totals"] == expected.total


@pytest.mark.filterwarnings("ignore")  # numba warns of itself
def test_ranx_objects() -> None:
    ranx = pytest.importorskip("ranx")
    qrels, run = generated(ties=False)
    qrels = {q: {d: max(g, 0) for d, g in docs.items()} for q, docs in qrels.items() if q in run}
    run = {q: docs for q, docs in run.items() if q in qrels}
    found = rw.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@10,map,mrr", preset="ranx")
    plain = rw.evaluate(qrels, run, "ndcg@10,map,mrr", preset="ranx")
    assert dict(zip(found.query_ids, found.values.tolist())) == dict(zip(plain.query_ids, plain.values.tolist()))
    theirs: Any = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), ["ndcg@10", "map", "mrr"])
    for name, value in theirs.items():
        assert found[name] == pytest.approx(value, rel=1e-12)


def test_ids_of_other_types_and_objects() -> None:
    strings = rw.evaluate({"1": {"10": 1, "20": 0}}, {"1": {"10": 1.0, "20": 1.0}}, "map")
    numbers = rw.evaluate({1: {10: 1, 20: 0}}, {1: {10: 1, 20: np.float32(1)}}, "map")
    assert numbers.query_ids == [1]
    assert numbers["map"] == strings["map"] == 0.5
    # Equal texts that are different objects.
    copies = {"".join(q): {"".join(list(d)): s for d, s in docs.items()} for q, docs in RUN.items()}
    assert rw.evaluate(QRELS, copies, "map").mean == rw.evaluate(QRELS, RUN, "map").mean
    accents = rw.evaluate({"q": {"é": 1, "z": 0}}, {"q": {"z": 1, "é": 1}}, "mrr")
    assert accents["mrr"] == 1.0


def test_ties_in_single_precision_are_broken_by_id() -> None:
    qrels, close = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0 + 1e-12, "b": 1.0}}
    assert rw.evaluate(qrels, close, "mrr")["mrr"] == 0.5
    assert rw.evaluate(qrels, close, "mrr", conventions={"scores": "f64"})["mrr"] == 1.0
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert rw.evaluate(qrels, tied, "mrr", conventions={"ties": "average"})["mrr"] == 0.75
    assert rw.evaluate(qrels, tied, "mrr", conventions={"ties": "input"})["mrr"] == 1.0
    assert rw.evaluate(qrels, tied, "mrr", conventions={"ties": "docid", "scores": "f64"})["mrr"] == 0.5


def test_missing_queries_and_empty_runs() -> None:
    assert rw.evaluate(QRELS, RUN, "P@1", complete=True).values[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert rw.evaluate(QRELS, {}, "P@1", complete=True).mean == {"p@1": 0.0}
    assert rw.evaluate(QRELS, {"q1": {}}, "P@1,num-rel").values.tolist() == [[0.0, 2.0]]
    assert math.isnan(rw.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, "map", conventions={"empty": "skip"})["map"])
    with pytest.raises(ValueError, match="the run has no queries"):
        rw.evaluate(QRELS, {})
    with pytest.raises(ValueError, match="qrels has no queries"):
        rw.evaluate({}, RUN, complete=True)
    with pytest.raises(ValueError, match="query ids are of type int, and those of qrels of type str"):
        rw.evaluate(QRELS, {1: {"a": 1.0}})


@pytest.mark.parametrize(
    ("qrels", "run", "error", "message"),
    [
        (QRELS, {"q1": {"a": math.nan}}, ValueError, "score of document 'a' of query 'q1' is not a number"),
        (QRELS, {"q1": {"a": "0.5"}}, TypeError, "score of document 'a' of query 'q1' is of type str"),
        ({"q1": {"a": None}}, RUN, TypeError, "grade of document 'a' of query 'q1' is of type NoneType"),
        ({"q1": {"a": math.inf}}, RUN, ValueError, "grades are finite"),
        (QRELS, {"q1": ["a", "b"]}, TypeError, "the run has a value of type list for the query 'q1'"),
        (QRELS, np.ones(3), TypeError, "a run of type ndarray"),
        (QRELS, 3, TypeError, "a run of type int"),
        (np.ones(3), RUN, TypeError, "qrels of type ndarray cannot be joined"),
        (QRELS, [1, 2], TypeError, "an item of type int"),
        ("/nowhere/qrels", RUN, FileNotFoundError, "/nowhere/qrels"),
        ([1, 0], [1.0, 2.0, 3.0], ValueError, "3 scores for 2 documents"),
        ([1, math.nan], [1.0, 2.0], ValueError, "label of row 1 is NaN"),
        ([1, 0], [1.0, math.nan], ValueError, "not a number"),
    ],
)
def test_what_cannot_be_evaluated(qrels: Any, run: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rw.evaluate(qrels, run)


def test_frames_that_do_not_fit() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="one of score, scores, sim, prediction is needed"):
        rw.evaluate(QRELS, pd.DataFrame({"qid": ["q1"], "docno": ["a"], "value": [1.0]}))
    twice = pd.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "a"], "score": [1.0, 2.0]})
    with pytest.raises(ValueError, match="document 'a' occurs twice in query 'q1' of a run"):
        rw.evaluate(QRELS, twice)


def test_wrong_names() -> None:
    with pytest.raises(ValueError, match="did you mean `ndcg`"):
        rw.evaluate(QRELS, RUN, "ndgc@10")
    with pytest.raises(ValueError, match="unknown preset"):
        rw.evaluate(QRELS, RUN, preset="trek")
    with pytest.raises(ValueError, match="did you mean `gain`"):
        rw.evaluate(QRELS, RUN, conventions={"gian": "linear"})
    with pytest.raises(ValueError, match="n_jobs is 0"):
        rw.evaluate(QRELS, RUN, n_jobs=0)
    with pytest.raises(ValueError, match="qid is for labels and scores"):
        rw.evaluate(QRELS, RUN, qid=[1])
    with pytest.raises(TypeError, match="item of type int"):
        rw.evaluate(QRELS, RUN, ["ndcg@10", 3])  # type: ignore[list-item]


def test_data_and_arrays_agree_whatever_the_order_of_rows() -> None:
    random = np.random.default_rng(3)
    labels, scores = random.integers(0, 5, 200), random.integers(0, 20, 200).astype(float)
    qid = np.repeat(np.arange(20), 10)
    mixed = random.permutation(200)
    X = random.random((200, 2), dtype=np.float32)
    plain = rw.evaluate(labels, scores, "ndcg@10,map,err", qid=qid)
    assert plain.query_ids == list(range(20))
    by_size = rw.evaluate(labels, scores, "ndcg@10,map,err", group=[10] * 20)
    np.testing.assert_array_equal(plain.values, by_size.values)
    data = rw.Data(X, labels, qid=qid)
    np.testing.assert_array_equal(rw.evaluate(data, scores, ["ndcg@10", "map", "err"]).values, plain.values)
    shuffled = rw.Data(X[mixed], labels[mixed], qid=qid[mixed])
    found = rw.evaluate(shuffled, scores[mixed], "ndcg@10,map,err")
    by_id = dict(zip(found.query_ids, found.values.tolist()))
    np.testing.assert_allclose([by_id[str(q)] for q in range(20)], plain.values, rtol=1e-14)
    ranker = rw.Recipe("regression").fit(data)
    assert rw.evaluate(data, ranker).mean == rw.evaluate(data, ranker.score(data)).mean
    with pytest.raises(ValueError, match="scores has 199 values, and the data has 200 documents"):
        rw.evaluate(data, scores[:-1])
    with pytest.raises(ValueError, match="the data has no labels"):
        rw.evaluate(rw.Data(X, qid=qid), scores)


def test_one_query_by_hand() -> None:
    # Gains 3, 0, 1 in the order of scores; the best order is 3, 1, 0.
    dcg, best = 3 + 1 / 2, 3 + 1 / math.log2(3)
    assert rw.evaluate([0, 1, 2], [0.5, 0.1, 0.9])["ndcg@10"] == pytest.approx(dcg / best, rel=1e-15)


def test_weights_of_queries_weigh_the_mean() -> None:
    data = rw.Data([[0.0]] * 4, [1, 0, 1, 0], qid=[1, 1, 2, 2], query_weight=[3, 1])
    found = rw.evaluate(data, [1, 0, 0, 1], "P@1")
    assert found["p@1"] == 0.75
    assert "weighted by query weight" in repr(found)


def test_threads_change_nothing() -> None:
    qrels, run = generated(ties=True)
    one, two = (rw.evaluate(qrels, run, "ndcg,map,err", n_jobs=jobs) for jobs in (1, 2))
    assert one.values.tobytes() == two.values.tobytes()


def test_the_table_fits_the_terminal_and_html_is_escaped() -> None:
    found = rw.evaluate(QRELS, RUN, "official,ndcg@10:gain=linear:ties=worst:empty=skip")
    assert max(map(len, repr(found).splitlines())) <= 80
    assert "num-ret" in repr(found) and "5 in all" in repr(found)
    assert found._repr_html_().count("<tr>") == len(found) + 1
    compared = rw.compare(QRELS, {"<b>": RUN, "c": RUN})
    assert "&lt;b&gt;" in compared._repr_html_() and "<b>" not in compared._repr_html_()


def test_frames_of_results() -> None:
    pd = pytest.importorskip("pandas")
    found = rw.evaluate(QRELS, RUN, "map,P@1")
    assert isinstance(found.per_query, pd.DataFrame)
    assert found.per_query.columns.tolist() == ["query_id", "map", "p@1"]
    assert found.per_query["p@1"].tolist() == [1.0, 0.0]
    assert found.to_frame()["mean"].tolist() == list(found.mean.values())


def test_notes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="rankwise"):
        found = rw.evaluate(QRELS, RUN)
    assert [record.message for record in caplog.records] == found.notes


def test_list_of_metrics() -> None:
    listed = rw.metrics()
    names = [entry["name"] for entry in listed["metrics"]]
    assert {"ndcg", "map", "mrr", "err", "bpref"} <= set(names) and len(names) == len(set(names))
    assert all(entry["title"] and entry["summary"] for part in listed.values() for entry in part)
    assert "trec" in [entry["name"] for entry in listed["presets"]]
    assert max(map(len, repr(listed).splitlines())) <= 80
    assert listed._repr_html_().count("<table") == 2
