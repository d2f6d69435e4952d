"""Error kinds: unique codes in their package's range, explained, in use, documented."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.rules import cli
from fatcrate.toolchain.diagnostics import Kind

#: Package -> its codes; the longest match counts.
RANGES = {
    "fatcrate.rules": r"FC01\d\d",
    "fatcrate.toolchain": r"FC02\d\d",
    "fatcrate.lto": r"FC03\d\d",
    "fatcrate.fatbin": r"FC0[45]\d\d",
    "fatcrate.lto.cpu": r"FC06\d\d",
}


def codes_of(module: str) -> str:
    return RANGES[max((p for p in RANGES if module.startswith(p)), key=len)]


def test_every_error_module_is_known(root: Path) -> None:
    there = {
        "fatcrate." + str(path.relative_to(root).with_suffix("")).replace("/", ".")
        for package in ("toolchain", "lto", "fatbin", "rules")
        for path in (root / package).rglob("errors.py")
    }
    assert there == set(cli.ERROR_MODULES)


@pytest.mark.parametrize("module", cli.ERROR_MODULES)
def test_all_lists_every_kind(module: str) -> None:
    loaded = importlib.import_module(module)
    declared = {v.code for v in vars(loaded).values() if isinstance(v, Kind)}
    listed = [kind.code for kind in loaded.ALL]
    assert declared <= set(listed)
    assert all(re.fullmatch(codes_of(module), code) for code in listed)


def test_codes_are_unique_and_explained() -> None:
    kinds = cli.kinds()
    codes = [kind.code for kind in kinds]
    assert len(codes) == len(set(codes))
    assert len({kind.title for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert len(kind.explanation) >= 30 and kind.explanation.endswith("."), kind.code
        assert not kind.title.endswith("."), kind.code
        assert kind.exit_code in (1, 2, 3), kind.code


def test_every_kind_is_used(root: Path) -> None:
    """A code that nothing raises would be documentation of nothing."""
    text = ""
    for package in ("toolchain", "lto", "fatbin", "rules"):
        for path in (root / package).rglob("*.py"):
            text += path.read_text(encoding="utf-8")
    unused = []
    for module in cli.ERROR_MODULES:
        for name, value in vars(importlib.import_module(module)).items():
            # Once where it is declared and once in ALL; a third time where it is raised.
            if isinstance(value, Kind) and len(re.findall(rf"\b{name}\b", text)) < 3:
                unused.append(f"{value.code} {name}")
    assert unused == []


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fatcrate", *args], capture_output=True, text=True, check=False
    )


def test_explain() -> None:
    done = run("explain", "fc0211")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "FC0211: the toolchain cannot build this architecture\n\n"
        "The arch is well formed, but the installed LLVM or ptxas does not list it.\n\n"
        "exit status: 1 (input)\n"
    )
    everything = run("explain").stdout.splitlines()
    assert len(everything) == len(cli.kinds())


def test_explain_unknown_code() -> None:
    done = run("explain", "FC9999")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error[FC0101]: FC9999: is not an error code of this fatcrate\n"
        "  help: `fatcrate explain` lists all codes\n"
    )


def test_the_page_of_codes_is_current(root: Path) -> None:
    """If not: fatcrate explain --markdown > docs/errors.md"""
    assert run("explain", "--markdown").stdout == (root / "docs/errors.md").read_text("utf-8")
