"""Linked modules of examples and cases, each built once per run."""

from __future__ import annotations

from pathlib import Path

import pytest
from fatcrate.toolchain.discover import Tools
from support.listed import Shelf


@pytest.fixture(scope="session")
def shelf(root: Path, tools: Tools, tmp_path_factory: pytest.TempPathFactory, full: bool) -> Shelf:
    """All modules of ``tables.toml``."""
    return Shelf(root, tools, tmp_path_factory, full)
