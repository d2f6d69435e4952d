"""A project that was built once; each test gets a copy of it, outputs and all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.ninja import FILES, Project


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("built")).write(FILES)
    project.build().ok()
    return project


@pytest.fixture
def project(_built: Project, tmp_path: Path) -> Project:
    """The project of ``support.ninja.FILES``, up to date."""
    folder = tmp_path / "project"
    shutil.copytree(_built.folder, folder, symlinks=True)
    return Project(folder)


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """An empty project's folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder)
