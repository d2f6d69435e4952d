"""The scripts of the checkout: setup, ./check, ./demo, ./bench."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest


def run(root: Path, *argv: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(root / argv[0]), *argv[1:]],
        cwd=cwd or root,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("level", ["run", "dev"])
def test_setup_is_silent_and_quick_when_all_is_there(
    root: Path, tmp_path: Path, level: str
) -> None:
    run(root, "toolchain/setup.sh", level)
    start = time.perf_counter()
    done = run(root, "toolchain/setup.sh", level, cwd=tmp_path)  # from anywhere
    seconds = time.perf_counter() - start
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert seconds < 1


def test_setup_needs_no_network_when_all_is_there(root: Path) -> None:
    """In a network name space of its own, where there is not even a loopback."""
    probe = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("needs the right to make a network name space")
    done = subprocess.run(
        ["unshare", "-n", str(root / "toolchain/setup.sh"), "dev"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_usage_errors(root: Path) -> None:
    for argv in (
        ("toolchain/setup.sh", "everything"),
        ("check", "--nonsense"),
        ("check", "--only", "nonsense"),
        ("check", "--only"),
        ("demo", "nonsense"),
        ("bench", "nonsense"),
    ):
        done = run(root, *argv)
        assert done.returncode == 2, argv
        assert done.stderr + done.stdout, argv


def test_help(root: Path) -> None:
    for script in ("check", "demo", "bench"):
        done = run(root, script, "--help")
        assert done.returncode == 0 and "usage" in done.stdout


def test_check_lists_its_sections_and_sums_up(root: Path) -> None:
    sections = run(root, "check", "--list").stdout.split()
    suites = [name for name in sections if name in ("unit", "tidy", "cases", "starlark", "e2e")]
    assert suites == ["unit", "tidy", "cases", "starlark", "e2e"]
    done = run(root, "check", "--only", "format")
    assert "=== format" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("check: ")
    assert (done.returncode == 0) == ("all 1 sections passed" in done.stdout)


def test_check_fails_when_a_section_does(root: Path, tmp_path: Path) -> None:
    """A checkout of its own, with a fault in it, on this environment's packages."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(root), str(clone)], check=True)
    os.symlink(root / ".venv", clone / ".venv")
    (clone / "toolchain/setup.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (clone / "toolchain/bad.py").write_text("import os,sys\n", encoding="utf-8")
    done = run(clone, "check", "--only", "ruff", "--only", "format")
    assert done.returncode == 1
    assert "--- ruff FAILED" in done.stdout and "--- format FAILED" in done.stdout
    assert "0 of 2 sections passed" in done.stdout
    assert done.stdout.strip().endswith("failed: ruff format")


def test_bench_prints_json(root: Path) -> None:
    done = run(root, "bench", "noop-ninja", "--json")
    row = json.loads(done.stdout)
    assert set(row) == {"name", "value", "goal", "runs", "detail"}
    assert row["name"] == "noop-ninja" and row["goal"] == 0.15 and len(row["runs"]) == 15


def test_demo(root: Path) -> None:
    done = run(root, "demo")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if " saxpy " in f"{line} "]
    table = [(row[0], row[1]) for row in rows if row[0] in ("cubin", "ptx")]
    assert table == [
        ("cubin", "sm_75"),
        ("cubin", "sm_80"),
        ("cubin", "sm_86"),
        ("cubin", "sm_89"),
        ("cubin", "sm_90"),
        ("cubin", "sm_120"),
        ("ptx", "compute_90"),
    ]
    for row in rows:
        if row[0] == "cubin":
            assert int(row[3]) > 0 and int(row[6]) > 1000
    assert "bit for bit what NumPy computes" in done.stdout
    assert "demo: done" in done.stdout
