"""Indexes: documents in every form, search, features, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import rankwise as rw

DOCUMENTS = [
    {"id": "a", "title": "The wren", "body": "A small bird with a loud voice.", "year": 1999},
    {"id": "b", "title": "The owl", "body": "A bird of the night, a quiet hunter.", "year": 2004},
    {"id": "c", "title": "The bat", "body": "No bird, though it flies at night.", "year": None},
    {"id": "d", "title": "The stone", "body": "It does not move."},
]


@pytest.fixture
def index(tmp_path: Path) -> rw.Index:
    return rw.Index.create(tmp_path / "birds.idx", DOCUMENTS)


def bm25_of_one_term(tf: float, length: float, average: float, documents: int, having: int) -> float:
    idf = np.log(1 + (documents - having + 0.5) / (having + 0.5))
    return float(idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * length / average)))


def test_scores_are_those_of_the_formula(tmp_path: Path) -> None:
    texts = {"1": "red red blue", "2": "red green", "3": "green"}
    made = rw.Index.create(
        tmp_path / "colours", [{"id": id, "text": text} for id, text in texts.items()], analyzer="plain"
    )
    found = {hit.id: hit.score for hit in made.search("red")}
    assert found == pytest.approx(
        {"1": bm25_of_one_term(2, 3, 2, 3, 2), "2": bm25_of_one_term(1, 2, 2, 3, 2)}, rel=1e-12
    )
    assert made.run({"q": "red"})["q"] == found


def test_documents_of_every_form_make_the_same_index(tmp_path: Path) -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    lines = tmp_path / "docs.jsonl"
    lines.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
    forms = {
        "dictionaries": DOCUMENTS,
        "generator": (document for document in DOCUMENTS),
        "path": lines,
        "paths": [str(lines)],
        "pandas": pandas.DataFrame(DOCUMENTS),
        "polars": polars.DataFrame(DOCUMENTS),
        "pyarrow": pyarrow.Table.from_pylist(DOCUMENTS),
    }
    found = {}
    for name, documents in forms.items():
        made = rw.Index.create(tmp_path / name, documents)
        schema = [(field["name"], field["kind"]) for field in made.info()["schema"]["fields"]]
        found[name] = (schema, made.run({"q": "night bird"}))
    assert found["path"][0] == [("title", "text"), ("body", "text"), ("year", "date")]
    for name in forms:
        assert found[name][1] == found["path"][1], name


def test_a_ranker_searches_with_the_features_it_was_trained_on(index: rw.Index, tmp_path: Path) -> None:
    queries = {"1": "night bird", "2": "bird voice", "3": "quiet bird"}
    qrels = {"1": {"c": 1}, "2": {"a": 1}, "3": {"b": 1}}
    data = index.features(queries, qrels=qrels, set="small")
    assert data.docid is not None and len(data.docid) == len(data)
    assert set(data.qid) == set(queries)
    labels = dict(zip(zip(data.qid, data.docid), data.labels))
    assert {pair for pair, label in labels.items() if label} == {("1", "c"), ("2", "a"), ("3", "b")}
    ranker = rw.Recipe("regression").fit(data)
    scores = dict(zip(zip(data.qid, data.docid), ranker.score(data)))
    path = tmp_path / "model.json"
    ranker.save(path)
    for model in (ranker, path):
        found = index.search("night bird", model=model, explain=True)
        assert {hit.id: hit.score for hit in found} == {id: s for (q, id), s in scores.items() if q == "1"}
        for hit in found:
            assert hit.by_model and hit.features is not None and hit.base is not None
            assert hit.base + sum(f["contribution"] for f in hit.features) == pytest.approx(hit.score, rel=1e-9)
    run = index.run(queries, model=ranker)
    assert {(q, id): score for q, documents in run.items() for id, score in documents.items()} == scores


def test_candidates_may_be_judged_or_come_from_a_run(index: rw.Index, caplog: pytest.LogCaptureFixture) -> None:
    qrels = {"1": {"a": 2, "d": 0, "unknown": 1}}
    judged = index.features({"1": "night bird"}, qrels=qrels, candidates="judged", set="small")
    assert (judged.docid, judged.labels.tolist()) == (["a", "d"], [2.0, 0.0])
    assert any("not in the index" in record.message for record in caplog.records)
    of_run = index.features({"1": "night bird"}, candidates={"1": {"d": 2.0, "b": 3.0}}, set="small")
    assert of_run.docid == ["b", "d"]
    dropped = index.features({"1": "night bird"}, qrels=qrels, unjudged="drop", set="small", pick="bm25.*")
    assert dropped.docid == ["a"]
    assert dropped.feature_names is not None and all(name.startswith("bm25.") for name in dropped.feature_names)


def test_updates_are_seen_by_others_after_a_refresh(index: rw.Index) -> None:
    other = rw.Index(index.path)
    changed = index.add([{"id": "e", "title": "The lark", "body": "A bird of the morning"}], delete=["d"])
    assert (changed["added"], changed["deleted"], changed["documents"]) == (1, 1, 4)
    assert "e" in index.search("lark").ids and "e" not in other.search("lark").ids
    other.refresh()
    assert other.search("lark").ids == ["e"]
    assert index.delete("e")["deleted"] == 1
    assert len(index) == 3


def test_queries_come_from_files_frames_and_pairs(index: rw.Index, tmp_path: Path) -> None:
    file = tmp_path / "q.tsv"
    file.write_text("7\tnight bird\n8\tstone\n")
    expected = index.run(file)
    assert list(expected) == ["7", "8"]
    assert index.run([(7, "night bird"), (8, "stone")]) == expected
    pandas = pytest.importorskip("pandas")
    assert index.run(pandas.DataFrame({"qid": ["7", "8"], "query": ["night bird", "stone"]})) == expected


def test_results_are_shown_as_text_html_and_a_frame(index: rw.Index) -> None:
    found = index.search("<night> bird", syntax="words")
    assert "The bat" in repr(found) and all(len(line) <= 80 for line in repr(found).splitlines())
    assert "&lt;night&gt;" in found._repr_html_()
    frame = found.to_frame()
    assert list(frame["id"]) == found.ids and "title" in list(frame)
    assert [found[0].id] + [hit.id for hit in found[1:]] == found.ids
    marked = [found[0].snippet[start:end] for start, end in found[0].highlights]
    assert marked and all(word.lower().startswith(("bird", "night")) for word in marked)


def test_why_a_document_is_missing(index: rw.Index) -> None:
    assert "no document `zebra`" in index.why_not("bird", "zebra")
    assert "does not match" in index.why_not("bird", "d")
    assert "is at rank" in index.why_not("night bird", index.search("night bird").ids[-1], k=1)


def test_an_exception_of_the_documents_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken():
        yield DOCUMENTS[0]
        raise RuntimeError("the source has failed")

    with pytest.raises(RuntimeError, match="the source has failed"):
        rw.Index.create(tmp_path / "broken", broken())
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "empty"),
        ([{"title": "no id"}], "id"),
        ([{"id": "1", "a": "b"}, {"id": "1", "a": "c"}], "two documents have the id `1`"),
        ([{"id": "1", "text": "a"}, "text"], "document 2 is of type str"),
        ([{"id": "1", "price": float("inf")}], "[Oo]ut of range"),
        ([{"id": "1", "text": object()}], "a value of type object"),
        (3, "documents of type int"),
        ("/no/such/file.jsonl", "/no/such/file.jsonl"),
    ],
)
def test_bad_documents_are_explained(tmp_path: Path, documents: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        rw.Index.create(tmp_path / "made", documents)
    assert not (tmp_path / "made").exists()


def test_bad_arguments_are_explained(index: rw.Index, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such directory"):
        rw.Index(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="already an index"):
        rw.Index.create(index.path, DOCUMENTS)
    with pytest.raises(ValueError, match="no feature set `all`"):
        index.features({"1": "bird"}, set="all")
    with pytest.raises(ValueError, match="syntax is 'lucene'"):
        index.search("bird", syntax="lucene")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no field `tilte`|tilte"):
        index.search("tilte:bird")
    other = rw.Recipe("regression").fit(rw.Data([[0.0], [1.0]], y=[0, 1]))
    with pytest.raises(ValueError, match="feature"):
        index.search("bird", model=other)
