"""The installable distribution holds every file that the packages read at run time."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, root: Path) -> zipfile.ZipFile:
    """A wheel built, without network, from a copy of the files under version control."""
    folder = tmp_path_factory.mktemp("wheel")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
    ).stdout
    source = folder / "source"
    source.mkdir()
    tar = subprocess.run(
        ["tar", "--null", "-T", "-", "--ignore-failed-read", "-c"],
        cwd=root,
        input=listing,
        capture_output=True,
        check=True,
    )
    subprocess.run(["tar", "-x"], cwd=source, input=tar.stdout, check=True)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, "-w", str(folder), str(source)],
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("fatcrate-*.whl")
    return zipfile.ZipFile(path)


def tracked(root: Path, pattern: str) -> set[str]:
    """Files under version control, by the names that they have in the wheel."""
    listing = subprocess.run(
        ["git", "ls-files", pattern], cwd=root, capture_output=True, check=True, text=True
    )
    return {f"fatcrate/{name}" for name in listing.stdout.splitlines() if (root / name).exists()}


def test_data_files(wheel: zipfile.ZipFile, root: Path) -> None:
    held = set(wheel.namelist())
    wanted = {"fatcrate/toolchain/pins.toml"}
    wanted |= {f"fatcrate/rules/private/{name}.bzl" for name in ("recipe", "recipe_kernels")}
    for pattern in (
        "lto/**/*.ll",
        "toolchain/device/*/src/**/*.rs",
        "toolchain/device/*/Cargo.toml",
    ):
        found = {f"fatcrate/{path.relative_to(root)}" for path in root.glob(pattern)}
        assert found, pattern
        wanted |= found
    assert wanted - held == set()


def test_modules(wheel: zipfile.ZipFile, root: Path) -> None:
    held = set(wheel.namelist())
    for package in ("toolchain", "lto", "fatbin", "rules"):
        assert tracked(root, f"{package}/*.py") - held == set()
    assert "fatcrate/py.typed" in held
    assert not any(name.startswith(("tests/", "bench/")) for name in held)


def test_metadata(wheel: zipfile.ZipFile) -> None:
    (name,) = [n for n in wheel.namelist() if n.endswith("METADATA")]
    text = wheel.read(name).decode()
    assert "License-Expression: Apache-2.0 OR MIT" in text
    assert {n.rsplit("/", 1)[1] for n in wheel.namelist() if "/licenses/" in n} == {
        "LICENSE-APACHE",
        "LICENSE-MIT",
    }
    (points,) = [n for n in wheel.namelist() if n.endswith("entry_points.txt")]
    assert "fatcrate = fatcrate.__main__:entry" in wheel.read(points).decode()
