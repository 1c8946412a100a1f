"""Scores what `rankwise export` writes with the real LightGBM and XGBoost. Run by hand:

    cargo build -p rankwise-cli
    .venv/bin/python testdata/interchange/check_exports.py target/debug/rankwise

exports every stored model to each format, and a model of odd thresholds; loads the files with the tools, and prints
the largest difference from the scores in answers.json, relative to 1 + |score|. Exits with 1 if one is too large.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import xgboost

HERE = Path(__file__).parent
RANKWISE = Path(sys.argv[1]).resolve()
WORK = Path(tempfile.mkdtemp())
# LightGBM sums in f64, XGBoost in f32.
ALLOWED = {"lightgbm": 1e-12, "xgboost": 2e-6, "xgboost-ubj": 2e-6}
ENDINGS = {"lightgbm": "txt", "xgboost": "json", "xgboost-ubj": "ubj"}
ODD = ["0", "-0.0", "1e-45", "-1e-45", "1e-40", "1.5", "3.4028234663852886e38", "-3.4028234663852886e38", "1e300", "-1e300",
       "inf", "-inf", "0.1", "16777217"]


def unpacked(texts, kind):
    return np.array([value for text in texts for (value,) in struct.iter_unpack(">" + kind, bytes.fromhex(text))])


def predictions(path, format, rows):
    if format == "lightgbm":
        booster = lightgbm.Booster(model_file=path)
        # Attributions need counts and means below each node; they add up to the score only if those are right.
        attributions = booster.predict(rows, pred_contrib=True)
        return booster.predict(rows, raw_score=True), attributions.sum(axis=1)
    booster = xgboost.Booster(model_file=path)
    matrix = xgboost.DMatrix(rows, feature_names=booster.feature_names)
    attributions = booster.predict(matrix, pred_contribs=True)
    return booster.predict(matrix, output_margin=True).astype(np.float64), attributions.sum(axis=1)


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


failed = False
for model, rows, scores in cases():
    for format, allowed in ALLOWED.items():
        path = WORK / f"exported.{ENDINGS[format]}"
        numbering = ["--first-id", "0"] if model.name == "odd.txt" else []
        subprocess.run([RANKWISE, "--quiet", "export", model, "-o", path, "--format", format, *numbering], check=True)
        found, attributed = predictions(path, format, rows)
        # LightGBM treats values within 1e-35 of 0 as 0, and the export warns about it; they are compared if LightGBM made the model.
        foreign = format == "lightgbm" and model.name.startswith("xgboost")
        counted = ~np.any((rows != 0) & (np.abs(rows) <= 1e-35), axis=1) if foreign else np.full(len(rows), True)
        found, attributed, expected = found[counted], attributed[counted], scores[counted]
        largest = np.max(np.abs(found - expected) / (1 + np.abs(expected)))
        # XGBoost scored the original, so LightGBM's sums agree as far as XGBoost's do.
        allowed = max(allowed, 0 if model.name.startswith(("lightgbm", "odd")) else ALLOWED["xgboost"])
        apart = np.max(np.abs(attributed - found) / (1 + np.abs(found)))
        verdict = "ok" if largest <= allowed and apart <= 1e-4 else "TOO FAR"
        failed |= verdict != "ok"
        print(f"{model.name:28} {format:12} {largest:8.1e}  attributions {apart:8.1e}  {verdict}")
sys.exit(failed)
