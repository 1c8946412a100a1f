"""`rankwise.clicks`: forms of input, problems, models, propensities, estimates, interleaving."""

from __future__ import annotations

import json
import logging
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_evaluate import program

import rankwise as rw
from rankwise import clicks

SESSIONS: list[dict[str, Any]] = [
    {"id": 1, "query": "q", "shown": ["a", "b", "c"], "clicks": [{"doc": "c", "time": 2.5}], "time": 1},
    {"id": 2, "query": "q", "shown": ["c", "b"], "clicks": ["b"], "ranker": "prod"},
    {"id": 3, "query": "q", "shown": ["c", "a"], "clicks": []},
]


def data_of(small: SimpleNamespace) -> rw.Data:
    return rw.Data(small.X, small.y, qid=small.qid)


@pytest.fixture
def log(small: SimpleNamespace) -> clicks.Log:
    """Users who look at rank r with probability 1/r, and lists of two rankers."""
    rankers = {"one": small.X[:, 0], "other": -small.X[:, 1]}
    return clicks.simulate(data_of(small), rankers, sessions=400, noise=0.2, depth=6)


def test_dictionaries_files_and_frames_are_the_same(tmp_path: Path) -> None:
    log = clicks.Log(SESSIONS)
    path = tmp_path / "log.jsonl.zst"
    log.save(path)
    rows = [
        (s["id"], s["query"], d, rank, any(d in (c, c["doc"] if isinstance(c, dict) else c) for c in s["clicks"]))
        for s in SESSIONS
        for rank, d in enumerate(s["shown"], 1)
    ]
    columns = dict(zip(("session", "query", "document", "rank", "clicked"), map(list, zip(*reversed(rows)))))
    for other in (clicks.Log(path), clicks.Log([path]), clicks.Log(columns)):
        stats, expected = other.stats(), log.stats()
        if other is not None and "prod" not in stats["rankers"]:
            expected = {**expected, "rankers": {}}
        assert stats == expected
    assert list(clicks.Log(path)) == list(log)
    assert list(log)[0]["clicks"] == [{"doc": "c", "time": 2.5}]


