"""Scores what `rankwise export` writes with the real LightGBM, XGBoost, treelite and ONNX Runtime. Run by hand:

    python -m venv .venv && .venv/bin/pip install -r testdata/interchange/requirements.txt
    cargo build -p rankwise-cli
    .venv/bin/python testdata/interchange/check_exports.py target/debug/rankwise

exports every stored model to each format, and a model of odd thresholds; loads the files with the tools, and prints
the largest difference from the scores in answers.json, relative to 1 + |score|. Values in double precision halfway
between two floats must go where they go after rounding, and names that XGBoost refuses must load. Exits with 1 if
something is off.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import onnxruntime
import treelite
import xgboost

HERE = Path(__file__).parent
RANKWISE = Path(sys.argv[1]).resolve()
WORK = Path(tempfile.mkdtemp())
# LightGBM sums in f64, XGBoost and ONNX Runtime in f32.
ALLOWED = {"lightgbm": 1e-12, "xgboost": 2e-6, "xgboost-ubj": 2e-6, "onnx": 2e-6}
ENDINGS = {"lightgbm": "txt", "xgboost": "json", "xgboost-ubj": "ubj", "onnx": "onnx"}
ODD = ["0", "-0.0", "1e-45", "-1e-45", "1e-40", "1.5", "3.4028234663852886e38", "-3.4028234663852886e38", "1e300", "-1e300",
       "inf", "-inf", "0.1", "16777217"]


def unpacked(texts, kind):
    return np.array([value for text in texts for (value,) in struct.iter_unpack(">" + kind, bytes.fromhex(text))])


def predictions(path, format, rows):
    """The scores of each tool that reads the file, and sums of attributions that must be near the scores."""
    if format == "onnx":
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        yield "onnxruntime", session.run(None, {"features": rows})[0].ravel().astype(np.float64), None
        return
    if format == "lightgbm":
        booster = lightgbm.Booster(model_file=path)
        # Attributions need counts and means below each node; they add up to the score only if those are right.
        attributions = booster.predict(rows, pred_contrib=True)
        yield "lightgbm", booster.predict(rows, raw_score=True), attributions.sum(axis=1)
        forest, rows = treelite.frontend.load_lightgbm_model(path), rows.astype(np.float64)
    else:
        booster = xgboost.Booster(model_file=path)
        matrix = xgboost.DMatrix(rows, feature_names=booster.feature_names)
        attributions = booster.predict(matrix, pred_contribs=True)
        yield "xgboost", booster.predict(matrix, output_margin=True).astype(np.float64), attributions.sum(axis=1)
        choice = "json" if format == "xgboost" else "ubjson"
        forest = treelite.frontend.load_xgboost_model(path, format_choice=choice)
    yield "treelite", treelite.gtil.predict(forest, rows, pred_margin=True).ravel().astype(np.float64), None


def odd_model():
    """One tree for each odd threshold, missing by turns to the left and right, over features 0 and 1."""
    trees = ""
    for i, threshold in enumerate(ODD):
        kind = 10 if i % 2 else 8
        trees += (f"Tree={i}\nnum_leaves=2\nnum_cat=0\nsplit_feature={i % 2}\nsplit_gain=1\nthreshold={threshold}\n"
                  f"decision_type={kind}\nleft_child=-1\nright_child=-2\nleaf_value={2 ** i} {-3 ** i}\nleaf_weight=1 2\n"
                  "leaf_count=1 2\ninternal_value=0\ninternal_weight=0\ninternal_count=3\nis_linear=0\nshrinkage=1\n\n\n")
    head = ("tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n"
            "objective=lambdarank\nfeature_names=Column_0 Column_1\nfeature_infos=[-1:1] [-1:1]\n\n")
    path = WORK / "odd.txt"
    path.write_text(head + trees + "end of trees\n\nparameters:\nend of parameters\n\npandas_categorical:null\n")
    thresholds = np.clip(np.array([float(t) for t in ODD]), -3.4028234663852886e38, 3.4028234663852886e38)
    values = np.concatenate([thresholds.astype(np.float32), np.float32([np.nan, 1e-35, -1e-35, 1e-38])])
    values = np.concatenate([values, np.nextafter(values, np.float32(1e38)), np.nextafter(values, np.float32(-1e38))])
    rows = np.column_stack([values, np.roll(values, 5)]).astype(np.float32)
    return path, rows, lightgbm.Booster(model_file=path).predict(rows, raw_score=True)


def cases():
    for answer in json.loads((HERE / "answers.json").read_text()):
        rows = unpacked(answer["rows"], "f").astype(np.float32).reshape(-1, answer["width"])
        yield HERE / answer["file"], rows, unpacked(answer["scores"], "d")
    yield odd_model()


def export(model, path, format, *more):
    subprocess.run([RANKWISE, "--quiet", "export", model, "-o", path, "--format", format, *more], check=True)


def compare():
    """Prints a line for each model, format and tool; whether all are near."""
    good = True
    for model, rows, scores in cases():
        for format, allowed in ALLOWED.items():
            path = WORK / f"exported.{ENDINGS[format]}"
            export(model, path, format, *(["--first-id", "0"] if model.name == "odd.txt" else []))
            for tool, found, attributed in predictions(path, format, rows):
                # LightGBM treats values within 1e-35 of 0 as 0, and the export warns about it; they are compared if LightGBM made
                # the model, and never with treelite, which does not.
                foreign = format == "lightgbm" and (model.name.startswith("xgboost") or tool == "treelite")
                near_zero = np.any((rows != 0) & (np.abs(rows) <= 1e-35), axis=1)
                counted = ~near_zero if foreign else np.full(len(rows), True)
                expected, found = scores[counted], found[counted]
                largest = np.max(np.abs(found - expected) / (1 + np.abs(expected)))
                # XGBoost scored the original, so LightGBM's sums agree as far as XGBoost's do.
                limit = max(allowed, 0 if model.name.startswith(("lightgbm", "odd")) else ALLOWED["xgboost"])
                apart = 0 if attributed is None else np.max(np.abs(attributed[counted] - found) / (1 + np.abs(found)))
                fine = largest <= limit and apart <= 1e-4
                good &= bool(fine)
                print(f"{model.name:28} {format:12} {tool:12} {largest:8.1e}  attributions {apart:8.1e}  {'ok' if fine else 'TOO FAR'}")
    return good


def halfway():
    """A test at 16777218: 16777219 becomes 16777220 in single precision, and must go right in double precision, too."""
    source = WORK / "halfway.json"
    tests = [16777216.0, 16777218.0, 16777220.0, 1.0, float(np.nextafter(np.float32(1), np.float32(2)))]
    good = True
    for t in tests:
        trees = (f"Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nsplit_gain=1\nthreshold={t!r}\ndecision_type=8\n"
                 "left_child=-1\nright_child=-2\nleaf_value=1 2\nleaf_weight=1 2\nleaf_count=1 2\ninternal_value=0\n"
                 "internal_weight=0\ninternal_count=3\nis_linear=0\nshrinkage=1\n\n\n")
        head = ("tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0\n"
                "objective=lambdarank\nfeature_names=Column_0\nfeature_infos=[-1:1]\n\n")
        source.write_text(head + trees + "end of trees\n\nparameters:\nend of parameters\n\npandas_categorical:null\n")
        path = WORK / "halfway.txt"
        export(source, path, "lightgbm", "--first-id", "1")
        next_up = float(np.nextafter(np.float32(t), np.float32(np.inf)))
        middle = (t + next_up) / 2
        rows = np.array([t, np.nextafter(middle, -np.inf), middle, np.nextafter(middle, np.inf), next_up]).reshape(-1, 1)
        found = lightgbm.Booster(model_file=path).predict(rows, raw_score=True)
        expected = np.where(rows.ravel().astype(np.float32) <= np.float32(t), 1.0, 2.0)
        good &= bool(np.all(found == expected))
    print("halfway between floats", "ok" if good else "WRONG")
    return good


def odd_names():
    """Names that XGBoost or LightGBM refuse, and that are alike once those characters are replaced."""
    model = json.loads((HERE / "xgboost-names.json").read_text())
    model["learner"]["feature_names"] = ["a[1]", "a<1]", "a_1_", "c d", "e,f"]
    source = WORK / "names.json"
    source.write_text(json.dumps(model))
    rows = np.linspace(-2, 2, 100, dtype=np.float32).reshape(-1, 5)
    plain = xgboost.Booster(model_file=HERE / "xgboost-names.json")
    expected = plain.predict(xgboost.DMatrix(rows, feature_names=plain.feature_names), output_margin=True)
    good = True
    for format in ["lightgbm", "xgboost", "xgboost-ubj"]:
        path = WORK / f"names-out.{ENDINGS[format]}"
        export(source, path, format)
        for _, found, _ in predictions(path, format, rows):
            good &= bool(np.max(np.abs(found - expected)) <= 1e-6)
    print("refused names", "ok" if good else "WRONG")
    return good


sys.exit(not all([compare(), halfway(), odd_names()]))
