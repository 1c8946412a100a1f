"""Trains small models with LightGBM, XGBoost and CatBoost and stores them with rows and the tool's own scores.

    python -m venv .venv && .venv/bin/pip install lightgbm==4.7.0 xgboost==3.2.0 catboost==1.2.10 numpy
    .venv/bin/python testdata/interchange/make.py

writes models and answers.json beside this file: for each model its file, the rows (features as the bits of f32, so
that NaN, -0 and neighbouring floats survive) and the scores (as the bits of f64), before any transformation by the
objective (`raw_score`, `output_margin`, `RawFormulaVal`). crates/rankwise/tests/interchange.rs compares them with ours.
"""

import json
import re
import struct
import tempfile
import warnings
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost

warnings.filterwarnings("ignore")
HERE = Path(__file__).parent
SEED = 20266
WIDTH = 5
NAMES = ["bm25", "tf_idf", "page-rank", "längd", "clicks"]


def training_data(rng, negative=True):
    """Twelve queries of 25 documents; zeros, missing values and few-valued columns among the features."""
    rows = rng.normal(size=(300, WIDTH)).astype(np.float32)
    if not negative:
        rows = np.abs(rows)
    rows[:, 1] = np.round(rows[:, 1])
    rows[:, 2] *= np.float32(1e-30)
    rows[rng.random(rows.shape) < 0.15] = 0
    rows[:, 3:][rng.random((300, 2)) < 0.2] = np.nan
    known = np.nan_to_num(rows)
    signal = known[:, 0] + known[:, 1] + np.sign(known[:, 2]) + 2 * np.isnan(rows[:, 3]) + rng.normal(size=300)
    grades = np.digitize(signal, [-0.5, 1.0, 2.5])
    return rows, grades, [25] * 12


def test_rows(rng, thresholds):
    """Rows around every threshold of the model, on it, and at the ends of what f32 can hold."""
    special = [0.0, -0.0, np.nan, 1e-45, -1e-45, 1e-38, 1e-35, -1e-35, 9.9e-36, -9.9e-36, 3.4028235e38, -3.4028235e38]
    rows = [np.full(WIDTH, value, np.float32) for value in special]
    for feature, threshold in sorted(thresholds):
        near = np.float32(np.clip(threshold, -3.4e38, 3.4e38))
        for value in [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]:
            row = rng.normal(size=WIDTH).astype(np.float32)
            row[rng.random(WIDTH) < 0.2] = rng.choice(np.array(special, np.float32))
            row[feature] = value
            rows.append(row)
    return np.array(rows, np.float32)


def bits(numbers, kind):
    """Numbers as the hexadecimal digits of their big-endian bytes."""
    return [struct.pack(">" + kind, number).hex() for number in np.asarray(numbers).ravel().tolist()]


def answer(name, rows, scores):
    width = rows.shape[1]
    packed = ["".join(bits(row, "f")) for row in rows]
    return {"file": name, "width": width, "rows": packed, "scores": bits(scores, "d")}


def lightgbm_thresholds(booster):
    """The distinct tests, few of each feature."""
    found = {}
    for tree in booster.dump_model()["tree_info"]:
        nodes = [tree["tree_structure"]]
        while nodes:
            node = nodes.pop()
            if "split_feature" in node:
                found.setdefault(node["split_feature"], set()).add(node["threshold"])
                nodes += [node["left_child"], node["right_child"]]
    return [(feature, t) for feature, ts in found.items() for t in sorted(ts)[:5]]


def xgboost_thresholds(path):
    found = {}
    learner = json.loads(path.read_text())["learner"]["gradient_booster"]
    model = learner.get("model") or learner["gbtree"]["model"]
    for tree in model["trees"]:
        for left, feature, t in zip(tree["left_children"], tree["split_indices"], tree["split_conditions"]):
            if left >= 0:
                found.setdefault(feature, set()).add(t)
    return [(feature, t) for feature, ts in found.items() for t in sorted(ts)[:5]]


