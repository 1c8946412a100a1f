"""Stores the scores of Elastic's own learning to rank for models that were exported as XGBoost files. Run by hand:

    python -m venv .venv && .venv/bin/pip install -r testdata/interchange/requirements.txt
    cargo build -p rankwise-cli
    .venv/bin/python testdata/interchange/make_eland.py target/debug/rankwise

Each model is exported, loaded by XGBoost and turned into Elasticsearch's ensemble by eland, as the upload does. The
ensemble is then scored here as Elasticsearch's inference does it, in double precision: `lt` compares the value with the
threshold, `default_left` takes missing values, and the trees' values are summed. No Elasticsearch runs. eland passes
thresholds with nine digits, so that a value equal to a threshold may go to the other side; rows with such values
are left out. eland.json has the checksums of the exported files, rows as the bits of f32, and scores as those of f64,
in hexadecimal.
"""

import json
import struct
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import xxhash
from eland.ml.transformers import get_model_transformer
from xgboost import XGBRanker

warnings.filterwarnings("ignore")
HERE = Path(__file__).parent
RANKWISE = Path(sys.argv[1]).resolve()
MODELS = ["lightgbm-names.txt", "xgboost-names.json"]


def ensemble_of(path):
    """The model as docs/exports.md uploads it."""
    ranker = XGBRanker()
    ranker.load_model(path)
    ranker.base_score = float(np.ravel(ranker.base_score)[0])
    booster = ranker.get_booster()
    names = booster.feature_names or [f"f{i}" for i in range(booster.num_features())]
    return get_model_transformer(ranker, feature_names=names).transform().to_dict()["ensemble"]


def score(ensemble, row):
    """The sum over the trees, and whether a value was equal to a threshold in single precision."""
    total, equal = 0.0, False
    for model in ensemble["trained_models"]:
        nodes = {node["node_index"]: node for node in model["tree"]["tree_structure"]}
        node = nodes[0]
        while "leaf_value" not in node:
            value, threshold = float(row[node["split_feature"]]), node["threshold"]
            equal |= np.float32(value) == np.float32(threshold)
            left = node["default_left"] if np.isnan(value) else value < threshold
            node = nodes[node["left_child" if left else "right_child"]]
        total += node["leaf_value"]
    return total, equal


answers = []
for answer in json.loads((HERE / "answers.json").read_text()):
    if answer["file"] not in MODELS:
        continue
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "booster.json"
        export = ["export", HERE / answer["file"], "-o", path, "--format", "xgboost", "--no-vectors"]
        subprocess.run([RANKWISE, "--quiet", *export], check=True)
        ensemble = ensemble_of(path)
        checksum = f"xxh3:{xxhash.xxh3_64(path.read_bytes()).hexdigest()}"
    kept = []
    for text in answer["rows"]:
        found, equal = score(ensemble, np.frombuffer(bytes.fromhex(text), dtype=">f4"))
        if not equal:
            kept.append((text, struct.pack(">d", found).hex()))
    print(answer["file"], len(kept), "rows of", len(answer["rows"]))
    rows, scores = map(list, zip(*kept))
    answers.append({"file": answer["file"], "checksum": checksum, "rows": rows, "scores": scores})
lines = ",\n".join(json.dumps(answer) for answer in answers)
(HERE / "eland.json").write_text(f"[\n{lines}\n]\n")
