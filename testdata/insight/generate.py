"""Trains small LightGBM models on seeded random data and stores their trees and what `pred_contrib` returns for documents.

    python testdata/insight/generate.py        (with lightgbm and numpy)

writes lightgbm.json beside this file: for each model its trees in the arrays of `trees::Tree`, rows (null where a
value is missing), and for each row LightGBM's contributions, the base last. crates/rankwise/src/models/insight/tests.rs
compares them with ours.
"""

import json
from pathlib import Path

import lightgbm
import numpy as np

SEED = 20266
ROWS = 25


def at_most(threshold):
    """The greatest float32 that is not above a float64."""
    with np.errstate(over="ignore"):  # 1e300 stands for every value that is not missing
        single = np.float32(threshold)
    return float(np.nextafter(single, np.float32(-np.inf)) if float(single) > threshold else single)


def arrays(root):
    """A tree of `dump_model`, its nodes numbered from the root down, leaves as the complement of their number."""
    tree = {k: [] for k in ("features", "thresholds", "missing_left", "left", "right", "gains", "values", "covers")}

    def add(node):
        if "leaf_value" in node:
            tree["values"].append(node["leaf_value"])
            tree["covers"].append(node.get("leaf_count", 0))
            return ~(len(tree["values"]) - 1)
        assert node["decision_type"] == "<=" and node["missing_type"] == "NaN", node
        number = len(tree["features"])
        tree["features"].append(node["split_feature"])
        tree["thresholds"].append(at_most(node["threshold"]))
        tree["missing_left"].append(node["default_left"])
        tree["gains"].append(node["split_gain"])
        tree["left"].append(None)
        tree["right"].append(None)
        tree["left"][number] = add(node["left_child"])
        tree["right"][number] = add(node["right_child"])
        return number

    add(root)
    return tree


def model(random, features, leaves, rounds, depth):
    documents = 600
    x = random.normal(size=(documents, features)).astype(np.float32)
    x[:, 0] = np.round(x[:, 0])
    x[random.random(x.shape) < 0.15] = np.nan
    known = np.nan_to_num(x)
    y = known[:, 0] + np.sin(2 * known[:, 1]) * known[:, 2] + 0.5 * np.isnan(x[:, 3]) + 0.1 * random.normal(size=documents)
    booster = lightgbm.train(
        {"objective": "regression", "num_leaves": leaves, "max_depth": depth, "min_data_in_leaf": 3,
         "learning_rate": 0.2, "seed": SEED, "num_threads": 1, "deterministic": True, "verbose": -1},
        lightgbm.Dataset(x, y), num_boost_round=rounds,
    )
    rows = x[random.choice(documents, ROWS, replace=False)]
    return {
        "width": features,
        "trees": [arrays(t["tree_structure"]) for t in booster.dump_model()["tree_info"]],
        "rows": [[None if np.isnan(v) else float(v) for v in row] for row in rows],
        "contributions": booster.predict(rows, pred_contrib=True).tolist(),
    }


random = np.random.default_rng(SEED)
stored = {
    "lightgbm": lightgbm.__version__,
    "seed": SEED,
    "models": [model(random, 5, 8, 6, -1), model(random, 12, 31, 5, -1), model(random, 20, 40, 2, 15)],
}
path = Path(__file__).with_name("lightgbm.json")
path.write_text(json.dumps(stored) + "\n")
print(path, path.stat().st_size)
