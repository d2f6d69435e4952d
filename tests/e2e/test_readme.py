"""What the README shows works as shown."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fatcrate.rules.ninja import kernels, project


def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def block(root: Path, language: str) -> str:
    """The first fenced block of a language."""
    match = re.search(rf"^```{language}\n(.*?)^```", readme(root), re.M | re.S)
    assert match is not None
    return match[1]


def commands(root: Path, first: str) -> list[list[str]]:
    """The indented commands that follow a line with ``first``."""
    after = readme(root).split(first, 1)[1]
    match = re.search(r"\n\n((?:    .*\n)+)", after)
    assert match is not None
    joined = match[1].replace("\\\n", " ")
    return [shlex.split(line) for line in joined.splitlines() if line.strip()]


def test_ninja_quick_start(root: Path, tmp_path: Path) -> None:
    (tmp_path / "kern.rs").write_text(block(root, "rust"), encoding="utf-8")
    (tmp_path / "fatcrate.yaml").write_text(block(root, "yaml"), encoding="utf-8")
    x = np.arange(512, dtype=np.float32)
    y = np.full(512, 3, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    output = ""
    for argv in commands(root, "Build it, look at it"):
        assert argv[0] == "fatcrate"
        done = subprocess.run(
            [sys.executable, "-m", "fatcrate", *argv[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        output += done.stdout
    for word in ("sm_80", "sm_90a", "compute_90", "saxpy"):
        assert word in output
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.float32(2.5) * x + y)
    for name in ("demo.fatbin", "demo.h", "demo.manifest.json", "demo/sm_90a.cubin"):
        assert (tmp_path / "fatcrate-out" / name).exists()


@pytest.mark.parametrize("language", ["starlark"])
def test_build_file_uses_names_that_exist(root: Path, language: str) -> None:
    text = block(root, language)
    exported = (root / "rules/defs.bzl").read_text(encoding="utf-8")
    for name in re.findall(r'load\("//rules:defs.bzl", (.*)\)', text)[0].split(","):
        assert f"\n{name.strip().strip(chr(34))} = " in exported


def test_the_table_of_the_project_file_is_complete(root: Path) -> None:
    section = readme(root).split("### Project file")[1].split("### Outputs")[0]
    told = set(re.findall(r"`(?:crates\.NAME\.|kernels\.NAME\.)?([a-z_]+)`", section))
    known = {*project._CRATE_KEYS, *kernels.KEYS, *project._TOP_KEYS} - {"kernels"}
    assert known - told == set()


def test_the_table_of_commands_is_told_by_help(root: Path) -> None:
    from fatcrate.rules import cli

    for name in set(re.findall(r"(?:`|^    )fatcrate ([a-z-]+)", readme(root), re.M)):
        assert name in cli.COMMANDS, name
