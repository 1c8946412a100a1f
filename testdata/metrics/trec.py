"""Stores the metrics of trec_eval and ir-measures that generate.py does not ask for.

    python -m venv .venv && .venv/bin/pip install pytrec_eval-terrier==0.5.11 ir-measures==0.4.3
    .venv/bin/python testdata/metrics/trec.py

reads the `sets` of answers.json and writes trec-answers.json beside this file, in the same form. Two sets are added: in
`trec-untied` no scores are equal, because ir-measures orders equal ones by ascending document id in `Judged`, and
trec_eval by descending; in `trec-pooled` most of the pool is unjudged, for infAP.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

import ir_measures
import pytrec_eval

HERE = Path(__file__).parent
SEED = 20262
TOOLS = ["pytrec_eval-terrier", "ir-measures"]
# trec_eval's names, and ours.
ASKED = {
    "infAP": "inf-ap",
    "11pt_avg": "11pt-avg",
    "set_map": "set-map",
    "set_relative_P": "set-relative-p",
    "num_q": "num-q",
    "num_ret": "num-ret",
    "num_rel": "num-rel",
    "num_rel_ret": "num-rel-ret",
}
LEVELS = {f"iprec_at_recall_{level / 10:.2f}": f"iprec@{level / 10:g}" for level in range(11)}


def topic(rng, n, grades, untied):
    """Judged and unjudged (null) documents; those after the scores were not retrieved."""
    retrieved = max(1, n * rng.choice([2, 3, 4]) // 4)
    labels = [rng.choice(grades) for _ in range(n)]
    labels[retrieved:] = [g if g is not None else 0 for g in labels[retrieved:]]
    chosen = rng.sample(range(1000), retrieved) if untied else [rng.randrange(12) for _ in range(retrieved)]
    ids = rng.sample(range(100, 1000), n)
    return {"labels": labels, "scores": [s / 8 for s in chosen], "ids": [f"d{i}" for i in ids]}


def as_trec(queries):
    qrels = {f"q{q:02}": {d: g for d, g in zip(t["ids"], t["labels"]) if g is not None} for q, t in enumerate(queries)}
    run = {f"q{q:02}": dict(zip(t["ids"], t["scores"])) for q, t in enumerate(queries)}
    return qrels, run


def ask_pytrec(queries):
    qrels, run = as_trec(queries)
    found = pytrec_eval.RelevanceEvaluator(qrels, set(ASKED) | {"iprec_at_recall"}).evaluate(run)
    return {ours: [found[q][theirs] for q in sorted(qrels)] for theirs, ours in (ASKED | LEVELS).items()}


def ask_ir_measures(queries, name):
    qrels, run = as_trec(queries)
    values = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)}
    return [values.get(q) for q in sorted(qrels)]


def main():
    rng = random.Random(SEED)
    sets = {
        "trec-untied": [topic(rng, rng.randrange(2, 40), [0, 0, 1, 2, None, None, -1], True) for _ in range(20)],
        "trec-pooled": [topic(rng, rng.randrange(5, 60), [0, 1, 1, 3, -1, -1, -1, -2, None], False) for _ in range(20)],
    }
    stored = json.loads((HERE / "answers.json").read_text())["sets"]
    asked = {name: stored[name] for name in ["trec", "trec-short"]} | sets
    answers = []

    def store(tool, name, metric, values):
        answers.append(
            {"tool": tool, "preset": "trec", "set": name, "metric": metric, "tolerance": 1e-9, "values": values}
        )

    for name, queries in asked.items():
        for ours, values in ask_pytrec(queries).items():
            store("pytrec_eval", name, ours, values)
    for at in ["", "@1", "@5", "@10", "@50"]:
        store("ir-measures", "trec-untied", f"judged{at}", ask_ir_measures(sets["trec-untied"], f"Judged{at}"))
    for theirs, ours in [("SetAP", "set-map"), ("infAP", "inf-ap"), ("IPrec@0.35", "iprec@0.35"), ("NumRel", "num-rel")]:
        store("ir-measures", "trec-untied", ours, ask_ir_measures(sets["trec-untied"], theirs))
    content = {
        "about": "made by trec.py; see there",
        "seed": SEED,
        "versions": {tool: version(tool) for tool in TOOLS},
        "sets": sets,
        "answers": answers,
    }
    lines = json.dumps(content, separators=(",", ":")).replace('{"tool"', '\n{"tool"').replace('{"labels"', '\n{"labels"')
    (HERE / "trec-answers.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
