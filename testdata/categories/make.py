"""Stores models of LightGBM with categorical splits, and its scores and contributions. Run by hand:

    python -m venv .venv && .venv/bin/pip install lightgbm==4.7.0 pandas==3.1.1 numpy==2.4.6
    .venv/bin/python testdata/categories/make.py

train.csv has text and whole numbers as categories, some missing. rows.csv has the documents that are scored, some with
categories that training did not see. answers.json has LightGBM's answers for them, in the order of the rows.
"""

import json
import re
from pathlib import Path

import lightgbm
import numpy as np
import pandas

HERE = Path(__file__).parent
COLUMNS = ["price", "brand", "shop", "colour"]
BRANDS = [f"brand {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]
COLOURS = ["blue", "green", "red"]


def documents(rng, count, per_query, missing):
    """Documents whose labels depend on price, brand and shop."""
    effects = np.random.default_rng(7).normal(size=(len(BRANDS), 9))
    brand, shop = rng.integers(0, len(BRANDS), count), rng.integers(0, 9, count)
    price = np.round(rng.normal(size=count), 1)
    colour = rng.integers(0, len(COLOURS), count)
    worth = effects[brand, shop] + effects[brand, 0] + 0.5 * price + 0.8 * (colour == 1) + rng.normal(size=count) * 0.5
    frame = pandas.DataFrame({
        "label": np.clip(np.round(worth + 1.5), 0, 4).astype(int),
        "qid": [f"q{i // per_query}" for i in range(count)],
        "price": price,
        "brand": np.array(BRANDS, dtype=object)[brand],
        "shop": (3 * shop + 1).astype(float),
        "colour": np.array(COLOURS, dtype=object)[colour],
    })
    for column in ["price", "brand", "shop"]:
        frame.loc[rng.random(count) < missing, column] = None
    return frame


def typed(frame, like=None):
    """The features, categories as pandas has them."""
    features = frame[COLUMNS].copy()
    for column in COLUMNS[1:]:
        values = features[column] if column != "shop" else features[column].astype("Int64")
        known = sorted(values.dropna().unique()) if like is None else like[column].cat.categories
        features[column] = pandas.Categorical(values.where(values.isin(known)), categories=known)
    return features


def store(name, booster):
    """Saves a model without its parameters, which change from run to run."""
    text = booster.model_to_string()
    (HERE / name).write_text(re.sub(r"parameters:\n.*?end of parameters", "parameters:\nend of parameters", text, flags=re.S))


def written(path, frame):
    frame = frame.copy()
    frame["shop"] = frame["shop"].map(lambda x: "" if pandas.isna(x) else str(int(x)))
    frame.to_csv(path, index=False)


def main():
    rng = np.random.default_rng(1)
    train, rows = documents(rng, 1500, 15, 0.06), documents(rng, 60, 10, 0.1)
    rows.loc[::7, "brand"] = "brand unseen"
    rows.loc[3::11, "shop"] = 2.0
    whole = documents(rng, 1200, 12, 0.0)
    written(HERE / "train.csv", train)
    written(HERE / "whole.csv", whole)
    written(HERE / "rows.csv", rows)
    fixed = {"verbosity": -1, "seed": 1, "num_threads": 1, "deterministic": True, "min_data_in_bin": 1, "feature_pre_filter": False}
    answers = {}

    features = typed(train)
    ranker = {**fixed, "objective": "lambdarank", "num_leaves": 7, "min_data_in_leaf": 10, "min_data_per_group": 20,
              "learning_rate": 0.2}
    booster = lightgbm.train(ranker, lightgbm.Dataset(features, train["label"], group=[15] * 100), 8)
    store("lightgbm-pandas.txt", booster)
    tested = typed(rows, features)
    answers["lightgbm-pandas.txt"] = {
        "scores": booster.predict(tested).tolist(),
        "contributions": booster.predict(tested, pred_contrib=True).tolist(),
    }

    # Codes of any size as numbers, without names. LightGBM takes negative codes for missing, so there are none.
    codes = lambda frame: np.column_stack([frame["price"], 37 * frame["shop"], frame["shop"]]).astype(float)
    numbered = lightgbm.Dataset(codes(train), train["label"], group=[15] * 100, categorical_feature=[1])
    booster = lightgbm.train(ranker, numbered, 5)
    store("lightgbm-numbers.txt", booster)
    answers["lightgbm-numbers.txt"] = {"scores": booster.predict(codes(rows)).tolist()}

    # The first tree at equal settings, on data without missing values: their sets are tried in the same order then.
    single = {**fixed, "objective": "regression", "learning_rate": 1.0, "num_leaves": 12, "min_data_in_leaf": 15,
              "min_data_per_group": 30, "cat_smooth": 1.0, "cat_l2": 7.0, "lambda_l2": 0.5}
    for name, onehot in [("lightgbm-tree-sets.txt", 1), ("lightgbm-tree-onehot.txt", 5)]:
        # LightGBM counts a bin for unseen categories among those of a feature: 5 is 4 categories.
        features = typed(whole)
        booster = lightgbm.train({**single, "max_cat_to_onehot": onehot}, lightgbm.Dataset(features, whole["label"]), 1)
        store(name, booster)
        answers[name] = {"scores": booster.predict(features).tolist()}
    (HERE / "answers.json").write_text(json.dumps(answers) + "\n")


main()
