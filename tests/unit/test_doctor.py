"""`fatcrate doctor`, run as users run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.toolchain import doctor, identity
from support import layouts


def run(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fatcrate", "doctor", *args],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")} | environ,
    )


def test_text() -> None:
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert "the toolchain is complete" in done.stdout
    assert "archs: sm_75 " in done.stdout
    assert "rustc  " in done.stdout and "MISSING" not in done.stdout


def test_json_and_identity(tmp_path: Path) -> None:
    done = run("--json", "--identity", str(tmp_path / "toolchain.json"))
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["faults"]) == (0, True, [])
    required = [tool for tool in report["tools"] if tool["required"]]
    assert all(tool["state"] == "ok" and tool["path"] for tool in required)
    written = identity.load(tmp_path / "toolchain.json")
    assert json.loads(written.to_json()) == report["identity"]


def test_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    done = run("--json", FATCRATE_PTXAS="/nowhere/ptxas", PATH=str(tmp_path))
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["identity"]) == (3, False, None)
    states = {tool["key"]: (tool["state"], tool["remedy"]) for tool in report["tools"]}
    assert states["ptxas"] == ("missing", "pip install nvidia-cuda-nvcc")
    assert states["host_linker"] == ("missing", "apt-get install gcc")
    assert states["bazel"] == ("missing", "apt-get install bazel-bootstrap")
    assert [fault["code"] for fault in report["faults"]] == ["FC0230", "FC0230"]


def test_unusable_tool_in_the_table(tmp_path: Path) -> None:
    ptxas = layouts.program(tmp_path / "ptxas", ("--version", "hello"))
    done = run(FATCRATE_PTXAS=str(ptxas))
    assert done.returncode == 3
    assert f"ptxas            UNUSABLE       FATCRATE_PTXAS: {ptxas}" in done.stdout
    assert "error[FC0231]" in done.stdout


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        doctor.main(["--help"])
    text = capsys.readouterr().out
    assert caught.value.code == 0
    assert "examples:" in text and "FATCRATE_RUSTC" in text and "exit status:" in text


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("1.13.2", "1.13.2"),
        ("cargo 1.96.0 (abc 2026-05-25)", "1.96.0"),
        ("Cuda compilation tools, release 13.5, V13.5.37", "13.5.37"),
        ("no_version", ""),
    ],
)
def test_versions_of_other_tools(tmp_path: Path, said: str, version: str) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\necho '{said}'\n")
    tool.chmod(0o755)
    assert doctor._version(str(tool)) == version
    assert doctor._version(str(tmp_path / "absent")) == ""


def test_a_rustup_toolchain_that_was_named(tmp_path: Path) -> None:
    """Without sources it gets rustup's command; with them, only its LLVM is at fault."""
    sysroot = layouts.rustup(tmp_path, "nightly-x", version="1.97.0", llvm="22.1.99")
    (sysroot / "lib/rustlib").mkdir(parents=True, exist_ok=True)
    (sysroot / "lib/rustlib/multirust-channel-manifest.toml").write_text("", encoding="utf-8")
    done = run(FATCRATE_RUSTC=str(sysroot / "bin/rustc"))
    remedy = "rustup component add rust-src --toolchain nightly-x"
    assert f"rust-src         MISSING        get it: {remedy}\n" in done.stdout
    assert f"  help: {remedy}\n" in done.stdout
    assert "apt-get" not in done.stdout
    layouts.rust_src(sysroot)
    done = run(FATCRATE_RUSTC=str(sysroot / "bin/rustc"))
    assert "rustc            UNUSABLE " in done.stdout and "MISSING" not in done.stdout
    assert f"FATCRATE_RUSTC: {sysroot}/lib/rustlib/src/rust/library\n" in done.stdout
    assert "rustc's LLVM 22.1.99 is newer than the linker's" in done.stdout
