"""Mistakes in the project file: each folder has one, and the whole text that it gives.

``fatcrate.yaml`` is the file, ``files.txt`` lists the sources that are there, ``expected.txt``
is what a user sees.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fatcrate.rules.ninja import project
from fatcrate.rules.ninja.model import Crate
from fatcrate.toolchain.diagnostics import FatcrateError

HERE = Path(__file__).parent
CASES = sorted(path.name for path in HERE.iterdir() if (path / "fatcrate.yaml").exists())
GPU = Crate(key="gpu", name="gpu", source="/lib/gpu.rs", origin="gpu")


def said(case: Path) -> str:
    """The text for the case's file."""
    there = set((case / "files.txt").read_text(encoding="utf-8").splitlines())
    text = (case / "fatcrate.yaml").read_text(encoding="utf-8")
    with pytest.raises(FatcrateError) as caught:
        project.load(text, "fatcrate.yaml", "/project", there.__contains__, [GPU])
    assert caught.value.exit_code == 1
    return "\n".join(fault.render() for fault in caught.value.diagnostics) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_text(name: str) -> None:
    assert said(HERE / name) == (HERE / name / "expected.txt").read_text(encoding="utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) > 30
