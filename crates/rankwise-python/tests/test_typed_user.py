"""The program that the type checkers read also runs."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_the_typed_program_runs(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    import typed_user

    typed_user.main(tmp_path)
