"""Writes answers.json: clicks on lists, and the position biases and scores of LightGBM's `lambdarank` that learns from
them (made with version 4.7).

LightGBM prints the biases after every round with verbosity 2. Feature values are multiples of 1/8, so both tools see the
same bins. It guesses the number of documents in a leaf from their curvature, so leaves are limited by that alone.
"""

import json
import pathlib
import re

import lightgbm
import numpy as np

QUERIES, RANKS, ROUNDS = 80, 6, 10
PARAMETERS = {
    "objective": "lambdarank",
    "learning_rate": 0.2,
    "num_leaves": 6,
    "min_data_in_leaf": 0,
    "min_sum_hessian_in_leaf": 2.0,
    "min_data_in_bin": 1,
    "lambdarank_truncation_level": 30,
    "lambda_l2": 0.5,
    "boost_from_average": False,
    "feature_pre_filter": False,
    "num_threads": 1,
    "deterministic": True,
    "verbosity": 2,
}


class Lines:
    def __init__(self):
        self.lines = []

    def info(self, text):
        self.lines.append(text)

    warning = info


def biases(lines):
    """The last table of biases."""
    rows = re.findall(r"\[Debug\]\s+(\d+)\s+(-?\d[\d.]*(?:e-?\d+)?)", "".join(lines))
    assert [int(position) for position, _ in rows[-RANKS:]] == list(range(RANKS))
    return [float(bias) for _, bias in rows[-RANKS:]]


def case(seed, regularization):
    random = np.random.default_rng(seed)
    values = random.integers(0, 8, (QUERIES * RANKS, 3)) / 8
    positions = np.tile(np.arange(RANKS), QUERIES)
    attraction = 0.1 + 0.8 * (values[:, 0] + 0.5 * values[:, 1]) / 1.5
    clicks = (random.random(len(values)) < attraction / (1 + positions)).astype(float)
    logger = Lines()
    lightgbm.register_logger(logger)
    data = lightgbm.Dataset(values, label=clicks, group=[RANKS] * QUERIES, position=positions)
    parameters = PARAMETERS | {"lambdarank_position_bias_regularization": regularization}
    model = lightgbm.train(parameters, data, num_boost_round=ROUNDS)
    return {
        "regularization": regularization,
        "values": values.ravel().tolist(),
        "clicks": clicks.tolist(),
        "biases": biases(logger.lines),
        "scores": model.predict(values).tolist(),
    }


if __name__ == "__main__":
    cases = [case(1, 0.0), case(2, 0.05)]
    answer = {"queries": QUERIES, "ranks": RANKS, "rounds": ROUNDS, "cases": cases}
    pathlib.Path(__file__).with_name("answers.json").write_text(json.dumps(answer) + "\n")
