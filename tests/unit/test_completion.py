"""Completion: candidates, and the script in bash."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.rules import cli, completion


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ([], ["build", "doctor", "--help"]),
        (["bui"], ["build", "build-script"]),
        (["help", "li"], ["link"]),
        (["build", "--ke"], ["--keep-going"]),
        (["build", "-"], ["-C", "-j", "--jobs", "--archs"]),
        (["embed", "--host", ""], ["aarch64", "x86_64"]),
        (["pack", "--compress", ""], []),
        (["codegen", "x.bc", "--opt-level", "s"], ["s"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["nonsense", ""], []),
    ],
)
def test_candidates(words: list[str], some: list[str]) -> None:
    found = completion.candidates(words)
    if len(some) > 2:
        assert set(some) <= set(found)
    else:
        assert found == sorted(some)


def test_every_command_has_options() -> None:
    """Their help is read as argparse writes it."""
    for command in cli.COMMANDS:
        assert "--help" in completion.candidates([command, "--"]), command


def test_targets_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert completion.candidates(["build", ""]) == []
    own = tmp_path / "fatcrate-out/.fatcrate"
    own.mkdir(parents=True)
    (own / "state.json").write_text(json.dumps({"names": {"demo": [], "kern": []}}))
    assert completion.candidates(["build", ""]) == ["demo", "kern"]
    assert completion.candidates(["build", "demo", "k"]) == ["kern"]
    (own / "state.json").write_text("[]")
    assert completion.candidates(["check", ""]) == []


def test_kernels_of_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "fatcrate-out/.fatcrate"
    own.mkdir(parents=True)
    below = tmp_path / "src/inner"
    below.mkdir(parents=True)
    (tmp_path / "fatcrate.yaml").write_text("version: 1\n")
    state = {"names": {"demo": [], "kern": []}, "targets": ["demo"]}
    (own / "state.json").write_text(json.dumps(state))
    kernels = {"kernels": [{"name": "saxpy"}, {"name": "scale"}, {"name": "dot"}]}
    (own.parent / "demo.manifest.json").write_text(json.dumps(kernels))
    for folder in (tmp_path, below):
        monkeypatch.chdir(folder)
        for command in ("run", "stages"):
            assert completion.candidates([command, ""]) == ["demo"]
            assert completion.candidates([command, "demo", "s"]) == ["saxpy", "scale"]
            assert completion.candidates([command, "demo", "saxpy", ""]) == []
            assert completion.candidates([command, "--quiet", "demo", "d"]) == ["dot"]
            assert completion.candidates([command, "-j", "2", "demo", "d"]) == ["dot"]
            assert completion.candidates([command, "other", "s"]) == []
        assert completion.candidates(["run", "demo", "saxpy", "--arg", ""]) == []
        assert completion.candidates(["run", "demo", "--grid", "4", "s"]) == ["saxpy", "scale"]
    (own.parent / "demo.manifest.json").write_text('{"kernels": [1]}')
    assert completion.candidates(["run", "demo", ""]) == []


def test_archs_and_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert completion.candidates(["build", "--archs", "sm_9"]) == ["sm_90", "sm_90a"]
    own = tmp_path / "fatcrate-out/.fatcrate"
    own.mkdir(parents=True)
    archs = {
        "llvm": {"archs": ["sm_80", "sm_90", "sm_90a"]},
        "ptxas": {"archs": ["sm_90", "sm_80"]},
    }
    (own / "toolchain.json").write_text(json.dumps(archs))
    assert completion.candidates(["build", "--archs", "sm_9"]) == ["sm_90"]
    assert completion.candidates(["build", "--archs", "sm_90,c"]) == [
        *("sm_90,compute_80", "sm_90,compute_90")
    ]
    assert completion.candidates(["build", "--archs", "al"]) == ["all", "all-major"]
    assert completion.candidates(["stages", "demo", "k", "--arch", "sm_8"]) == ["sm_80"]
    found = completion.candidates(["explain", "FC011"])
    assert found[:3] == ["FC0110", "FC0111", "FC0112"]
    assert completion.candidates(["explain", "--"]) == ["--help", "--json", "--markdown"]


def test_in_bash(tmp_path: Path) -> None:
    script = completion.SCRIPTS["bash"] + (
        'COMP_WORDS=(fatcrate doc); COMP_CWORD=1; _fatcrate; echo "${COMPREPLY[@]}"\n'
        "COMP_WORDS=(fatcrate embed --host ''); COMP_CWORD=3; _fatcrate; echo \"${COMPREPLY[@]}\"\n"
    )
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "doctor\naarch64 x86_64\n"


def _in(shell: str, script: str, folder: Path) -> list[str]:
    """Lines that the script prints in the shell, with fatcrate on PATH."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    options = ["-f"] if shell == "zsh" else ["--no-config"]
    return subprocess.run(
        [program, *options, "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_in_fish(tmp_path: Path) -> None:
    (tmp_path / "BUILD").touch()
    (tmp_path / "a b.fatbin").touch()
    ask = completion.SCRIPTS["fish"] + "complete -C '{}'\n"
    assert _in("fish", ask.format("fatcrate bu"), tmp_path) == ["build", "build-script"]
    assert _in("fish", ask.format("fatcrate build --ke"), tmp_path) == ["--keep-going"]
    assert _in("fish", ask.format("fatcrate inspect a"), tmp_path) == ["a b.fatbin"]


def test_in_zsh(tmp_path: Path) -> None:
    stubs = "compdef() { print $@ }\ncompadd() { print -l ${(P)2} }\n_files() { print files }\n"
    asked = "words=(fatcrate {}); CURRENT={}; _fatcrate\n"
    sourced = stubs + completion.SCRIPTS["zsh"]
    assert _in("zsh", sourced + asked.format("bu", 2), tmp_path) == [
        *("_fatcrate fatcrate", "build", "build-script"),
    ]
    assert _in("zsh", sourced + asked.format("inspect ''", 3), tmp_path)[1:] == ["files"]
    (tmp_path / "_fatcrate").write_text(completion.SCRIPTS["zsh"], encoding="utf-8")
    loaded = stubs + "fpath=($PWD $fpath); autoload -Uz _fatcrate\n"
    for_first = loaded + asked.format("bu", 2)
    assert _in("zsh", for_first, tmp_path) == ["build", "build-script"]
