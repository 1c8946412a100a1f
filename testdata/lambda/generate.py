"""Writes answers.json: gradients and curvatures of LightGBM's `lambdarank` (made with version 4.7).

LightGBM does not expose them, so a tree with one leaf for each document is refitted to the query: a leaf's value is
-gradient / (curvature + lambda_l2). A huge lambda_l2 gives the gradient, and lambda_l2 = 0 then gives the curvature.

LightGBM looks the logistic function up in a table of 2^20 steps over 50/sigmoid. With sigmoid = 50/64 a step is
2^-14 exactly. Scores that are multiples of it are exact ("exact": true); others are rounded down.
"""

import json
import pathlib

import lightgbm
import numpy as np

COMMON = {"min_data_in_bin": 1, "max_bin": 1000, "learning_rate": 1.0, "num_threads": 1, "verbosity": -1}
HUGE = 1e20


def tree_of_single_documents(column):
    squares = lightgbm.Dataset(column, label=(column.ravel() + 1) ** 2)
    parameters = {"objective": "regression", "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0}
    parameters |= {"num_leaves": len(column), "boost_from_average": False}
    return lightgbm.train(COMMON | parameters, squares, num_boost_round=1)


def gradient_and_curvature(labels, scores, parameters):
    column = np.arange(len(labels), dtype=float).reshape(-1, 1)
    tree = tree_of_single_documents(column)
    assert len(set(tree.predict(column, pred_leaf=True).ravel())) == len(labels)

    def leaf_values(lambda_l2):
        tree.params = COMMON | {"objective": "lambdarank", "lambda_l2": lambda_l2} | parameters
        refitted = tree.refit(
            column, labels, decay_rate=0.0, group=[len(labels)], init_score=scores, dataset_params=COMMON
        )
        return refitted.predict(column, raw_score=True)

    gradient, values = -leaf_values(HUGE) * HUGE, leaf_values(0.0)
    # A document without pairs has a gradient of exactly 0, and no curvature.
    return gradient, np.divide(-gradient, values, out=np.zeros_like(values), where=values != 0)


def main():
    random = np.random.default_rng(1)
    cases = []
    settings = [
        # sigma, k, normalize, linear, exact
        (50 / 64, 30, True, False, True),
        (50 / 64, 3, True, False, True),
        (50 / 64, 5, False, False, True),
        (50 / 64, 1000, True, True, True),
        (50 / 64, 1000, False, True, True),
        (1.0, 30, True, False, False),
        (2.0, 4, True, False, False),
    ]
    for sigma, k, normalize, linear, exact in settings:
        for n in (2, 7, 40):
            labels = random.permutation(np.arange(n) % 5)
            if exact:
                # So few values that some documents are tied.
                scores = random.integers(-150, 150, n) / 64
            else:
                scores = np.round(random.normal(size=n) * 2, 4)
            parameters = {
                "sigmoid": sigma,
                "lambdarank_truncation_level": k,
                "lambdarank_norm": normalize,
            }
            if linear:
                parameters["label_gain"] = ",".join(map(str, range(31)))
            gradient, curvature = gradient_and_curvature(labels, scores, parameters)
            cases.append(
                {
                    "sigma": sigma,
                    "k": k,
                    "normalize": normalize,
                    "linear": linear,
                    "exact": exact,
                    "labels": labels.tolist(),
                    "scores": scores.tolist(),
                    "gradient": gradient.tolist(),
                    "curvature": curvature.tolist(),
                }
            )
    # All scores equal, as in the first iteration of boosting, where nothing is damped.
    for n in (5, 40):
        labels = np.concatenate([random.integers(0, 5, n - 1), [4]])
        gradient, curvature = gradient_and_curvature(labels, np.zeros(n), {"sigmoid": 50 / 64})
        cases.append(
            {"sigma": 50 / 64, "k": 30, "normalize": True, "linear": False, "exact": True}
            | {"labels": labels.tolist(), "scores": [0.0] * n}
            | {"gradient": gradient.tolist(), "curvature": curvature.tolist()}
        )
    text = ",\n".join(json.dumps(case) for case in cases)
    pathlib.Path(__file__).with_name("answers.json").write_text(f"[\n{text}\n]\n")


main()
