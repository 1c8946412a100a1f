"""Stores the scores that search engines give exported models. Run by hand:

    cargo build -p rankwise-cli
    .venv/bin/python testdata/engines/make.py target/debug/rankwise        (needs numpy and xxhash)

No engine runs here. This is a second implementation of what the engines do with a file, in their single-precision
arithmetic, written from the sources of Solr 9 (MultipleAdditiveTreesModel, LinearModel, NeuralNetworkModel,
StandardNormalizer, and the setters' types), of the learning-to-rank plugins (xgboost+json, linear) and of RankLib
(LambdaMART, LinearRegRank). It shares nothing with the one in Rust. answers.json has the checksum of every exported file,
rows as the bits of f32, and scores as those of f64, in hexadecimal.
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import xxhash

HERE = Path(__file__).parent
RANKWISE = Path(sys.argv[1]).resolve()
TREES = ["interchange/lightgbm-names.txt", "interchange/xgboost-names.json", "engines/small-thresholds.txt"]
CASES = [(model, format) for model in TREES for format in ["solr", "elasticsearch", "elasticsearch-ranklib", "ranklib"]]
CASES += [("format-1/linear.json", format) for format in ["solr", "elasticsearch", "ranklib"]]
CASES += [("format-1/network.json", "solr")]
F = np.float32
np.seterr(all="ignore")


def single(text):
    """Float.parseFloat: setters of trees and normalizers take texts."""
    assert isinstance(text, str), text
    return F(text.replace("Infinity", "inf"))


def double(number):
    """Weights are cast to Double, which a number without fraction or exponent is not."""
    assert isinstance(number, float), number
    return number


def solr(text, names):
    model = json.loads(text)
    columns = [names.index(feature["name"]) for feature in model["features"]]
    norms = []
    for feature in model["features"]:
        norm = feature.get("norm")
        if norm:
            assert norm["class"] == "org.apache.solr.ltr.norm.StandardNormalizer" and single(norm["params"]["std"]) > 0
        norms.append((single(norm["params"]["avg"]), single(norm["params"]["std"])) if norm else None)
    kind, parameters = model["class"].rsplit(".", 1)[1], model["params"]
    null_is_zero = parameters.pop("isNullSameAsZero", True)
    assert isinstance(null_is_zero, bool)
    order = {feature["name"]: place for place, feature in enumerate(model["features"])}

    def vector(row):
        values = [F(0) if np.isnan(row[c]) and null_is_zero else row[c] for c in columns]
        return [value if norm is None else (value - norm[0]) / norm[1] for value, norm in zip(values, norms)]

    def walk(node, values):
        while "feature" in node:
            value = values[order[node["feature"]]]
            if np.isnan(value):
                node = node[node["missing"]]
            else:
                node = node["left" if value <= single(node["threshold"]) + F(1e-6) else "right"]
        return single(node["value"])

    def score(row):
        values, total = vector(row), F(0)
        if kind == "MultipleAdditiveTreesModel":
            for tree in parameters["trees"]:
                total = total + single(tree["weight"]) * walk(tree["root"], values)
        elif kind == "LinearModel":
            for feature, value in zip(model["features"], values):
                total = total + F(double(parameters["weights"][feature["name"]])) * value
        else:
            for layer in parameters["layers"]:
                outputs = []
                for weights, bias in zip(layer["matrix"], layer["bias"]):
                    total = F(double(bias))
                    assert len(weights) == len(values)
                    for weight, value in zip(weights, values):
                        total = total + F(double(weight)) * value
                    active = {"identity": lambda x: x, "relu": lambda x: F(0) if x < 0 else x,
                              "tanh": lambda x: F(np.tanh(np.float64(x)))}[layer["activation"]]
                    outputs.append(active(total))
                values = outputs
            (total,) = values
        return total

    return score


def plugin(text, names):
    model = json.loads(text)["model"]["model"]
    definition = model["definition"]
    if model["type"] == "model/ranklib":
        return ranklib(definition, None)
    if model["type"] == "model/linear":
        weights = [(names.index(name), F(weight)) for name, weight in json.loads(definition).items()]

        def linear(row):
            total = F(0)
            for column, weight in weights:
                total = total + weight * (F(0) if np.isnan(row[column]) else row[column])
            return total

        return linear
    trees = json.loads(definition)

    def score(row):
        total = F(0)
        for node in trees:
            while "leaf" not in node:
                value = row[names.index(node["split"])]
                target = node["missing"] if np.isnan(value) else node["yes" if value < F(node["split_condition"]) else "no"]
                (node,) = [child for child in node["children"] if child["nodeid"] == target]
            total = total + F(node["leaf"])
        return total

    return score


def ranklib(text, _):
    lines = [line.strip() for line in text.splitlines()]
    if lines[0] == "## Linear Regression":
        (line,) = [line for line in lines if line and not line.startswith("##")]
        weights = {int(key): float(value) for key, value in (term.split(":") for term in line.split())}

        def linear(row):
            total = weights.get(0, 0.0)
            for number, weight in weights.items():
                if number > 0:
                    value = row[number - 1]
                    total += weight * (0.0 if np.isnan(value) else float(value))
            return total

        return linear
    pieces = re.findall(r"<(tree|/tree|split|/split|feature|threshold|output)[^>]*>([^<]*)", text)
    trees, stack = [], []
    for name, content in pieces:
        if name == "split":
            stack.append({"children": []})
        elif name == "/split":
            node = stack.pop()
            (stack[-1]["children"] if stack else trees).append(node)
        elif name in ("feature", "threshold", "output"):
            stack[-1][name] = content.strip()

    def score(row):
        total = F(0)
        for node in trees:
            while "output" not in node:
                value = row[int(node["feature"]) - 1]
                value = F(0) if np.isnan(value) else value
                node = node["children"][0 if value <= single(node["threshold"]) else 1]
            total = total + single(node["output"])
        return total

    return score


ENGINES = {"solr": solr, "elasticsearch": plugin, "elasticsearch-ranklib": plugin, "ranklib": ranklib}
answers = []
for model, format in CASES:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported"
        export = ["export", HERE.parent / model, "-o", path, "--format", format]
        subprocess.run([RANKWISE, "--quiet", *export], check=True)
        vectors = json.loads((Path(folder) / "exported.vectors.json").read_text())
        score = ENGINES[format](path.read_text(), vectors["features"])
        checksum = f"xxh3:{xxhash.xxh3_64(path.read_bytes()).hexdigest()}"
    rows, scores, greatest = [], [], 0.0
    for line in vectors["rows"]:
        row = np.array([np.nan if x is None else x for x in line["features"]], dtype=F)
        found = float(score(row))
        greatest = max(greatest, abs(found - line["score"]) / line["allowed"])
        rows.append(b"".join(struct.pack(">f", x) for x in row).hex())
        scores.append(struct.pack(">d", found).hex())
    print(f"{model:32} {format:22} {len(rows)} rows, {greatest:.3f} of what is allowed")
    answers.append({"model": model, "format": format, "checksum": checksum, "rows": rows, "scores": scores})
lines = ",\n".join(json.dumps(answer) for answer in answers)
(HERE / "answers.json").write_text(f"[\n{lines}\n]\n")
