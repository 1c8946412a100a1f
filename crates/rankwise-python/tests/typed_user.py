# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
"""A program as users write it. mypy --strict and pyright check its types; test_typed_user.py runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

import rankwise as rw
from rankwise import clicks, labels, plots
from rankwise.sklearn import LambdaMART, ListNet, SvmMap, Trees

Scores = NDArray[np.float64]


def squared(scores: Scores, labels: NDArray[np.float32], bounds: NDArray[np.int64]) -> tuple[ArrayLike, ArrayLike]:
    return scores - labels, np.ones_like(scores)


def first_is_relevant(scores: Scores, labels: NDArray[np.float32], bounds: NDArray[np.int64]) -> ArrayLike:
    return [labels[start + int(scores[start:end].argmax())] > 0 for start, end in zip(bounds[:-1], bounds[1:])]


def stop_at_five(step: rw.Progress) -> bool:
    return step.iteration >= 5 and step.value > 0


def train(X: NDArray[np.float32], y: NDArray[np.float32], qid: NDArray[np.int64]) -> dict[str, Scores]:
    data = rw.Data(X, y, qid=qid, names=["bm25", "price", "age"])
    rows, features = data.shape
    assert rows == len(data) and features == 3 and data.n_queries > 1
    ranker: rw.Ranker = rw.Recipe("lambda-mart", metric="ndcg@5", iterations=10).fit(data, callbacks=[stop_at_five])
    own: rw.Ranker = rw.Recipe(objective=squared, metric=first_is_relevant, iterations=3).fit(data)
    weights: Scores | None = rw.Recipe("list-net").fit(data).weights
    assert weights is not None and ranker.weights is None
    return {"trees": ranker.score(data), "own": own.score(data), "linear": X @ weights}


def estimate(X: NDArray[np.float32], y: NDArray[np.float32], qid: NDArray[np.int64], folder: Path) -> float:
    model = LambdaMART(iterations=10, learning_rate=0.1, metric="ndcg@10", random_state=1)
    model = model.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    best: int | None = model.best_iteration_
    curves: dict[str, list[float]] = model.history_
    assert best is not None and curves
    model.save(folder / "model.json")
    notes: list[str] = model.export(folder / "model.onnx")
    assert all(isinstance(note, str) for note in notes)
    loaded: rw.Ranker = rw.load(folder / "model.json")
    assert loaded.learner == "lambda-mart" and loaded.parameters["iterations"] == 10
    contributions: Scores = model.explain(X[:5]).values
    assert contributions.shape == (5, 3) and model.feature_importances_.sum() > 0
    SvmMap(c=1.0, scorer=Trees(iterations=3)).fit(X, y, qid=qid)
    return ListNet().fit(X, y, qid=qid).score(X, y, qid=qid)


def judge(X: NDArray[np.float32], y: NDArray[np.float32], qid: NDArray[np.int64], scores: dict[str, Scores]) -> float:
    data = rw.Data(X, y, qid=qid)
    found: rw.Evaluation = rw.evaluate(data, scores["trees"], ["ndcg@10", "map"])
    mean: float = found["ndcg@10"]
    per_query: Scores = found.values
    assert per_query.shape == (data.n_queries, 2) and 0 <= mean <= 1
    compared: rw.Comparison = rw.compare(data, scores, "ndcg@10", permutations=100, resamples=100)
    assert set(compared.mean) == set(scores)
    folds: rw.CrossValidation = rw.cross_validate(rw.Recipe("regression"), data, cv=3)
    tuned: rw.Tuned = rw.tune("regression", data, grid={"ridge": [0.1, 1.0]}, cv=2)
    assert tuned.ranker.learner == "regression" and len(folds.rankers) == 3
    runs = rw.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.1}}, "recip_rank")
    return runs["mrr"]


def ask_people_and_users(data: rw.Data, scores: dict[str, Scores], folder: Path) -> None:
    judgments = labels.Judgments([("q", "a", "ann", 1), ("q", "a", "bob", 1), ("q", "b", "ann", 0), ("q", "b", "bob", 1)])
    kappa: float | None = judgments.agreement(resamples=10).cohen
    qrels: dict[str, dict[str, int]] = judgments.merge("majority").qrels()
    assert kappa is not None and rw.evaluate(qrels, {"q": {"a": 1.0}}, "P@1")["p@1"] == 1.0
    log: clicks.Log = clicks.simulate(data, scores, sessions=20)
    log.save(folder / "log.jsonl")
    theta: clicks.Propensities = clicks.Log(folder / "log.jsonl").propensities()
    values: Scores = theta.theta
    model: clicks.ClickModel = log.fit("pbm")
    probabilities: Scores = model.predict("1", ["1-1", "1-2"])
    worth: clicks.Counterfactual = log.evaluate({"1": {"1-1": 1.0}}, values.tolist(), "dcg@5")
    both: clicks.InterleavedList = clicks.interleave(["a", "b"], ["b", "a"], session=1)
    assert len(probabilities) == len(both.credit) == 2 and worth.ips >= 0


def draw(ranker: rw.Ranker) -> None:
    plots.importance(ranker, top=5)


def mistakes(data: rw.Data, ranker: rw.Ranker) -> None:
    """What type checkers find: a comment that ignores nothing is an error for both of them. It is not run."""
    rw.Recipe("list-net").fit("train.txt")  # type: ignore
    rw.Recipe("list-net", seed="one")  # type: ignore
    rw.evaluate(data, ranker, 10)  # type: ignore
    rw.load()  # type: ignore
    LambdaMART(learning_rate="fast")  # type: ignore
    ranker.scores(data)  # type: ignore
    clicks.interleave(["a"])  # type: ignore
    labels.read()  # type: ignore


def main(folder: Path) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(240, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + random.normal(size=240), [0.5, 1.5]).astype(np.float32)
    qid = np.repeat(np.arange(24), 10)
    scores = train(X, y, qid)
    assert estimate(X, y, qid, folder) > 0.5
    assert judge(X, y, qid, scores) == 1.0
    ask_people_and_users(rw.Data(X, y, qid=qid), scores, folder)
