"""Stores the metrics that other tools compute for seeded random rankings.

    python -m venv .venv && .venv/bin/pip install -r testdata/metrics/requirements.txt
    .venv/bin/python testdata/metrics/generate.py

writes answers.json beside this file (trec.py then writes trec-answers.json): `sets` of queries, and `answers`, one per tool and metric, with a value per
query (null if the tool has none). crates/rankwise/tests/metrics_stored.rs compares them with our presets.
"""

import json
import math
import random
import warnings
from importlib.metadata import version
from pathlib import Path

import catboost.utils
import lightgbm
import numpy as np
import pytrec_eval
import ranx
import scipy.stats
import sklearn.metrics
import xgboost

warnings.filterwarnings("ignore")
SEED = 20261
TOOLS = ["catboost", "lightgbm", "pytrec_eval-terrier", "ranx", "scikit-learn", "scipy", "xgboost-cpu"]
CUTS = [1, 3, 5, 10, 50]


def scores(rng, n, levels):
    """Scores with ties, and some pairs that only double precision tells apart."""
    chosen = [rng.randrange(levels) / 8 for _ in range(n)]
    return [s + rng.choice([0, 0, 0, 1e-9]) if s else s for s in chosen]


def ranked_set(rng, grades, sizes):
    """Queries whose documents are all judged and ranked; the first two have nothing relevant."""
    queries = []
    for q, n in enumerate(sizes):
        labels = [0] * n if q < 2 else [rng.choice(grades) for _ in range(n)]
        queries.append({"labels": labels, "scores": scores(rng, n, rng.choice([4, 10, 60]))})
    return queries


def trec_set(rng, sizes):
    """Queries with documents unjudged (null), judged but not retrieved (no score), and graded below 0."""
    queries = []
    for q, n in enumerate(sizes):
        grades = [0, 0, 0, None, -1] if q < 2 else [0, 0, 0, 1, 1, 2, 3, None, -1, -2]
        retrieved = max(1, n * rng.choice([2, 3, 4]) // 4)
        labels = [rng.choice(grades) for _ in range(n)]
        # Documents that are neither judged nor retrieved are left out.
        labels[retrieved:] = [g if g is not None else 0 for g in labels[retrieved:]]
        ids = rng.sample(range(100, 1000), n)
        queries.append(
            {
                "labels": labels,
                "scores": scores(rng, retrieved, rng.choice([4, 10, 60])),
                "ids": [f"d{i}" for i in ids],
            }
        )
    return queries


def per_query(queries, ask):
    values = []
    for query in queries:
        value = float(ask(query["labels"], query["scores"]))
        values.append(None if math.isnan(value) else value)
    return values


def ask_catboost(metric):
    def ask(labels, scores):
        groups = np.zeros(len(labels), dtype=int)
        return catboost.utils.eval_metric(np.array(labels, float), np.array(scores), metric, group_id=groups)[0]

    return ask


def ask_lightgbm(metric, k):
    params = {"objective": "lambdarank", "metric": metric, "eval_at": [k], "verbosity": -1, "min_data_in_leaf": 1}

    def ask(labels, scores):
        train = lightgbm.Dataset(np.arange(8.0).reshape(-1, 1), label=[0, 1] * 4, group=[8], params={"min_data_in_bin": 1})
        booster = lightgbm.Booster(params, train)
        data = np.zeros((len(labels), 1))
        valid = lightgbm.Dataset(data, label=labels, group=[len(labels)], init_score=scores, reference=train)
        booster.add_valid(valid, "valid")
        return booster.eval_valid()[0][2]

    return ask


def ask_xgboost(metric):
    def ask(labels, scores):
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels)
        data.set_group([len(labels)])
        data.set_base_margin(np.array(scores))
        booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": metric}, [data])
        return booster.eval(data).rsplit(":", 1)[1]

    return ask


def ask_sklearn_ndcg(function, k):
    return lambda labels, scores: function([labels], [scores], k=k) if len(labels) > 1 else math.nan


def ask_sklearn_binary(function):
    def ask(labels, scores):
        relevant = [int(g >= 1) for g in labels]
        return function(relevant, scores) if 0 < sum(relevant) < len(relevant) else math.nan

    return ask


def as_trec(queries):
    qrels, run = {}, {}
    for q, query in enumerate(queries):
        ids = query["ids"]
        qrels[f"q{q:02}"] = {d: g for d, g in zip(ids, query["labels"]) if g is not None}
        run[f"q{q:02}"] = dict(zip(ids, query["scores"]))
    return qrels, run


def ask_pytrec(queries, measures):
    qrels, run = as_trec(queries)
    results = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
    return lambda measure: [results[q][measure] for q in sorted(qrels)]


def ask_ranx(queries, measure):
    qrels, run = as_trec(queries)
    values = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), measure, return_mean=False)
    return [None if math.isnan(v) else float(v) for v in values]


