"""Bazel makes the same bytes in two checkouts that lie in different folders."""

from __future__ import annotations

import shutil
from pathlib import Path

from support import bazel

PROJECT = Path(__file__).parent / "both"
_NOT_SOURCES = (".venv", ".git", ".out", ".cache", ".*_cache", "node_modules", "target", "*-out")


def build(project: Path, checkout: Path, *options: str) -> dict[str, str]:
    """Builds the project from nothing; the hashes of its outputs."""
    shutil.copytree(PROJECT, project, dirs_exist_ok=True)
    workspace = bazel.scratch(project, project.parent / "bazel", {}, checkout)
    workspace.build("//...", *options)
    # A trace holds times, as asked for.
    found = {n: h for n, h in workspace.hashes().items() if not n.endswith(".trace.json")}
    workspace.close()
    shutil.rmtree(project)
    return found


def test_two_checkouts(tmp_path: Path, full: bool) -> None:
    """With ``--full`` six builds, none of which takes even the sysroot from a cache."""
    copy = tmp_path / "a-copy" / "of-fatcrate"
    shutil.copytree(
        bazel.CHECKOUT, copy, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_SOURCES)
    )
    options = ["--disk_cache="] if full else []
    first = build(tmp_path / "one" / "project", bazel.CHECKOUT, *options, "--jobs=1")
    assert {"demo.fatbin", "demo.x86_64.o", "kern/libkern.rlib"} <= first.keys()
    for number in range(5 if full else 1):
        project = tmp_path / f"another-{number}" / "deeper" / "project"
        again = build(project, copy if number % 2 == 0 else bazel.CHECKOUT, *options, "--jobs=4")
        assert again == first
