"""Answers of scikit-learn, statsmodels, krippendorff and crowd-kit that crates/rankwise/tests/labels_stored.rs compares with.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scikit-learn statsmodels krippendorff crowd-kit
    /tmp/venv/bin/python testdata/labels/generate.py > testdata/labels/answers.json
"""

import importlib.metadata
import json

import krippendorff
import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

random = np.random.default_rng(20261118)


def ratings(documents, judges, grades, missing):
    """Noisy copies of a true grade; -1 is missing, and every document has a judgment."""
    truth = random.integers(0, grades, documents)
    noise = random.uniform(0.1, 0.6, judges)
    table = np.empty((documents, judges), dtype=int)
    for j in range(judges):
        wrong = random.random(documents) < noise[j]
        table[:, j] = np.where(wrong, random.integers(0, grades, documents), truth)
    holes = random.random(table.shape) < missing
    holes[np.arange(documents), random.integers(0, judges, documents)] = False
    table[holes] = -1
    return table


def agreement(documents, judges, grades, missing):
    table = ratings(documents, judges, grades, missing)
    answer = {"ratings": table.tolist()}
    reliability = np.where(table.T < 0, np.nan, table.T)
    for level in ("nominal", "ordinal", "interval"):
        answer["alpha_" + level] = krippendorff.alpha(reliability, level_of_measurement=level)
    if missing == 0:
        answer["fleiss"] = fleiss_kappa(aggregate_raters(table)[0])
    if judges == 2:
        both = table[(table >= 0).all(axis=1)]
        for name, weights in (("cohen", None), ("cohen_linear", "linear"), ("cohen_quadratic", "quadratic")):
            answer[name] = cohen_kappa_score(both[:, 0], both[:, 1], weights=weights)
    return answer


def dawid_skene(documents, judges, grades, missing, iterations):
    table = ratings(documents, judges, grades, missing)
    rows = [(f"d{i:03}", f"j{j:02}", int(g)) for i, row in enumerate(table) for j, g in enumerate(row) if g >= 0]
    data = pd.DataFrame(rows, columns=["task", "worker", "label"])
    model = DawidSkene(n_iter=iterations, tol=-1e9).fit(data)
    probabilities = model.probas_.sort_index()[sorted(model.probas_.columns)]
    return {
        "ratings": table.tolist(),
        "iterations": iterations,
        "grades": [int(g) for g in probabilities.columns],
        "probabilities": probabilities.to_numpy().tolist(),
    }


packages = ("scikit-learn", "statsmodels", "krippendorff", "crowd-kit")
answers = {
    "made_with": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages),
    "agreement": [
        agreement(40, 2, 3, 0),
        agreement(60, 2, 5, 0.2),
        agreement(50, 4, 4, 0),
        agreement(50, 6, 5, 0.4),
        agreement(12, 3, 2, 0),
    ],
    "dawid_skene": [dawid_skene(60, 5, 3, 0, 20), dawid_skene(80, 8, 4, 0.5, 30), dawid_skene(40, 3, 2, 0.1, 1)],
}
print(json.dumps(answers, indent=None, separators=(",", ":")))
