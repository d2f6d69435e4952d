"""Completion: candidates, and the script in bash."""

from __future__ import annotations

import json
import os
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