def lightgbm_models(rng):
    fixed = {"verbosity": -1, "min_data_in_leaf": 3, "num_leaves": 6, "seed": 1, "num_threads": 1, "deterministic": True}
    cases = {
        "lambdarank": {"objective": "lambdarank"},
        "names": {"objective": "lambdarank"},
        "regression": {"objective": "regression", "min_data_in_bin": 1},
        "no-missing": {"objective": "rank_xendcg", "use_missing": False},
        "zero-missing": {"objective": "regression", "zero_as_missing": True},
        "dart": {"objective": "lambdarank", "boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0},
        "forest": {"objective": "regression", "boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
        "binary": {"objective": "binary"},
        "constant": {"objective": "regression", "min_gain_to_split": 1e9},
    }
    for name, parameters in cases.items():
        # A model that treats 0 as missing can be read only if no value is negative.
        rows, grades, groups = training_data(rng, negative=name != "zero-missing")
        labels = grades > 1 if name == "binary" else grades
        data = lightgbm.Dataset(rows, labels, group=groups, feature_name=NAMES if name == "names" else "auto")
        booster = lightgbm.train({**fixed, **parameters}, data, 6)
        path = HERE / f"lightgbm-{name}.txt"
        text = booster.model_to_string()
        if name == "zero-missing":
            text = expressible(text)
            booster = lightgbm.Booster(model_str=text)
        # Most of the parameters are irrelevant here and would only take space.
        path.write_text(re.sub(r"parameters:\n.*?end of parameters", "parameters:\nend of parameters", text, flags=re.S))
        chosen = test_rows(rng, lightgbm_thresholds(booster))
        # A forest's raw score is a sum; only its prediction is the mean.
        answers.append(answer(path.name, chosen, booster.predict(chosen, raw_score=name != "forest")))


def expressible(text):
    """The model with zero sent along with its neighbours at every test: the one kind of test on zero we read."""
    def mend(block):
        thresholds = [float(t) for t in re.search(r"\nthreshold=(.*)", block).group(1).split()]
        kinds = " ".join("6" if t >= 0 else "4" for t in thresholds)
        return re.sub(r"\ndecision_type=.*", f"\ndecision_type={kinds}", block)
    head, *trees = re.sub(r"tree_sizes=.*\n", "", text).split("Tree=")
    return head + "".join("Tree=" + mend(tree) for tree in trees)


def xgboost_models(rng):
    fixed = {"max_depth": 3, "seed": 1, "nthread": 1, "min_child_weight": 0.1}
    cases = {
        "ndcg": {"objective": "rank:ndcg"},
        "names": {"objective": "rank:pairwise"},
        "regression": {"objective": "reg:squarederror", "base_score": 0.75},
        "dart": {"objective": "rank:ndcg", "booster": "dart", "rate_drop": 0.5, "one_drop": True},
        "forest": {"objective": "reg:squarederror", "num_parallel_tree": 2, "subsample": 0.6},
        "pruned": {"objective": "reg:squarederror", "tree_method": "exact", "gamma": 2.0, "max_depth": 4},
        "logistic": {"objective": "binary:logistic", "base_score": 0.2},
        "logitraw": {"objective": "binary:logitraw", "base_score": 0.2},
        "poisson": {"objective": "count:poisson", "base_score": 0.2},
        "tweedie": {"objective": "reg:tweedie"},
    }
    for name, parameters in cases.items():
        rows, grades, groups = training_data(rng)
        labels = grades > 1 if "binary" in parameters["objective"] else grades
        data = xgboost.DMatrix(rows, labels, feature_names=NAMES if name == "names" else None)
        if "rank" in parameters["objective"]:
            data.set_group(groups)
        booster = xgboost.train({**fixed, **parameters}, data, 4)
        path = HERE / f"xgboost-{name}.json"
        booster.save_model(path)
        chosen = test_rows(rng, xgboost_thresholds(path))
        matrix = xgboost.DMatrix(chosen, feature_names=data.feature_names)
        scores = booster.predict(matrix, output_margin=True).astype(np.float64)
        answers.append(answer(path.name, chosen, scores))
        if name in ("ndcg", "names", "dart"):
            booster.save_model(path.with_suffix(".ubj"))
            answers.append(answer(path.with_suffix(".ubj").name, chosen, scores))


def refused_models(rng):
    """Models that cannot be read, each for its own reason."""
    rows, grades, groups = training_data(rng)
    rows[:, 1] = rng.integers(0, 6, 300)
    fixed = {"verbosity": -1, "num_leaves": 4, "seed": 1, "num_threads": 1}
    def keep(name, parameters, features=rows, labels=grades, **dataset):
        booster = lightgbm.train({**fixed, **parameters}, lightgbm.Dataset(features, labels, **dataset), 2)
        text = re.sub(r"parameters:\n.*?end of parameters", "parameters:\nend of parameters",
                      booster.model_to_string(), flags=re.S)
        (HERE / f"refused-lightgbm-{name}.txt").write_text(text)
    keep("linear", {"objective": "regression", "linear_tree": True}, np.nan_to_num(rows))
    keep("classes", {"objective": "multiclass", "num_class": 4})
    keep("zero", {"objective": "regression", "zero_as_missing": True})

    def store(name, parameters, labels=grades, **matrix):
        data = xgboost.DMatrix(rows, labels, **matrix)
        xgboost.train({"max_depth": 2, "seed": 1, "nthread": 1, **parameters}, data, 2).save_model(
            HERE / f"refused-xgboost-{name}.json")
    store("linear", {"booster": "gblinear", "objective": "reg:squarederror"})
    store("classes", {"objective": "multi:softprob", "num_class": 4})
    store("targets", {"objective": "reg:squarederror"}, np.column_stack([grades, -grades]))
    store("vectors", {"objective": "reg:squarederror", "multi_strategy": "multi_output_tree"},
          np.column_stack([grades, -grades]))
    store("categories", {"objective": "reg:squarederror"}, rows[:, 1] % 2, enable_categorical=True,
          feature_names=NAMES, feature_types=["float", "c", "float", "float", "float"])


def catboost_splits(node):
    """The (feature, border) pairs of a model, oblivious or not."""
    if isinstance(node, dict):
        if "border" in node:
            yield node["float_feature_index"], node["border"]
        for child in node.values():
            yield from catboost_splits(child)
    elif isinstance(node, list):
        for child in node:
            yield from catboost_splits(child)


def store_catboost(path, booster):
    """Saves the model without what changes from run to run or is irrelevant here."""
    booster.save_model(path, format="json")
    model = json.loads(path.read_text())
    info = model["model_info"]
    model["model_info"] = {"params": {"loss_function": info["params"]["loss_function"]}}
    path.write_text(json.dumps(model) + "\n")
    return model


def catboost_models(rng):
    fixed = {"iterations": 4, "depth": 3, "random_seed": 1, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
    cases = {
        "yetirank": {"loss_function": "YetiRank"},
        "names": {"loss_function": "QueryRMSE"},
        "missing-right": {"loss_function": "RMSE", "nan_mode": "Max"},
        "depthwise": {"loss_function": "RMSE", "grow_policy": "Depthwise", "min_data_in_leaf": 3},
        "scaled": {"loss_function": "RMSE"},
    }
    for name, parameters in cases.items():
        rows, grades, groups = training_data(rng)
        # CatBoost puts no border among values of 1e-30, so this column is larger here.
        rows[:, 2] *= np.float32(1e30)
        queries = np.repeat(np.arange(len(groups)), groups)
        pool = catboost.Pool(rows, grades, group_id=queries, feature_names=NAMES if name == "names" else None)
        booster = catboost.CatBoost({**fixed, **parameters})
        booster.fit(pool)
        if name == "scaled":
            booster.set_scale_and_bias(-2.5, 0.75)
        path = HERE / f"catboost-{name}.json"
        model = store_catboost(path, booster)
        chosen = test_rows(rng, set(catboost_splits(model)))
        answers.append(answer(path.name, chosen, booster.predict(chosen, prediction_type="RawFormulaVal")))
    rows, grades, _ = training_data(rng)
    table = [[str(int(grade > 1)), *row] for grade, row in zip(grades, rows[:, :2].tolist())]
    booster = catboost.CatBoost({**fixed, "loss_function": "RMSE", "one_hot_max_size": 5})
    booster.fit(catboost.Pool(table, grades, cat_features=[0]))
    store_catboost(HERE / "refused-catboost-categories.json", booster)
    booster = catboost.CatBoost({**fixed, "loss_function": "MultiClass"})
    booster.fit(catboost.Pool(rows, grades))
    store_catboost(HERE / "refused-catboost-classes.json", booster)


def unnamed_models(rng):
    """Models whose first column no test asks about: of a matrix whose first feature is constant, and of text whose ids
    start at 1, which LightGBM takes for column numbers."""
    rows, grades, groups = training_data(rng)
    rows[:, 0] = 0
    fixed = {"verbosity": -1, "min_data_in_leaf": 3, "num_leaves": 6, "seed": 1, "num_threads": 1, "deterministic": True}
    booster = lightgbm.train({**fixed, "objective": "regression"}, lightgbm.Dataset(rows, grades), 6)
    strip = lambda text: re.sub(r"parameters:\n.*?end of parameters", "parameters:\nend of parameters", text, flags=re.S)
    (HERE / "lightgbm-idle.txt").write_text(strip(booster.model_to_string()))
    chosen = test_rows(rng, lightgbm_thresholds(booster))
    answers.append(answer("lightgbm-idle.txt", chosen, booster.predict(chosen, raw_score=True)))
    booster = xgboost.train({"max_depth": 3, "seed": 1, "nthread": 1}, xgboost.DMatrix(rows, grades), 4)
    booster.save_model(HERE / "xgboost-idle.json")
    chosen = test_rows(rng, xgboost_thresholds(HERE / "xgboost-idle.json"))
    scores = booster.predict(xgboost.DMatrix(chosen), output_margin=True).astype(np.float64)
    answers.append(answer("xgboost-idle.json", chosen, scores))
    rows, grades, groups = training_data(rng)
    rows = np.nan_to_num(rows)
    with tempfile.TemporaryDirectory() as place:
        text = Path(place) / "train.txt"
        lines = [f"{grade} " + " ".join(f"{i + 1}:{x!r}" for i, x in enumerate(row.tolist())) for grade, row in zip(grades, rows)]
        text.write_text("\n".join(lines) + "\n")
        booster = lightgbm.train({**fixed, "objective": "regression"}, lightgbm.Dataset(str(text)), 6)
    (HERE / "lightgbm-text.txt").write_text(strip(booster.model_to_string()))
    assert booster.num_feature() == WIDTH + 1
    chosen = test_rows(rng, [(feature - 1, t) for feature, t in lightgbm_thresholds(booster)])
    chosen = np.column_stack([np.zeros(len(chosen), np.float32), chosen])
    answers.append(answer("lightgbm-text.txt", chosen, booster.predict(chosen, raw_score=True)))


answers = []
generator = np.random.default_rng(SEED)
lightgbm_models(generator)
xgboost_models(generator)
refused_models(generator)
catboost_models(generator)
unnamed_models(generator)
(HERE / "answers.json").write_text(json.dumps(answers, indent=0) + "\n")
print(sum(path.stat().st_size for path in HERE.iterdir()), "bytes")
for stored in answers:
    print(stored["file"], len(stored["scores"]), "rows")
