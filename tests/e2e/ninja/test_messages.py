"""What rustc, ptxas, clippy and fatcrate say is shown once: coloured on a terminal, plain in a
pipe, as JSON, with paths relative to the project."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """\
#![no_std]

/// # Safety
/// `p` holds a number.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(p: *mut u32) {
    let unused = 3;
    // SAFETY: the caller's promise.
    unsafe { *p = rec(*p) };
}

#[inline(never)]
fn rec(n: u32) -> u32 {
    if n < 2 { n } else { rec(n - 1) * rec(n - 2) + 1 }
}
"""
PROJECT = "version: 1\ncrates: {k: {path: k.rs, edition: 2024}}\nkernels: {k: {crates: [k], %s}}\n"
RUSTC, PTXAS = "unused variable: `unused`", "k: Stack size for entry function 'k' cannot be"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.rs").write_text(SOURCE)
    (tmp_path / "fatcrate.yaml").write_text(PROJECT % "archs: [sm_80]")
    return tmp_path


def piped(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "fatcrate", *argv]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)


def on_a_terminal(folder: Path, *argv: str) -> str:
    """What a command writes to a terminal, with line ends as programs write them."""
    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "fatcrate", *argv]
    environ = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(
        program, cwd=folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # EIO: the other side is closed
                break
            if not part:
                break
            parts.append(part)
        os.close(ours)
        assert process.wait() == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


WANTED = {"build": (RUSTC, PTXAS), "check": (RUSTC,), "clippy": (RUSTC,)}


@pytest.mark.parametrize("command", WANTED)
def test_once_and_coloured_on_a_terminal(folder: Path, command: str) -> None:
    text = on_a_terminal(folder, command)
    for message in WANTED[command]:
        assert text.count(message) == 1, text
        assert re.search(
            r"\x1b\[1m\x1b\[33mwarning(\[FC\d+\])?:\x1b\[0m\x1b\[1m " + re.escape(message), text
        )
    assert "\x1b[1m\x1b[34m -->\x1b[0m k.rs:7:9\n" in text
    assert str(folder) not in text


@pytest.mark.parametrize("command", WANTED)
def test_once_and_plain_in_a_pipe(folder: Path, command: str) -> None:
    done = piped(folder, command)
    for message in WANTED[command]:
        assert done.stderr.count(message) == 1
    assert "\x1b" not in done.stderr and str(folder) not in done.stderr
    assert " --> k.rs:7:9\n" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["check", "clippy"])
def test_json_of_rustc(folder: Path, command: str) -> None:
    for _ in range(2):  # the second time the check is not run again
        done = piped(folder, command, "--message-format", "json")
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        assert [m["message"] for m in messages] == [RUSTC, "1 warning emitted"]
        assert messages[0]["spans"][0]["file_name"] == "k.rs"
        assert done.stderr == ""


def test_clippy_of_what_rustc_refuses(folder: Path) -> None:
    (folder / "k.rs").write_text(SOURCE.replace("= 3", "= three"))
    done = piped(folder, "clippy")
    assert done.returncode == 1
    assert done.stderr.count("error[E0425]: cannot find value `three`") == 1
    assert "\x1b" not in done.stderr and " --> k.rs:7:18\n" in done.stderr


def test_json_of_a_build(folder: Path) -> None:
    done = piped(folder, "build", "--json")
    assert done.stderr == ""
    said = json.loads(done.stdout)
    printed = "".join(step["output"] for step in said["steps"])
    assert printed.count(RUSTC) == printed.count(PTXAS) == 1
    assert "\x1b" not in printed and str(folder) not in printed


def test_our_own_faults(folder: Path) -> None:
    (folder / "fatcrate.yaml").write_text(PROJECT % "archs: [sm_85], hots: [x86_64]")
    done = piped(folder, "build")
    assert done.returncode == 1
    assert done.stderr.count("error[FC0111]: kernels.k: has no key 'hots'\n") == 1
    assert "\n  --> fatcrate.yaml:3:44\n" in done.stderr
