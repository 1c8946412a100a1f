"""Stores what ranx makes of several runs, for each method of fusion and normalisation of scores.

    python -m venv .venv && .venv/bin/pip install ranx==0.3.21
    .venv/bin/python testdata/fusion/generate.py

writes answers.json beside this file: `runs`, each {topic: {document: score}}, and `answers`, one per method and
normalisation, {topic: {document: score}}. crates/rankwise/tests/fusion.rs compares them with ours. Scores within a topic
of `untied` are all different, because ranx does not say how it orders equal ones; those of `tied` are not, for the
methods that do not look at ranks.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

import ranx

SEED = 20263
RANKED = [("rrf", None, {"k": 60}), ("rrf", None, {"k": 5})]
SUMS = [(method, norm, {}) for method in ["sum", "mnz"] for norm in [None, "min-max", "max", "sum", "zmuv"]]
BY_RANK = [(method, "rank", {}) for method in ["sum", "mnz"]]


def run(rng, scale, untied):
    """Four topics of some of 15 documents; topic 3 has a single one."""
    lists = {}
    for topic in range(4):
        documents = rng.sample(range(15), 1 if topic == 3 else rng.randrange(2, 13))
        values = rng.sample(range(1, 400), len(documents)) if untied else [rng.randrange(1, 5) for _ in documents]
        lists[f"t{topic}"] = {f"d{d:02}": scale * v / 7 for d, v in zip(documents, values)}
    return lists


def fuse(runs, method, norm, params):
    made = [ranx.Run(lists, name=str(i)) for i, lists in enumerate(runs)]
    fused = ranx.fuse(made, norm=norm, method=method, params=params)
    return {topic: dict(sorted(lists.items())) for topic, lists in fused.to_dict().items()}


def main():
    rng = random.Random(SEED)
    sets = {
        "untied": [run(rng, scale, True) for scale in [1, 0.01, 30]],
        "tied": [run(rng, scale, False) for scale in [1, 0.01, 30]],
    }
    answers = []
    for name, asked in [("untied", RANKED + SUMS + BY_RANK), ("tied", SUMS)]:
        for method, norm, params in asked:
            values = fuse(sets[name], method, norm, params)
            answers.append({"set": name, "method": method, "norm": norm or "none", **params, "values": values})
    content = {
        "about": "made by generate.py; see there",
        "seed": SEED,
        "versions": {"ranx": version("ranx")},
        "sets": sets,
        "answers": answers,
    }
    lines = json.dumps(content, separators=(",", ":")).replace('{"set"', '\n{"set"').replace('{"t0"', '\n{"t0"')
    Path(__file__).with_name("answers.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
