"""What Bazel's repository rules are told of the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fatcrate.toolchain import bazel, identity
from fatcrate.toolchain.discover import Tools


def test_every_path_is_there_and_absolute(tools: Tools) -> None:
    machine = bazel.describe(tools, tools.python)
    for path in (*machine.files.values(), *machine.folders.values()):
        assert Path(path).is_absolute()
        assert Path(path).exists(), path
    assert {"rustc/rustc", "cuda/ptxas", "python/python3"} <= machine.files.keys()
    assert any(name.startswith("rustc/lib/librustc_driver") for name in machine.files)


def test_identities(tools: Tools) -> None:
    machine = bazel.describe(tools, tools.python)
    whole = identity.loads(machine.identity)
    assert whole.rustc == tools.identity.rustc
    assert whole.ptxas == tools.identity.ptxas
    rust = identity.loads(machine.rust_identity)
    assert (rust.rustc, rust.rust_src) == (whole.rustc, whole.rust_src)
    assert whole.ptxas.version not in machine.rust_identity
    assert whole.llvm.package not in machine.rust_identity
    for text in (machine.identity, machine.rust_identity):
        assert "/" not in text


@pytest.mark.parametrize(
    ("triple", "expected"),
    [
        ("x86_64-unknown-linux-gnu", ["@platforms//cpu:x86_64", "@platforms//os:linux"]),
        ("aarch64-apple-darwin", ["@platforms//cpu:aarch64", "@platforms//os:macos"]),
        ("riscv64gc-unknown-linux-musl", ["@platforms//os:linux"]),
    ],
)
def test_constraints(triple: str, expected: list[str]) -> None:
    assert bazel.constraints(triple) == expected


def test_faults_are_an_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATCRATE_PTXAS", "/does/not/exist")
    assert bazel.main() == 0
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert "FATCRATE_PTXAS names /does/not/exist, which is not a file" in fault
