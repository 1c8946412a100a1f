"""NDCG@10 beside LightGBM and CatBoost on synthetic data with categorical features. Run by hand:

    python -m venv .venv && .venv/bin/pip install lightgbm==4.7.0 catboost==1.2.10 pandas numpy
    .venv/bin/python experiments/categories.py target/release/rankwise [FOLDER]

Labels depend on numbers, on a brand (400 of them, a few frequent and most rare), on a city (40) and on a device (3), whose
effect differs from brand to brand. All tools grow 300 trees of 31 leaves with learning rate .05, without early stopping.
"""

import subprocess
import sys
import time
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import pandas

CATEGORIES = ["brand", "city", "device"]


def documents(seed, queries, per_query=20):
    """Documents of one split; the effects of categories are the same in all splits."""
    world, rng = np.random.default_rng(0), np.random.default_rng(seed)
    brands, cities, devices = world.normal(size=400), world.normal(size=40), world.normal(size=(400, 3))
    share = 1 / np.arange(1, 401)
    count = queries * per_query
    brand = rng.choice(400, count, p=share / share.sum())
    city, device = rng.integers(0, 40, count), rng.integers(0, 3, count)
    numbers = np.round(rng.normal(size=(count, 5)), 3)
    worth = numbers[:, 0] + 0.5 * numbers[:, 1] * (device == 1) + brands[brand] + 0.7 * cities[city]
    worth += devices[brand, device] + rng.normal(size=count) * 1.5
    frame = pandas.DataFrame(numbers, columns=[f"x{i}" for i in range(5)])
    frame["brand"] = [f"brand {b}" for b in brand]
    frame["city"] = [f"city {c}" for c in city]
    frame["device"] = np.array(["desktop", "phone", "tablet"], dtype=object)[device]
    frame.insert(0, "label", np.digitize(worth, [0.5, 1.5, 2.5, 4.0]))
    frame.insert(1, "qid", np.arange(count) // per_query)
    return frame


def main():
    program, folder = sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "categories")
    folder.mkdir(exist_ok=True)
    train, test = documents(1, 2000), documents(2, 2000)
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)

    def report(name, begun, scores):
        seconds = time.time() - begun
        (folder / f"{name}.txt").write_text("".join(f"{score!r}\n" for score in map(float, scores)))
        columns = ["--categorical", ",".join(CATEGORIES)]
        command = [program, "eval", folder / f"{name}.txt", folder / "test.csv", "--metrics", "ndcg@10", *columns]
        value = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("ndcg@10")[1].split()[0]
        print(f"{name:24} ndcg@10 {value}   {seconds:.1f} s", flush=True)

    settings = ["--set", "iterations=300", "--set", "learning_rate=0.05", "--set", "num_leaves=31", "--threads", "1"]
    codes = {c: sorted(train[c].unique()) for c in CATEGORIES}
    for name, roles in [("rankwise", ["--categorical", ",".join(CATEGORIES)]), ("rankwise-as-numbers", None)]:
        files = [folder / "train.csv", folder / "test.csv"]
        if roles is None:
            files = [folder / "train-numbers.csv", folder / "test-numbers.csv"]
            for frame, file in zip([train, test], files):
                numbered = frame.assign(**{c: pandas.Categorical(frame[c], categories=codes[c]).codes for c in CATEGORIES})
                numbered.to_csv(file, index=False)
        begun = time.time()
        model = folder / f"{name}.json"
        subprocess.run([program, "train", "lambda-mart", "--train", files[0], *(roles or []), *settings, "-o", model, "-q"],
                       check=True, capture_output=True)
        scores = subprocess.run([program, "score", model, files[1]], check=True, capture_output=True, text=True).stdout
        report(name, begun, scores.split())

    typed = lambda frame: frame.drop(columns=["label", "qid"]).assign(
        **{c: pandas.Categorical(frame[c].where(frame[c].isin(codes[c])), categories=codes[c]) for c in CATEGORIES})
    begun = time.time()
    parameters = {"objective": "lambdarank", "learning_rate": 0.05, "num_leaves": 31, "num_threads": 1, "verbosity": -1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(typed(train), train["label"], group=[20] * 2000), 300)
    report("lightgbm", begun, booster.predict(typed(test)))

    for loss in ["YetiRank", "QueryRMSE"]:
        pool = lambda frame: catboost.Pool(frame.drop(columns=["label", "qid"]), frame["label"], group_id=frame["qid"],
                                           cat_features=CATEGORIES)
        begun = time.time()
        parameters = {"loss_function": loss, "iterations": 300, "learning_rate": 0.05, "thread_count": 1, "random_seed": 1,
                      "grow_policy": "Lossguide", "max_leaves": 31, "verbose": False, "allow_writing_files": False}
        booster = catboost.CatBoost(parameters).fit(pool(train))
        report(f"catboost-{loss}", begun, booster.predict(pool(test)))


main()
