"""Stores the scores that ONNX Runtime gives the models of crates/rankwise/tests/exports/onnx.rs. Run by hand:

    python -m venv .venv && .venv/bin/pip install onnxruntime==1.31.1 numpy
    RANKWISE_ONNX_CASES=/tmp/cases cargo test -p rankwise --test exports -- --ignored write_cases
    .venv/bin/python testdata/onnx/make.py /tmp/cases

The Rust command writes each model as ONNX, and cases.json with the files' checksums and the rows to score; this
script adds the scores and writes answers.json. Rows are the bits of f32 and scores those of f64, in hexadecimal.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnxruntime

CASES = Path(sys.argv[1])
answers = json.loads((CASES / "cases.json").read_text())
for answer in answers:
    rows = np.array([[struct.unpack(">f", bytes.fromhex(row[i:i + 8]))[0] for i in range(0, len(row), 8)]
                     for row in answer["rows"]], dtype=np.float32)
    session = onnxruntime.InferenceSession(CASES / f"{answer['name']}.onnx", providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"features": rows})
    assert scores.shape == (len(rows), 1), answer["name"]
    answer["scores"] = [struct.pack(">d", score).hex() for score in scores.ravel()]
lines = ",\n".join(json.dumps(answer) for answer in answers)
(Path(__file__).parent / "answers.json").write_text(f"[\n{lines}\n]\n")
