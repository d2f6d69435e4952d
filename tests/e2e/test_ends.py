"""Ctrl-C while Python starts and imports; standard streams that are full, closed or gone.

Every command ends with the right exit code and without a traceback.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fatcrate.rules import cli
from support.ninja import FATCRATE, interrupt

#: Starts as the console script does; sends itself SIGINT at the import numbered ``argv[1]``.
AT_IMPORT = """\
import os, sys
from fatcrate.__main__ import entry
left = int(sys.argv.pop(1))
def watch(event, args):
    global left
    if event == "import":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 2)
sys.addaudithook(watch)
entry()
"""


def run(
    *words: str, redirect: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs ``fatcrate`` under a shell, which applies ``redirect``."""
    return subprocess.run(
        ["sh", "-c", f'"$0" "$@" {redirect}', str(FATCRATE), *words],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("words", ["doctor", "build --help", "inspect --help", "explain FC0301"])
def test_interrupt_at_every_import(words: str, full: bool, tmp_path: Path) -> None:
    numbers = 0
    for number in range(1, 1000, 1 if full else 19):
        done = subprocess.run(
            [sys.executable, "-c", AT_IMPORT, str(number), *words.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:  # that many imports there are not
            assert done.stderr == ""
            break
        assert done.returncode == 130, (number, done.stderr)
        assert done.stderr in (
            "fatcrate: interrupted\n",
            f"fatcrate {words.split()[0]}: interrupted\n",
        )
        numbers += 1
    assert numbers > 1


@pytest.mark.parametrize("milliseconds", [0, 5, 10, 20, 50, 100, 150])
def test_interrupt_after(milliseconds: int) -> None:
    """At first Python itself starts, and ends in its own way; our code never shows."""
    process = subprocess.Popen(
        [FATCRATE, "doctor"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(milliseconds / 1000)
    code, _, stderr = interrupt(process)
    if code in (0, 130):
        assert "Traceback" not in stderr
    else:
        assert "fatcrate/" not in stderr.replace(str(FATCRATE), "").replace(
            "from fatcrate.__main__ import entry", ""
        ), stderr


def unread(*words: str, unbuffered: str) -> subprocess.CompletedProcess[str]:
    """Runs ``fatcrate`` with a pipe as stdout whose reader is gone before the first word comes."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [FATCRATE, *words],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    return done


@pytest.mark.parametrize("name", ["", *cli.COMMANDS])
def test_help_that_cannot_be_printed(name: str) -> None:
    words = [*name.split(), "--help"]
    for unbuffered in ("", "1"):
        done = run(*words, redirect="> /dev/full", env={"PYTHONUNBUFFERED": unbuffered})
        assert done.returncode == 3
        assert done.stderr.startswith("error[FC0201]: standard output: ")
        assert os.strerror(errno.ENOSPC) in done.stderr and "Traceback" not in done.stderr
        done = unread(*words, unbuffered=unbuffered)
        assert (done.returncode, done.stderr) == (3, "")
    for redirect in (">&-", ">&- 2>&- <&-"):
        done = run(*words, redirect=redirect)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_errors_that_cannot_be_told(name: str) -> None:
    """The exit code tells what can be told."""
    for redirect in ("2>&-", "2> /dev/full", ">&- 2>&- <&-"):
        done = run(name, "--no-such-option", redirect=redirect)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize("words", ["inspect nowhere", "explain FC9999", "build -C nowhere"])
def test_faults_that_cannot_be_told(words: str, tmp_path: Path) -> None:
    told = run(*words.split())
    assert told.returncode in (1, 2, 3) and told.stderr.startswith("error[")
    for redirect in ("2>&-", "2> /dev/full", ">&- 2>&- <&-", "> /dev/full 2>&1"):
        assert run(*words.split(), redirect=redirect).returncode == told.returncode


@pytest.mark.parametrize("words", ["explain --markdown", "explain FC0301", "completion zsh"])
def test_output_that_cannot_be_printed(words: str) -> None:
    for unbuffered in ("", "1"):
        done = run(*words.split(), redirect="> /dev/full", env={"PYTHONUNBUFFERED": unbuffered})
        assert done.returncode == 3 and done.stderr.startswith("error[FC0201]: ")
        assert os.strerror(errno.ENOSPC) in done.stderr and "Traceback" not in done.stderr
        done = unread(*words.split(), unbuffered=unbuffered)
        assert (done.returncode, done.stderr) == (3, "")
