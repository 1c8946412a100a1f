"""Learned rankings beside BM25 on text collections, by cross-validation over queries.

    python experiments/search.py ../shared/data/text/cranfield …

A folder has docs.jsonl, queries.tsv and qrels.txt, plain or compressed. Every query is ranked by a model that has not seen
it: the model orders the first hundred documents of BM25, and the others follow. The judgments are complete, so relevant
documents that BM25 does not find count against all systems.
"""

import argparse
import tempfile
from pathlib import Path

import rankwise as rw


def path(folder: Path, name: str) -> Path:
    return next(file for file in (folder / name, folder / f"{name}.zst", folder / f"{name}.gz") if file.exists())


def reranked(data: rw.Data, scores, bm25: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """A run in which the candidates come by these scores, and the other documents of BM25 behind them."""
    run: dict[str, dict[str, float]] = {}
    for query, document, score in zip(data.qid, data.docid, scores):
        run.setdefault(query, {})[document] = float(score)
    for query, candidates in run.items():
        others = [document for document in bm25[query] if document not in candidates]
        last = min(candidates.values())
        candidates.update((document, last - 1 - place) for place, document in enumerate(others))
    return run


def study(folder: Path, learners: list[str], sets: list[str], folds: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as work:
        links = "cites" if folder.name == "cacm" else ()
        index = rw.Index.create(Path(work) / "index", path(folder, "docs.jsonl"), links=links)
        queries, qrels = path(folder, "queries.tsv"), path(folder, "qrels.txt")
        bm25 = index.run(queries)
        systems = {"BM25": bm25}
        for features in sets:
            data = index.features(queries, qrels=qrels, set=features)
            for learner in learners:
                name, _, normalize = learner.partition("+")
                recipe = rw.Recipe(name, metric="ndcg@10", seed=seed, normalize=normalize or None)
                found = rw.cross_validate(recipe, data, cv=folds)
                systems[f"{learner} ({features})"] = reranked(data, found.scores, bm25)
        found = rw.compare(qrels, systems, "ndcg@10,map", baseline="BM25", preset="trec")
        print(f"{folder.name}: {len(index)} documents\n{found}\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--learners", nargs="+", default=["lambda-mart", "regression+z-score"])
    parser.add_argument("--sets", nargs="+", default=["mslr", "small"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for folder in arguments.folders:
        study(folder, arguments.learners, arguments.sets, arguments.folds, arguments.seed)


if __name__ == "__main__":
    main()