def test_events_of_metarank(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    shown = {"event": "ranking", "id": "r", "timestamp": "1000", "items": [{"id": "a"}, {"id": "b"}]}
    lines = [
        {**shown, "fields": [{"name": "search", "value": "cat"}]},
        {"event": "interaction", "id": "i", "ranking": "r", "timestamp": "4000", "type": "buy", "item": "b"},
    ]
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    [session] = clicks.Log.from_metarank(events, query_field="search", types=["buy"])
    assert (session["query"], session["shown"], session["clicks"][0]["doc"]) == ("cat", ["a", "b"], "b")
    with pytest.raises(ValueError, match="no rankings that can be used"):
        clicks.Log.from_metarank(events)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_package(package: str) -> None:
    module = pytest.importorskip(package)
    make = module.table if package == "pyarrow" else module.DataFrame
    frame = make({"id": [1, 1], "qid": [7, 7], "doc_id": ["a", "b"], "click": [False, True], "ranker": ["x", "x"]})
    [session] = clicks.Log(frame)
    assert session == {"id": "1", "query": "7", "ranker": "x", "shown": ["a", "b"], "clicks": [{"doc": "b"}]}


def test_problems_are_counted_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bad = [*SESSIONS, SESSIONS[0], {"id": 4, "query": "q", "shown": ["a"], "clicks": ["z"]}]
    with caplog.at_level(logging.WARNING, "rankwise"):
        log = clicks.Log(bad)
    assert "sessions with the id of an earlier one; left out: 1 (number 4" in caplog.text
    counts = {problem["problem"]: problem["count"] for problem in log.report["problems"]}
    assert counts == {"duplicate-session": 1, "unknown-click": 1}
    path = tmp_path / "log.jsonl"
    path.write_text('{"id": 1, "query": "q", "shown": ["a"], "clicks": []}\n{"id": 2, "qu\n')
    caplog.clear()
    with caplog.at_level(logging.WARNING, "rankwise"):
        from_file = clicks.Log(path)
        assert from_file.stats()["sessions"] == 1
        assert from_file.stats()["sessions"] == 1
    assert caplog.text.count("the JSON is truncated") == 1
    assert from_file.report["problems"][0]["examples"] == [f"{path}:2: the JSON is truncated"]


def test_every_click_model_foresees_clicks(log: clicks.Log, tmp_path: Path) -> None:
    for kind in ("pbm", "cascade", "dcm", "sdbn", "dbn", "ubm"):
        model = log.fit(kind, held_out=0.2)
        assert model.kind == kind and model.held_out is not None and model.fitted is not None
        assert model.held_out["sessions"] + model.held_out["impossible"] > 700
        query, documents = next(iter(model.attractiveness.items()))
        shown = list(documents)[:4]
        probabilities = model.predict(query, shown)
        assert probabilities.shape == (4,) and np.all((probabilities > 0) & (probabilities < 1))
        assert np.allclose(model.predict(query, shown, [False] * 4)[0], probabilities[0])
        path = tmp_path / f"{kind}.json"
        model.save(path)
        loaded = clicks.ClickModel.load(path)
        assert np.array_equal(loaded.predict(query, shown), probabilities) and loaded.fitted is None
        assert loaded.evaluate(log)["perplexity"] == pytest.approx(model.fitted["perplexity"], abs=0.05)
    examination = log.fit("pbm").parameters["examination"]
    assert len(examination) == 6 and examination[0] > examination[1] > examination[2]
    with pytest.raises(ValueError, match="unknown click model `bpm`"):
        log.fit("bpm")
    with pytest.raises(ValueError, match="clicked has 1 values for 2 documents"):
        model.predict("q", ["a", "b"], [True])


def test_propensities_are_those_of_the_users(log: clicks.Log, tmp_path: Path) -> None:
    theta = log.propensities()
    assert theta.converged and theta.method == "paired-ranks"
    assert np.allclose(theta.theta, 1 / np.arange(1, 7), rtol=0.25)
    assert np.allclose(log.propensities("em").theta, 1 / np.arange(1, 7), rtol=0.4)
    theta.save(tmp_path / "theta.json")
    assert np.array_equal(clicks.Propensities.load(tmp_path / "theta.json").theta, theta.theta)
    assert len(log.propensities(depth=3)) == 3
    assert "paired-ranks" in repr(theta)
    with pytest.raises(ValueError, match="the log has no swap experiments"):
        log.propensities("swap")
    with pytest.raises(ValueError, match="unknown method `rank`"):
        log.propensities("rank")
    with pytest.raises(ValueError, match="the propensity of rank 2 is 0"):
        clicks.Propensities([1.0, 0.0])


def test_a_log_in_which_nothing_moves_is_refused(small: SimpleNamespace) -> None:
    still = clicks.simulate(data_of(small), small.X[:, 0], sessions=20)
    assert still.stats()["movement"]["moving"] == 0
    with pytest.raises(ValueError, match="documents do not move between these groups of ranks"):
        still.propensities()
    swapped = clicks.simulate(data_of(small), small.X[:, 0], sessions=300, randomize="swap")
    assert np.allclose(swapped.propensities("swap").theta[:3], [1, 1 / 2, 1 / 3], rtol=0.25)


def test_preferences_are_a_frame() -> None:
    pairs = clicks.Log(SESSIONS).preferences()
    found = list(zip(*(list(pairs[name]) for name in ("query", "better", "worse", "sessions"))))
    assert found == [("q", "b", "c", 1), ("q", "c", "a", 1), ("q", "c", "b", 1)]
    assert len(clicks.Log(SESSIONS).preferences("earlier-click")["better"]) == 0


def test_estimates_by_hand() -> None:
    log = clicks.Log(SESSIONS)
    found = log.evaluate({"q": {"c": 3.0, "a": 2.0}, "r": {"x": 1}}, [1.0, 0.5, 0.25], "reciprocal", clip=0.5)
    # Clicks: c at rank 3, now 1; b at rank 2, not ranked.
    assert found.ips == pytest.approx(4 / 3) and found.clipped == pytest.approx(2 / 3)
    assert found.shown == pytest.approx((4 / 3 + 1) / 3) and found.snips == pytest.approx(4 / 6)
    assert (found.unranked_clicks, found.clipped_clicks, found.sessions) == (1, 1, 3)
    assert list(found.to_frame()["estimate"]) == ["ips", "shown", "difference", "clipped", "snips"]
    assert "IPS, clipped at 0.5" in repr(found) and "3 sessions of 1 query" in found._repr_html_()
    for mistake, match in (
        ({"metric": "ndcg@10"}, "cannot be estimated from clicks"),
        ({"clip": 2.0}, "`clip` is 2"),
        ({"run": {"z": {"a": 1.0}}}, "no session of a query that the new ranker ranks"),
        ({"run": {"q": {"a": float("nan")}}}, "not a number"),
    ):
        arguments: dict[str, Any] = {"run": {"q": {"c": 1.0}}, "propensities": [1.0, 0.5], **mistake}
        with pytest.raises(ValueError, match=match):
            log.evaluate(**arguments)


def test_the_estimate_of_a_ranker_is_what_its_own_users_click(log: clicks.Log, small: SimpleNamespace) -> None:
    theta = 1 / np.arange(1, 7)
    run: dict[str, dict[str, float]] = {}
    for row, query in enumerate(small.qid):
        documents = run.setdefault(str(query), {})
        documents[f"{query}-{len(documents) + 1}"] = float(small.X[row, 0])
    found = log.evaluate(run, clicks.Propensities(theta), "dcg@3")
    own = clicks.simulate(data_of(small), small.X[:, 0], sessions=400, noise=0.2, depth=6, seed=2)
    truth = own.evaluate(run, clicks.Propensities(theta), "dcg@3")
    assert truth.difference == pytest.approx(0)
    low, high = found.interval("ips") or (0.0, 0.0)
    assert low < truth.shown < high


def test_weighted_clicks_are_labels(tmp_path: Path) -> None:
    def session(number: int, shown: list[str], clicked: str) -> dict[str, object]:
        rows = {"a": [0.1, 1.0], "b": [0.9, 0.0], "c": [0.5, 0.5]}
        return {
            "id": number, "query": "q", "shown": shown, "clicks": [clicked],
            "features": [rows[document] for document in shown],
        }  # fmt: skip

    # Document b: one click in a display at rank 2 and none at rank 1, so 1 / (1 + ½).
    sessions = [session(1, ["a", "b"], "b"), session(2, ["b", "c"], "c")]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({**s, "clicks": [{"doc": d} for d in s["clicks"]]}) + "\n" for s in sessions))
    features = rw.Data([[0.9], [0.1], [0.5]], qid=["q"] * 3, docid=["b", "a", "c"])
    for log in (clicks.Log(sessions), clicks.Log(path)):
        data = log.training_data(propensities=[1, 0.5])
        labels = dict(zip(data.docid or [], data.labels.tolist()))
        assert labels == pytest.approx({"a": 0.0, "b": 1 / 1.5, "c": 2.0})
        joined = log.training_data(features, propensities=clicks.Propensities([1, 0.5]))
        assert dict(zip(joined.docid or [], joined.labels.tolist())) == pytest.approx(labels)
        naive = log.training_data(features)
        assert dict(zip(naive.docid or [], naive.labels.tolist())) == {"a": 0.0, "b": 0.5, "c": 1.0}
        ranker = rw.Recipe("list-net").fit(data)
        scores = dict(zip(data.docid or [], ranker.score(data)))
        assert scores["c"] > scores["a"]
        with pytest.raises(ValueError, match="prank learns from grades"):
            rw.Recipe("prank").fit(data)