def main():
    rng = random.Random(SEED)
    sizes = [5, 12] + [rng.choice([1, 2, 7, 20, 45]) for _ in range(22)]
    short = [5, 12] + [rng.randrange(3, 15) for _ in range(22)]
    sets = {
        "graded": ranked_set(rng, [0, 0, 0, 1, 2, 3, 4], sizes),
        "binary": ranked_set(rng, [0, 0, 1], sizes),
        "shares": ranked_set(rng, [0, 0.25, 0.5, 1], sizes),
        "trec": trec_set(rng, [5, 12] + [rng.randrange(3, 40) for _ in range(22)]),
        # ranx sorts unstably, which keeps the input order only in short lists.
        "trec-short": trec_set(rng, short),
    }
    answers = []

    def store(tool, preset, name, measure, values, tolerance=1e-9):
        answers.append(
            {"tool": tool, "preset": preset, "set": name, "metric": measure, "tolerance": tolerance, "values": values}
        )

    for name in ["graded", "binary", "shares"]:
        queries = sets[name]
        for k in [None, 1, 3, 10]:
            at = f"@{k}" if k else ""
            top = f"top={k}" if k else ""
            for measure in ["NDCG", "DCG"]:
                ask = ask_catboost(f"{measure}:{top}" if k else measure)
                store("catboost", "catboost", name, f"{measure.lower()}{at}", per_query(queries, ask))
                ask = ask_catboost(f"{measure}:type=Exp" + (f";{top}" if k else ""))
                store("catboost", "catboost", name, f"{measure.lower()}{at}:gain=exp2", per_query(queries, ask))
            if name != "graded":
                ask = ask_catboost(f"ERR:{top}" if k else "ERR")
                store("catboost", "catboost", name, f"err{at}", per_query(queries, ask))
            store("sklearn", "sklearn", name, f"ndcg{at}", per_query(queries, ask_sklearn_ndcg(sklearn.metrics.ndcg_score, k)))
            store("sklearn", "sklearn", name, f"dcg{at}", per_query(queries, ask_sklearn_ndcg(sklearn.metrics.dcg_score, k)))
        ap, auc = sklearn.metrics.average_precision_score, sklearn.metrics.roc_auc_score
        store("sklearn", "sklearn", name, "map", per_query(queries, ask_sklearn_binary(ap)))
        store("sklearn", "sklearn", name, "auc", per_query(queries, ask_sklearn_binary(auc)))
        tau = lambda labels, scores: scipy.stats.kendalltau(labels, scores).statistic
        store("scipy", "default", name, "kendall", per_query(queries, tau))

    for name in ["graded", "binary"]:
        queries = sets[name]
        for k in CUTS:
            store("lightgbm", "lightgbm", name, f"ndcg@{k}", per_query(queries, ask_lightgbm("ndcg", k)))
            store("lightgbm", "lightgbm", name, f"map@{k}", per_query(queries, ask_lightgbm("map", k)))
        for at in ["", "@1", "@3", "@10", "@50"]:
            store("xgboost", "xgboost", name, f"ndcg{at}", per_query(queries, ask_xgboost(f"ndcg{at}")))
        for measure, ours in [("MAP", "map"), ("MRR", "mrr"), ("PrecisionAt", "p"), ("RecallAt", "recall")]:
            for k in [1, 3, 10]:
                ask = ask_catboost(f"{measure}:top={k}")
                store("catboost", "catboost", name, f"{ours}@{k}", per_query(queries, ask))
    queries = sets["binary"]
    for measure, ours in [("map", "map"), ("pre", "p")]:
        for at in ["", "@1", "@3", "@10", "@50"]:
            store("xgboost", "xgboost", "binary", f"{ours}{at}", per_query(queries, ask_xgboost(f"{measure}{at}")))
    store("catboost", "catboost", "binary", "auc", per_query(queries, ask_catboost("QueryAUC")))

    for name in ["trec", "trec-short"]:
        theirs = {"map": "map", "recip_rank": "mrr", "Rprec": "r-precision", "bpref": "bpref", "ndcg": "ndcg",
                  "set_F": "f1", "set_P": "p", "set_recall": "recall"}  # fmt: skip
        for k in [1, 5, 10, 30]:
            theirs |= {f"P_{k}": f"p@{k}", f"recall_{k}": f"recall@{k}", f"ndcg_cut_{k}": f"ndcg@{k}",
                       f"map_cut_{k}": f"map@{k}", f"success_{k}": f"success@{k}"}  # fmt: skip
        asked = {"map", "recip_rank", "Rprec", "bpref", "ndcg", "set_F", "set_P", "set_recall"}
        asked |= {f"{m}.1,5,10,30" for m in ["P", "recall", "ndcg_cut", "map_cut", "success"]}
        answer = ask_pytrec(sets[name], asked)
        for measure, ours in theirs.items():
            store("pytrec_eval", "trec", name, ours, answer(measure))
    for at in ["", "@1", "@5", "@30"]:
        for measure, ours in [("ndcg", "ndcg"), ("dcg", "dcg"), ("map", "map"), ("mrr", "mrr"), ("precision", "p"),
                              ("recall", "recall"), ("f1", "f1"), ("hit_rate", "success")]:  # fmt: skip
            store("ranx", "ranx", "trec-short", f"{ours}{at}", ask_ranx(sets["trec-short"], f"{measure}{at}"))
        burges = ask_ranx(sets["trec-short"], f"ndcg_burges{at}")
        store("ranx", "ranx", "trec-short", f"ndcg{at}:gain=exp2", burges)
    store("ranx", "ranx", "trec-short", "r-precision", ask_ranx(sets["trec-short"], "r-precision"))
    store("ranx", "ranx", "trec-short", "rbp:p=0.8", ask_ranx(sets["trec-short"], "rbp.80"))
    store("ranx", "ranx", "trec-short", "rbp:p=0.5", ask_ranx(sets["trec-short"], "rbp.5"))

    content = {
        "about": "made by generate.py; see there",
        "seed": SEED,
        "versions": {tool: version(tool) for tool in TOOLS},
        "sets": sets,
        "answers": answers,
    }
    lines = json.dumps(content, separators=(",", ":")).replace('{"tool"', '\n{"tool"').replace('{"labels"', '\n{"labels"')
    Path(__file__).with_name("answers.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
