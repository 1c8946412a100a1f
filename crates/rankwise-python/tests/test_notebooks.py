"""The notebooks of the documentation run from top to bottom, and are stored with small outputs."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NEEDS = {
    "start": ("matplotlib", "pandas", "sklearn"),
    "comparing": ("matplotlib", "pandas", "sklearn"),
    "from-lightgbm": ("lightgbm", "sklearn"),
}


def test_all_notebooks_are_known() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(NEEDS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_complete_and_small(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for output in (output for cell in cells for output in cell["outputs"]):
        assert output["output_type"] != "error"
        assert len(_image(output)) < 60_000
    assert path.stat().st_size < 200_000


def _image(output: dict[str, Any]) -> bytes:
    return base64.b64decode(output.get("data", {}).get("image/png", ""))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient")
    for package in ("ipykernel", *NEEDS[path.stem]):
        pytest.importorskip(package)
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    errors = [o for cell in notebook.cells for o in cell.get("outputs", ()) if o["output_type"] == "error"]
    assert not errors
