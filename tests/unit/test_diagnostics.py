"""How faults are shown, sorted, gathered and turned into exit statuses."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest
from fatcrate.toolchain import errors
from fatcrate.toolchain.diagnostics import (
    Collector,
    Diagnostic,
    FatcrateError,
    Kind,
    Location,
    fail,
    report,
)
from fatcrate.toolchain.guard import guarded

INPUT = Kind("FC0998", "a fault of the input", "For tests.")
ENVIRONMENT = Kind("FC0999", "a fault of the environment", "For tests.", 3)
NOTICE = Kind("FC0997", "a warning", "For tests.", severity="warning")


def test_text_with_excerpt_and_caret() -> None:
    where = Location("fatcrate.yaml", 3, 7, excerpt="  k: {pth: k.rs}")
    fault = Diagnostic(
        INPUT, "crates.k", "'pth' is not a key", "did you mean 'path'?", where, ("first", "second")
    )
    assert fault.render() == (
        "error[FC0998]: crates.k: 'pth' is not a key\n"
        "  --> fatcrate.yaml:3:7\n"
        "   |    k: {pth: k.rs}\n"
        "   |        ^\n"
        "  note: first\n"
        "  note: second\n"
        "  help: did you mean 'path'?"
    )


def test_a_very_long_name_is_shown_in_part() -> None:
    name = "begin" + "x" * 65536 + "end"
    fault = Diagnostic(INPUT, name, "is undefined", notes=(name,))
    first, note = fault.render().split("\n")
    assert len(first) < 1300 and len(note) < 1300
    assert "begin" in first and first.endswith("end: is undefined")
    assert " characters … " in first
    assert fault.to_json()["subject"] == name


def test_locations() -> None:
    assert str(Location("a")) == "a"
    assert str(Location("a", 3)) == "a:3"
    assert str(Location("a", offset=255)) == "a: offset 0xff"


def test_json() -> None:
    fault = Diagnostic(INPUT, "k", "is wrong", location=Location("f", 2, 5))
    assert json.loads(json.dumps(fault.to_json())) == {
        "severity": "error",
        "code": "FC0998",
        "subject": "k",
        "message": "is wrong",
        "location": {"file": "f", "line": 2, "column": 5, "offset": None},
        "notes": [],
        "remedy": "",
    }


def test_errors_are_sorted_and_named_once() -> None:
    at = [Diagnostic(INPUT, "s", "m", location=Location("f", line)) for line in (10, 9, 10)]
    assert [d.location.line for d in FatcrateError(*at).diagnostics if d.location] == [9, 10]


def test_the_environment_outranks_the_input() -> None:
    error = FatcrateError(Diagnostic(INPUT, "a", "m"), Diagnostic(ENVIRONMENT, "b", "m"))
    assert error.exit_code == 3


def test_an_error_needs_a_diagnostic() -> None:
    with pytest.raises(ValueError, match="at least one"):
        FatcrateError()


def test_collector_raises_errors_and_keeps_warnings() -> None:
    collector = Collector()
    collector.add(Diagnostic(NOTICE, "w", "m"))
    collector.check()
    with pytest.raises(FatcrateError):
        fail(INPUT, "a", "m")
    collector.absorb(FatcrateError(Diagnostic(INPUT, "b", "m"), Diagnostic(INPUT, "a", "m")))
    with pytest.raises(FatcrateError) as caught:
        collector.check()
    assert [d.subject for d in caught.value.diagnostics] == ["a", "b"]
    assert [d.subject for d in collector.warnings] == ["w"]


def test_report_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    report([Diagnostic(INPUT, "b", "m"), Diagnostic(INPUT, "a", "m")], as_json=True)
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["subject"] for line in lines] == ["a", "b"]


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (FatcrateError(Diagnostic(INPUT, "k", "is wrong")), 1, "error[FC0998]: k: is wrong"),
        (KeyboardInterrupt(), 130, "prog: interrupted"),
        (
            OSError(errno.ENOSPC, "No space left on device", "out.bin"),
            3,
            "error[FC0201]: out.bin: No space left on device\n  --> out.bin\n"
            "  help: free some disk space and run the command again",
        ),
        (
            MemoryError(),
            3,
            "error[FC0201]: prog: Cannot allocate memory\n"
            "  help: raise the memory limit (ulimit -v), or run fewer steps at a time (-j)",
        ),
        (ZeroDivisionError("oops"), 3, "error[FC0202]: prog: ZeroDivisionError: oops ("),
    ],
)
def test_guarded(
    error: BaseException, status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def body() -> int:
        raise error

    assert guarded(body, program="prog") == status
    shown = capsys.readouterr().err
    assert shown.startswith(text) and "Traceback" not in shown


def test_a_traceback_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATCRATE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        guarded(lambda: 1 // 0, program="prog")


def test_a_reader_that_goes_away_is_no_error_message() -> None:
    code = (
        "from fatcrate.toolchain.guard import guarded\n"
        "import sys\n"
        "def body():\n"
        "    for _ in range(100000):\n"
        "        print('x' * 100)\n"
        "    return 0\n"
        "sys.exit(guarded(body, program='p'))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 3


def test_os_error_without_a_name() -> None:
    fault = errors.from_os_error(OSError(errno.EIO, os.strerror(errno.EIO)))
    assert fault.render() == "error[FC0201]: Input/output error"
