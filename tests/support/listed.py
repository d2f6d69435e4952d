"""The modules of ``tests/cases/bits/tables.toml``: examples and cases outside of ``link/``."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fatcrate.toolchain.discover import Tools

from support.device import Workshop

TABLES = Path(__file__).parent.parent / "cases" / "bits" / "tables.toml"
MODULES: list[dict[str, Any]] = tomllib.loads(TABLES.read_text())["module"]
NAMES = [f"{m['source']}:{m['target']}" if "target" in m else str(m["source"]) for m in MODULES]

#: A project that is built for the architectures that it names: of each target for one of them,
#: another in turn, or with ``--full`` for all.
OWN_ARCHS = "tests/cases/kernels"
_ARCHS = re.compile(r"archs: \[([\w, ]+)\]")


@dataclass
class Shelf:
    """Modules of the tables, built when they are first wanted."""

    root: Path
    tools: Tools
    factory: pytest.TempPathFactory
    full: bool = False
    built: dict[str, Path] = field(default_factory=dict)

    def files(self, module: dict[str, Any]) -> tuple[Path, Path]:
        """The linked module and its manifest."""
        source = self.root / module["source"]
        if source not in self.built:
            self.built[source] = self.once(source)
        target = module.get("target", source.stem)
        out = self.built[source]
        linked = out / f"{target}.bc" if source.suffix else out / target / "linked.bc"
        return linked, out / f"{target}.manifest.json"

    def once(self, source: Path) -> Path:
        """Builds a source, once for all workers of a run."""
        name = str(source.relative_to(self.root)).replace("/", "-")
        make = self.link if source.suffix else self.build
        return once(self.factory, f"shelf/{name}", lambda folder: make(source, folder))

    def link(self, source: Path, place: Path) -> Path:
        """A file of kernels."""
        shop = Workshop(self.tools, place)
        for outcome in (
            shop.gpu(self.root),
            shop.compile(source.stem, source, deps=["gpu"]),
            shop.link(source.stem),
        ):
            assert outcome.code == 0, outcome.stderr
        return place

    def build(self, source: Path, place: Path) -> Path:
        """A project, for one architecture or for its own; cargo's is imported first."""
        project = place / "project"
        shutil.copytree(source, project, ignore=shutil.ignore_patterns("fatcrate-out", "target"))
        if not (project / "fatcrate.yaml").exists():
            for manifest in project.rglob("Cargo.toml"):
                gpu = str(self.root / "toolchain/device/gpu")
                manifest.write_text(manifest.read_text().replace("@GPU@", gpu))
            fatcrate("import", "--offline", cwd=project)
        if source == self.root / OWN_ARCHS:
            if not self.full:
                text = project / "fatcrate.yaml"
                text.write_text(one_arch_each(text.read_text()))
            fatcrate("build", cwd=project)
        else:
            fatcrate("build", "--archs", "sm_80", cwd=project)
        return project / "fatcrate-out"


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """What ``make`` returns of a new folder: the first worker of a run calls it, others wait."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    place = shared / name
    place.mkdir(parents=True, exist_ok=True)
    note = place / "built"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            folder = place / "build"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            note.write_text(str(make(folder)))
    return Path(note.read_text())


def one_arch_each(project: str) -> str:
    """A project file whose targets name one of their architectures each, another in turn."""
    turn = itertools.count()

    def one(match: re.Match[str]) -> str:
        archs = match[1].split(", ")
        return f"archs: [{archs[next(turn) % len(archs)]}]"

    return _ARCHS.sub(one, project)


def fatcrate(*argv: str, cwd: Path) -> None:
    """Runs the command, which succeeds."""
    command = [sys.executable, "-m", "fatcrate", *argv]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
