"""Ninja's output, told apart; and what the display makes of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from fatcrate.rules.ninja import display, runner, session
from fatcrate.rules.ninja.display import Display
from fatcrate.rules.ninja.runner import Listener, Outcome, Step
from fatcrate.toolchain.diagnostics import FatcrateError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def listener(shown: Display) -> Listener:
    return Listener(shown.on_step, shown.on_failure, shown.on_line)


def write(folder: Path, text: str) -> None:
    rule = "rule r\n  command = $cmd\n  description = $what\n"
    (folder / "build.ninja").write_text(rule + text, encoding="utf-8")


TWO = """\
build a: r
  cmd = printf 'warning: x\\nFAILED: [code=7] not so\\n'; touch a
  what = make a
build b: r a
  cmd = echo 'error: no b'; exit 3
  what = make b
"""


def run(folder: Path, shown: Display, *args: str) -> Outcome:
    return runner.run(runner.find(), str(folder), args, listener(shown))


def test_steps_failures_and_their_output(tmp_path: Path) -> None:
    write(tmp_path, TWO)
    stream = io.StringIO()
    outcome = run(tmp_path, Display(stream=stream))
    assert outcome.code != 0 and not outcome.interrupted
    assert [(step.what, step.code) for step in outcome.steps] == [("make a", 0), ("make b", 3)]
    assert outcome.steps[0].output == ["warning: x", "FAILED: [code=7] not so"]
    assert outcome.steps[1].output == ["error: no b"]
    assert outcome.failures == outcome.steps[1:]
    assert stream.getvalue() == (
        "[1/2] make a\nwarning: x\nFAILED: [code=7] not so\n"
        "[2/2] make b\nfailed: make b\nerror: no b\n"
    )


def test_a_step_of_the_console_pool_prints_before_it_fails(tmp_path: Path) -> None:
    """Another step ends meanwhile; what a step prints is not taken for a failure."""
    text = """\
build a: r
  cmd = while test ! -e b; do sleep 0.01; done; sleep 0.1; echo half; exit 3 # console
  what = make a
  pool = console
build b: r
  cmd = printf 'z\\nFAILED: x\\ncd y\\nFAILED: \\n'; touch b
  what = make b
"""
    write(tmp_path, text)
    stream = io.StringIO()
    outcome = run(tmp_path, Display(stream=stream), "-j2", "a", "b")
    assert [(step.what, step.code) for step in outcome.steps] == [("make a", 3), ("make b", 0)]
    assert outcome.failures[0].command.endswith("exit 3")
    assert outcome.failures[0].output == ["half"]
    assert outcome.steps[1].output == ["z", "FAILED: x", "cd y", "FAILED: "]
    assert stream.getvalue() == (
        "[0/2] make a\nhalf\n[1/2] make b\nz\nFAILED: x\ncd y\nFAILED: \nfailed: make a\n"
    )


def test_files_that_ninja_itself_cannot_write(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("")
    write(tmp_path, f"build {cache}/sub/a: r\n  cmd = true\n  what = w\n")
    outcome = run(tmp_path, Display(stream=io.StringIO()))
    with pytest.raises(FatcrateError) as caught:
        session.refused(outcome, "/somewhere/else")
    assert str(caught.value) == (f"error[FC0201]: {cache}/sub: Not a directory\n  --> {cache}/sub")
    with pytest.raises(FatcrateError) as caught:
        session.refused(outcome, f"{cache}/sub")
    assert str(caught.value) == (
        f"error[FC0129]: {cache}/sub: core and alloc for the GPU cannot be kept there: Not a"
        " directory\n"
        "  help: free some disk space there, or set XDG_CACHE_HOME to a folder that can be written"
    )
    session.refused(Outcome(1, [], ["error: unknown target 'x'"]), str(cache))


def test_a_faulty_file_is_a_message_of_ninja(tmp_path: Path) -> None:
    write(tmp_path, "build a: nothing\n")
    outcome = run(tmp_path, Display(stream=io.StringIO()))
    assert outcome.code == 1
    assert outcome.steps == []
    assert "unknown build rule" in outcome.messages[0]


def test_quiet_and_json_show_no_progress(tmp_path: Path) -> None:
    for shown, text in (
        (Display(quiet=True), "warning: x\nFAILED: [code=7] not so\nfailed: make b\nerror: no b\n"),
        (Display(as_json=True), ""),
    ):
        (tmp_path / "a").unlink(missing_ok=True)
        write(tmp_path, TWO)
        shown.stream = io.StringIO()
        run(tmp_path, shown)
        assert shown.stream.getvalue() == text


def test_one_line_that_changes_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    shown = Display(stream=stream)
    shown.on_step(Step("make something with a long name", 1, 2))
    shown.on_step(Step("short", 2, 2))
    shown.say("done")
    assert stream.getvalue() == (
        "\r\x1b[K[1/2] make somethin\r\x1b[K[2/2] short\r\x1b[Kfatcrate: done\n"
    )


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("error[E0425]: no z", "\x1b[1m\x1b[31merror[E0425]:\x1b[0m\x1b[1m no z\x1b[0m"),
        ("warning: x", "\x1b[1m\x1b[33mwarning:\x1b[0m\x1b[1m x\x1b[0m"),
        ("  --> util.rs:3:9", "\x1b[1m\x1b[34m  -->\x1b[0m util.rs:3:9"),
        ("3 |     a", "\x1b[1m\x1b[34m3 |\x1b[0m     a"),
        ("plain", "plain"),
    ],
)
def test_diagnostics_in_colour(line: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    Display(stream=stream).on_line(None, line)
    assert stream.getvalue() == shown + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    Display(stream=stream).on_line(None, line)
    assert stream.getvalue() == line + "\n"


def test_ninja_is_found_beside_python_or_in_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path(runner.find()).name == "ninja"
    monkeypatch.setitem(__import__("sys").modules, "ninja", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FatcrateError) as caught:
        runner.find(str(tmp_path / "python"))
    assert str(caught.value) == ("error[FC0123]: ninja: was not found\n  help: pip install ninja")
    (tmp_path / "ninja").write_text("#!/bin/sh\n")
    (tmp_path / "ninja").chmod(0o755)
    assert runner.find(str(tmp_path / "bin/python")) == str(tmp_path / "ninja")


def test_document() -> None:
    steps = [Step("make a", 1, 1, 2, "cmd", ["x", "y"])]
    made = display.document("failed", Outcome(1, steps, ["m"]), ["/o/b", "/o/a"], 1.23456)
    assert json.loads(json.dumps(made)) == {
        "version": 1,
        "status": "failed",
        "seconds": 1.235,
        "outputs": ["/o/a", "/o/b"],
        "steps": [{"what": "make a", "code": 2, "output": "x\ny"}],
        "messages": ["m"],
    }