def test_interleaved_lists_and_their_analysis(small: SimpleNamespace) -> None:
    first, second = [("d", 1), ("d", 2), ("d", 3)], [("d", 3), ("d", 1), ("d", 4)]
    lists = {tuple(clicks.interleave(first, second, session=s, depth=2).shown) for s in range(50)}
    assert lists == {(first[0], second[0]), (second[0], first[0])}
    same = clicks.interleave(first, second, session="s", seed=7)
    assert same == clicks.interleave(first, second, session="s", seed=7)
    probabilistic = clicks.interleave(first, second, how="probabilistic", steepness=0.5)
    assert len(probabilistic.shown) == 4 and all(0 <= share <= 1 for share in probabilistic.credit)
    with pytest.raises(ValueError, match="unknown way of interleaving"):
        clicks.interleave(first, second, how="balanced")
    rankers = {"better": small.y, "worse": -small.y}
    log = clicks.simulate(data_of(small), rankers, interleave="team-draft", sessions=50)
    [result] = log.interleaving()
    assert result.rankers == ["better", "worse"] and result.p < 0.01 and result.interval[0] > 0.5
    assert result.sessions == 600 == sum(result.wins) + result.ties
    assert result.credit[0] > result.credit[1]
    with pytest.raises(ValueError, match="no interleaved sessions"):
        clicks.Log(SESSIONS).interleaving()


