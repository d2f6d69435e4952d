"""The root command."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.rules import cli


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fatcrate", *args], capture_output=True, text=True, check=False
    )


def test_help_lists_every_command() -> None:
    text = run("--help").stdout
    for name, command in cli.COMMANDS.items():
        assert f"  {name:<12} {command.summary}\n" in text
        assert len(command.summary) <= 60
    assert "examples:" in text and "exit status:" in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_version() -> None:
    from fatcrate import __version__

    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"fatcrate {__version__}\n")


@pytest.mark.parametrize(
    ("args", "first"),
    [
        ((), "fatcrate: a command is needed"),
        (("bulid",), "fatcrate: 'bulid' is not a command; did you mean 'build'?"),
        (("zzzz",), "fatcrate: 'zzzz' is not a command"),
        (("--zzzz",), "fatcrate: '--zzzz' is not an option"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], first: str) -> None:
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == first


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_with_examples(name: str) -> None:
    assert importlib.util.find_spec(cli.COMMANDS[name].entry.split(":")[0]) is not None
    done = run(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: fatcrate {name}")
    assert "example" in done.stdout


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_an_unknown_option_is_wrong_usage(name: str) -> None:
    done = run(name, "--no-such-option")
    assert done.returncode == 2
    assert done.stdout == "" and "Traceback" not in done.stderr and done.stderr.count("\n") < 30


def test_module_and_script_are_the_same_command() -> None:
    script = Path(sys.executable).with_name("fatcrate")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == run("--version").stdout
