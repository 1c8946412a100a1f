"""Prints the table of losses by scorers in docs/results.md.

    scorers.py DIRECTORY

DIRECTORY holds the results of `rankwise run experiments/losses-by-scorers.toml`. Below NDCG@10 of each loss with each scorer, a paired
randomisation test compares the scorers on each query's mean over all losses.
"""

import collections
import csv
import itertools
import json
import pathlib
import random
import sys

SCORERS = ("linear", "trees", "network")
DRAWS = 20_000


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def table(findings):
    names = [system["name"].rsplit(" ", 1) for system in findings["systems"]]
    standings = [findings["pooled"], *(data["standing"] for data in findings["data"])]
    found = collections.defaultdict(dict)
    for place, standing in enumerate(standings):
        for (loss, scorer), means in zip(names, standing["means"]):
            found[loss][place, scorer] = means[0]
    columns = list(itertools.product(range(len(standings)), SCORERS))
    yield "| loss |" + "".join(
        f" {(['both'] + [data['name'] for data in findings['data']])[place]}: {scorer} |" for place, scorer in columns
    )
    yield "|---|" + "---|" * len(columns)
    for loss in sorted(found, key=lambda loss: -max(found[loss][0, scorer] for scorer in SCORERS)):
        yield f"| `{loss}` |" + "".join(f" {found[loss][column]:.3f} |" for column in columns)


def comparisons(rows):
    by_query = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        by_query[row["data"], row["query"]][row["system"].rsplit(" ", 1)[1]].append(float(row["ndcg@10"] or 0))
    for one, other in itertools.combinations(SCORERS, 2):
        differences = [mean(query[one]) - mean(query[other]) for query in by_query.values()]
        draw, size = random.Random(1), abs(sum(differences))
        extreme = sum(abs(sum(d * draw.choice((-1, 1)) for d in differences)) >= size for _ in range(DRAWS))
        yield f"{one} against {other}: {mean(differences):+.4f}, p = {extreme / DRAWS:.3f} ({len(differences)} queries)"


def main():
    directory = pathlib.Path(sys.argv[1])
    print("\n".join(table(json.loads((directory / "findings.json").read_text()))), end="\n\n")
    with open(directory / "per_query.csv", newline="") as file:
        print("\n".join(comparisons(csv.DictReader(file))))


if __name__ == "__main__":
    main()
