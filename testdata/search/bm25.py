"""Writes bm25s.json: BM25 of every document for some queries, by bm25s (PyPI, method "lucene").

    pip install bm25s==0.3.16 && python bm25.py

The texts are drawn at random from invented words, and cut at spaces, so that any tool sees the same tokens.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

import bm25s

random.seed(19)
WORDS = [a + b for a in ("ba", "du", "ki", "lo", "me") for b in ("ran", "sol", "tip", "vek", "zum")]
weights = [1 / (rank + 1) for rank in range(len(WORDS))]


def text(words):
    return " ".join(random.choices(WORDS, weights, k=words))


documents = [text(random.choice([1, 3, 8, 20, 60])) for _ in range(40)]
queries = [text(words) for words in (1, 1, 2, 3, 4, 6, 12)] + [WORDS[0], "nowhere", "nowhere " + WORDS[3]]

answers = []
for k1, b in [(1.2, 0.75), (0.9, 0.4), (2.5, 0.0), (1.0, 1.0)]:
    ranker = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    ranker.index([document.split() for document in documents], show_progress=False)
    known = set(" ".join(documents).split())
    scores = []
    for query in queries:
        words = [word for word in query.split() if word in known]
        row = ranker.get_scores(words) if words else [0.0] * len(documents)
        scores.append([round(float(score), 6) for score in row])
    answers.append({"k1": k1, "b": b, "scores": scores})

result = {"tool": "bm25s " + version("bm25s"), "documents": documents, "queries": queries, "answers": answers}
lines = json.dumps(result).replace('"answers": [', '"answers": [\n').replace("}, {", "},\n{")
Path(__file__).with_name("bm25s.json").write_text(lines + "\n")