def test_simulations_depend_on_the_seed_only(small: SimpleNamespace) -> None:
    data = data_of(small)
    ranker = rw.Recipe("regression").fit(data)
    one, again, other = (
        clicks.simulate(data, {"r": ranker}, sessions=5, features=True, seed=seed) for seed in (1, 1, 2)
    )
    assert list(one) == list(again) != list(other)
    assert len(list(one)[0]["features"][0]) == 5
    for mistake, match in (
        ({"user": "reader"}, "unknown user model"),
        ({"noise": 2.0}, "`noise` is 2"),
        ({"randomize": "all"}, "unknown randomization"),
        ({"interleave": "team-draft"}, "two rankers can be interleaved, not 1"),
        ({"rankers": {}}, "at least one ranker"),
        ({"rankers": {"r": [1.0]}}, "scores of r"),
    ):
        arguments: dict[str, Any] = {"rankers": {"r": ranker}, **mistake}
        with pytest.raises(ValueError, match=match):
            clicks.simulate(data, **arguments)


def test_mistakes_are_explained(tmp_path: Path) -> None:
    for sessions, match in (
        ([], "there are no sessions"),
        ([{"id": 1, "query": "q", "clicks": []}], "session 1 has no `shown`"),
        ([{"id": 1, "query": "q", "shown": ["a"], "clicks": [{}]}], "session 1 has no `doc`"),
        ({"session": [1, 1], "query": ["q", "r"], "document": ["a", "b"], "clicked": [0, 1]}, "different queries"),
        ({"session": [1], "query": ["q"], "clicked": [0]}, "one of document"),
    ):
        with pytest.raises(ValueError, match=match):
            clicks.Log(sessions)
    for wrong, match in (
        ([7], "session 1 is of type int"),
        ([{"id": 1, "query": "q", "shown": ["a"], "clicks": [], "time": "now"}], "the `time` of session 1"),
    ):
        with pytest.raises(TypeError, match=match):
            clicks.Log(wrong)
    with pytest.raises(FileNotFoundError):
        clicks.Log(tmp_path / "missing.jsonl").stats()
    with pytest.raises(ValueError, match="no sessions that can be used"):
        clicks.Log([{"id": 1, "query": "q", "shown": [], "clicks": []}]).stats()
    # A log that cannot be read leaves nothing behind.
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ValueError):
        clicks.Log(tmp_path / "empty.jsonl").save(tmp_path / "copy.jsonl")
    assert not (tmp_path / "copy.jsonl").exists()


def test_the_command_line_finds_the_same(log: clicks.Log, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log.save(path)

    def command(*arguments: str) -> dict[str, Any]:
        run = [program(), "clicks", *arguments, str(path), "--json"]
        found: dict[str, Any] = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
        return found

    assert command("propensity")["theta"] == list(log.propensities().theta)
    model, found = log.fit("dbn"), command("fit", "dbn")
    assert found["held_out"] == model.held_out and found["iterations"] == model.iterations
    stats = command("stats")
    assert {name: stats[name] for name in log.stats()} == log.stats()


@pytest.mark.parametrize(
    ("clicked", "match"),
    [
        ([1, float("nan"), float("nan"), 1], "2 of 4 rows of the log have no value in the column clicked, the first of them row 2"),
        ([1, None, 0, 1], "1 of 4 rows of the log have no value in the column clicked"),
        (["1", "0", "0", "1"], "the column clicked has '1' in row 1; it must have 0 and 1"),
        ([1, 0, 2, 1], "the column clicked has 2 in row 3"),
    ],
)
def test_clicks_of_a_frame_are_0_and_1(clicked: list[Any], match: str) -> None:
    columns = {"session": [1, 1, 2, 2], "query": ["q"] * 4, "document": ["a", "b"] * 2, "clicked": clicked}
    with pytest.raises(ValueError, match=match):
        clicks.Log(columns)
    good = {**columns, "clicked": [np.True_, 0.0, np.int64(1), False]}
    assert [session["clicks"] for session in clicks.Log(good)] == [[{"doc": "a"}], [{"doc": "a"}]]


def test_missing_values_of_pandas_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"session": [1, 1, 2], "query": ["q"] * 3, "document": ["a", "b", "a"], "clicked": [1, 0, 0]}
    for name in columns:
        frame = pandas.DataFrame(columns).astype(object)
        frame.loc[1, name] = pandas.NA
        with pytest.raises(ValueError, match=f"1 of 3 rows of the log have no value in the column {name}"):
            clicks.Log(frame)


