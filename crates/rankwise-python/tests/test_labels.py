"""`rankwise.labels`: forms of input, agreement, merging, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankwise as rw
from rankwise import labels

ROOT = Path(__file__).resolve().parents[3]
ROWS = [
    ("q", "a", "ann", 1),
    ("q", "a", "bob", 3),
    ("q", "a", "eve", 3),
    ("q", "b", "ann", 2, "a note", "10:00"),
    ("q", "b", "bob", 0),
]


def stored() -> list[dict[str, Any]]:
    """Answers of scikit-learn, statsmodels and krippendorff."""
    answers: list[dict[str, Any]] = json.loads((ROOT / "testdata/labels/answers.json").read_text())["agreement"]
    return answers


@pytest.mark.parametrize("case", stored())
def test_coefficients_are_those_of_other_tools(case: dict[str, Any]) -> None:
    rows = [
        ("q", f"d{d}", f"j{j}", grade)
        for d, grades in enumerate(case["ratings"])
        for j, grade in enumerate(grades)
        if grade >= 0
    ]
    found = labels.Judgments(rows).agreement(resamples=20)
    compared = [name for name in labels._NAMES if isinstance(case.get(name), float)]
    assert compared
    for name in compared:
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-12)
        low, high = found.interval(name) or (0.0, 0.0)
        assert low <= high


def test_rows_dictionaries_files_and_frames_are_the_same(tmp_path: Path) -> None:
    expected = labels.Judgments(ROWS)
    frame = expected.to_frame()
    path = tmp_path / "judgments.tsv.gz"
    expected.save(path)
    columns = {name: list(frame[name]) for name in ("query", "document", "judge", "grade")}
    dictionaries = [dict(zip(("qid", "docid", "assessor", "rating"), row)) for row in ROWS]
    for other in (frame, columns, dictionaries):
        assert list(labels.Judgments(other).to_frame()["grade"]) == [1, 3, 3, 2, 0]
    read = labels.read(path)
    assert list(read.to_frame()["note"])[3] == "a note" and len(read) == len(expected) == 5
    assert labels.read([path, path]).replaced == 5


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_package(package: str) -> None:
    module = pytest.importorskip(package)
    make = module.table if package == "pyarrow" else module.DataFrame
    columns = dict(zip(("query", "doc_id", "judge", "label"), zip(*(row[:4] for row in ROWS))))
    frame = make({name: list(values) for name, values in columns.items()})
    assert labels.Judgments(frame).merge("majority").qrels() == {"q": {"a": 3, "b": 0}}


def test_missing_grades_of_a_frame_are_left_out() -> None:
    columns = {"query": ["q"] * 3, "document": ["a"] * 3, "judge": ["x", "y", "z"], "grade": [1.0, float("nan"), None]}
    assert len(labels.Judgments(columns)) == 1


def test_every_rule_and_its_qrels(tmp_path: Path) -> None:
    judgments = labels.Judgments(ROWS)
    assert judgments.merge().qrels() == {"q": {"a": 3, "b": 0}}
    assert judgments.merge().tied == 1
    assert judgments.merge("median").qrels() == {"q": {"a": 3, "b": 0}}
    mean = judgments.merge("mean")
    assert list(mean.to_frame()["grade"]) == [pytest.approx(7 / 3), 1.0]
    with pytest.raises(ValueError, match="need whole numbers"):
        mean.qrels()
    assert judgments.merge("mean", round=True).qrels() == {"q": {"a": 2, "b": 1}}
    judgments.merge().save(tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "q 0 a 3\nq 0 b 0\n"
    mean.save(tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().startswith("query,document,grade,judges,support,tied\n")
    with pytest.raises(ValueError, match="unknown rule `vote`"):
        judgments.merge("vote")


def test_dawid_and_skene_trust_reliable_judges() -> None:
    rows = []
    for d in range(40):
        for judge, wrong_every in (("ann", 20), ("bob", 10), ("eve", 2)):
            rows.append(("q", f"d{d}", judge, 1 - d % 2 if d % wrong_every == 1 else d % 2))
    merged = labels.Judgments(rows).merge("dawid-skene")
    model = merged.model
    assert model is not None and model["converged"] and len(merged) == 40
    likelihood = model["log_likelihood"]
    assert all(after >= before - 1e-9 for before, after in zip(likelihood, likelihood[1:]))
    accuracy = {judge["judge"]: judge["accuracy"] for judge in model["judges"]}
    assert accuracy["ann"] > accuracy["eve"]
    # Merged labels are qrels like any others.
    assert rw.evaluate(merged.qrels(), {"q": {"d1": 1.0, "d0": 0.5}}, "P@1")["p@1"] in (0.0, 1.0)


def test_the_report_has_judges_pairs_and_queries() -> None:
    rows = [(f"q{d % 2}", f"d{d}", judge, (d * k) % 3) for d in range(30) for k, judge in enumerate("abc", 1)]
    found = labels.Judgments(rows).agreement(seed=3)
    assert list(found.judges_frame()["judge"]) == ["a", "b", "c"]
    assert list(found.pairs_frame()["documents"]) == [30, 30, 30]
    assert list(found.per_query["query"]) == ["q0", "q1"]
    assert list(found.to_frame()["coefficient"])[0] == "percentage"
    assert "Krippendorff" in repr(found) and "95 % CI" in found._repr_html_()
    assert all(len(line) <= 80 for line in repr(found).splitlines())
    again = labels.Judgments(rows[::-1]).agreement(seed=3, n_jobs=1)
    assert repr(again) == repr(found)
    with pytest.raises(KeyError, match="there is no coefficient kappa"):
        found.interval("kappa")


def test_mistakes_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is only one judge, `ann`"):
        labels.Judgments(ROWS[:1]).agreement()
    with pytest.raises(ValueError, match="a judgment has 3 values"):
        labels.Judgments([("q", "a", "ann")])
    with pytest.raises(ValueError, match="one of judge, assessor"):
        labels.Judgments({"query": ["q"], "document": ["d"], "grade": [1]})
    with pytest.raises(ValueError, match="the grade of document `d`"):
        labels.Judgments([("q", "d", "ann", float("inf"))])
    with pytest.raises(FileNotFoundError):
        labels.read(tmp_path / "missing.csv")
    (tmp_path / "word.csv").write_text("query,document,judge,grade\nq,a,ann,good\n")
    with pytest.raises(ValueError, match="word.csv:2:1: expected a number as the grade"):
        labels.read(tmp_path / "word.csv")
    with pytest.raises(ValueError, match="no column `who`"):
        labels.read(tmp_path / "word.csv", judge="who")


def test_frames_take_judgments_back_as_files_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "judgments.csv"
    path.write_text("query,judge,docno,rel\nq,a,x,1\nq,a,y,1\nq,a,x,\nq,b,y,\n")
    frame = pandas.read_csv(path)
    for judgments in (labels.read(path), labels.Judgments(frame), labels.Judgments(frame.to_dict("records"))):
        assert list(judgments.to_frame()["document"]) == ["y"]
        assert (judgments.withdrawn, judgments.without_grade) == (1, 1)
    assert caplog.text.count("1 judgment was taken back by a later row without a grade") == 3
    with pytest.raises(ValueError, match="a judgment has no document"):
        labels.Judgments([("q", float("nan"), "ann", 1)])


def test_labels_are_not_written_under_the_name_of_a_parquet_file(tmp_path: Path) -> None:
    judgments = labels.Judgments(ROWS)
    for thing in (judgments, judgments.merge()):
        with pytest.raises(ValueError, match="is the name of a Parquet file, and only text is written here"):
            thing.save(tmp_path / "labels.parquet")
