"""Rankwise inside ir-measures and PyTerrier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwise as rw

from test_evaluate import generated


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in ir-measures' parser
def test_ir_measures_gives_the_values_of_trec_eval() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    from rankwise.adapters import ir_measures as adapter

    qrels, run = generated(ties=True)
    names = "AP AP(rel=2) AP@10 nDCG nDCG@10 P@5 P(rel=2)@5 R@10 RR Rprec Bpref infAP Success@3 SetP SetR SetF IPrec@0.5"
    measures = [ir_measures.parse_measure(name) for name in f"{names} NumRet NumRel NumQ NumRet(rel=1)".split()]
    ours = adapter.calc_aggregate(measures, qrels, run)
    theirs = ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run)
    assert list(ours) == measures
    for measure in measures:
        assert ours[measure] == pytest.approx(theirs[measure], rel=1e-12), measure
    per_query = {(m.query_id, m.measure): m.value for m in ir_measures.pytrec_eval.iter_calc(measures, qrels, run)}
    found = {(m.query_id, m.measure): m.value for m in adapter.iter_calc(measures, qrels, run)}
    assert found.keys() == per_query.keys()
    assert all(found[key] == pytest.approx(value, rel=1e-12) for key, value in per_query.items())
    whole = adapter.calc(measures, qrels, run)
    assert whole.aggregated == ours and len(whole.per_query) == len(per_query)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in ir-measures' parser
def test_ir_measures_forms_and_limits() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    from rankwise.adapters import ir_measures as adapter

    qrels = [ir_measures.Qrel("q1", "a", 1), ir_measures.Qrel("q2", "a", 1)]
    run = [ir_measures.ScoredDoc("q1", "a", 1.0), ir_measures.ScoredDoc("q1", "b", 2.0)]
    assert adapter.calc_aggregate([ir_measures.RR], qrels, run) == {ir_measures.RR: 0.25}
    assert adapter.calc_aggregate([ir_measures.RR], qrels, [ir_measures.ScoredDoc("q7", "a", 1.0)])[ir_measures.RR] == 0
    supported = {name: adapter.provider.supports(ir_measures.parse_measure(name)) for name in
                 ("AP", "nDCG@10", "Compat", "P(judged_only=True)@5", "RBP(rel=1)", "RBP")}  # fmt: skip
    assert supported == {"AP": True, "nDCG@10": True, "Compat": False, "P(judged_only=True)@5": False,
                         "RBP(rel=1)": True, "RBP": False}  # fmt: skip


def frames(seed: int) -> tuple[Any, Any]:
    """Results with features as PyTerrier has them, and qrels; some documents have no judgement."""
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(seed)
    features = random.normal(size=(60, 3))
    results = pd.DataFrame(
        {
            "qid": np.repeat([f"q{i}" for i in range(6)], 10),
            "docno": [f"d{i}" for i in range(60)],
            "score": random.normal(size=60),
            "rank": np.tile(np.arange(10), 6),
            "features": list(features),
        }
    )
    qrels = results[["qid", "docno"]].assign(label=(features[:, 0] > 0.4).astype(int))
    return results, qrels[qrels["label"] > 0]


def test_a_learned_model_of_pyterrier() -> None:
    from rankwise.adapters.pyterrier import LearnedModel

    results, qrels = frames(1)
    valid, valid_qrels = frames(2)
    model = LearnedModel(rw.Recipe("regression")).fit(results, qrels, valid, valid_qrels)
    X = np.stack(results["features"]).astype(np.float32)
    labels = results["docno"].isin(qrels["docno"]).astype(int)
    by_hand = rw.Recipe("regression").fit(rw.Data(X, labels, qid=results["qid"]))
    assert model.ranker is not None
    np.testing.assert_array_equal(model.ranker.score(X), by_hand.score(X))
    mixed = results.sample(frac=1, random_state=1)
    ranked = model.transform(mixed)
    assert ranked.columns.tolist() == results.columns.tolist()
    for qid, rows in ranked.groupby("qid"):
        assert rows["rank"].tolist() == list(range(10))
        assert rows["score"].is_monotonic_decreasing
    scores = dict(zip(results["docno"], by_hand.score(X)))
    assert all(scores[docno] == score for docno, score in zip(ranked["docno"], ranked["score"]))
    again = LearnedModel(model.ranker).transform(mixed)
    assert again.equals(ranked)
    assert len(model.transform(results.head(0))) == 0


def test_what_pyterrier_cannot_rank() -> None:
    from rankwise.adapters.pyterrier import LearnedModel

    results, qrels = frames(1)
    with pytest.raises(ValueError, match="not trained"):
        LearnedModel("regression").transform(results)
    ranker = LearnedModel("regression").fit(results, qrels).ranker
    with pytest.raises(ValueError, match="trained already"):
        LearnedModel(ranker).fit(results, qrels)
    with pytest.raises(ValueError, match="features are needed"):
        LearnedModel(ranker).transform(results.drop(columns="features"))