@pytest.mark.parametrize("wrong", [1.0, float("nan"), None, True, np.float32(2)])
def test_ids_are_text_or_whole_numbers(wrong: Any) -> None:
    good: dict[str, Any] = {"id": 1, "query": np.int64(7), "shown": ["a", np.str_("b")], "clicks": []}
    assert list(clicks.Log([good]))[0]["query"] == "7"
    for name, value in (("id", wrong), ("query", wrong), ("shown", ["a", wrong]), ("clicks", [{"doc": wrong}])):
        with pytest.raises((TypeError, ValueError), match="of session 1.* is no id; ids are text or whole numbers"):
            clicks.Log([{**good, name: value}])


def test_a_text_is_no_list() -> None:
    for name in ("shown", "clicks"):
        session: dict[str, Any] = {"id": 1, "query": "q", "shown": ["a"], "clicks": [], name: "abc"}
        with pytest.raises(TypeError, match=f"the `{name}` of session 1 is 'abc'; give a list"):
            clicks.Log([session])


def test_what_an_estimate_leaves_out_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    log = clicks.Log(SESSIONS)
    with caplog.at_level(logging.WARNING, "rankwise"):
        found = log.evaluate({"q": {"Z": 1.0}}, [1.0, 0.5])
    assert found.ips == 0.0 and (found.unranked_clicks, found.deep_clicks) == (2, 1)
    for note in (
        "clicks on documents that it does not rank; they count for nothing: 2",
        "clicks at ranks without a propensity; they have that of the last rank: 1",
        "all sessions are of one query, so there are no confidence intervals",
    ):
        assert note in caplog.text
    assert found.interval("ips") is None and "–" in repr(found)


def test_propensities_of_ranks_that_were_never_shown_are_noted(caplog: pytest.LogCaptureFixture) -> None:
    shown = [["a", "b"], ["b", "a"]] * 20
    sessions = [
        {"id": i, "query": "q", "shown": s, "positions": [1, 4], "clicks": s[: 1 + i % 3 // 2]} for i, s in enumerate(shown)
    ]
    with caplog.at_level(logging.WARNING, "rankwise"):
        theta = clicks.Log(sessions).propensities()
    assert theta.interpolated == [2, 3] and theta.theta[0] > theta.theta[1] > theta.theta[2] > theta.theta[3]
    assert "nothing was shown at ranks 2–3; propensities there are interpolated" in caplog.text


def test_labels_are_filled_in_and_biases_are_learned(log: clicks.Log, small: SimpleNamespace) -> None:
    ids = [f"{query}-{row % 8 + 1}" for row, query in enumerate(small.qid)]
    numbers: dict[Any, int] = {}
    for row, query in enumerate(small.qid):
        numbers[query] = numbers.get(query, 0) + 1
        ids[row] = f"{query}-{numbers[query]}"
    features = rw.Data(small.X, qid=small.qid, docid=ids)
    theta = clicks.Propensities(1 / np.arange(1, 7))
    clipped = log.training_data(features, propensities=theta, clip=0.4)
    ranker = rw.Recipe("regression").fit(log.training_data(features, propensities=theta))
    filled = log.training_data(features, propensities=theta, clip=0.4, fill_in=ranker)
    assert np.all(filled.labels >= clipped.labels) and np.any(filled.labels > clipped.labels)
    with pytest.raises(ValueError, match="give propensities, and a clip above 0"):
        log.training_data(features, fill_in=ranker)
    by_session = log.training_data(features, by_session=True)
    assert set(by_session.labels.tolist()) == {0.0, 1.0}
    recipe = rw.Recipe("lambda-mart", position_bias="additive", iterations=3, min_data_in_leaf=5)
    assert recipe.fit(by_session).record["iterations"] == 3
    with pytest.raises(ValueError, match="use one of the two"):
        log.training_data(features, propensities=theta, by_session=True)
    with pytest.raises(ValueError, match="make data with one query per session"):
        recipe.fit(log.training_data(features))


def test_p_values_are_written_in_words() -> None:
    from rankwise import _frames

    assert (_frames.p_value(0.00001), _frames.p_value(0.25)) == ("< 0.0001", "= 0.2500")
