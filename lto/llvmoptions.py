"""Checks options that a user passes on to LLVM. Both engines ignore what they do not know."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fatcrate.lto import errors, isolate, symbols
from fatcrate.lto.engine import Choice
from fatcrate.lto.options import start
from fatcrate.toolchain.diagnostics import Collector, Diagnostic

#: A line of LLVM's help: an option, and in brackets what its value is.
_LINE = re.compile(r"  --?([\w.-]+)(\[?=(<[^>]*>|\.\.\.)\]?)?(?: |$)")
_CHOICE = re.compile(r"    =(\S+)")
_ENDING = ("h", "help", "version")
_NUMBERS = ("<int>", "<uint>", "<long>", "<ulong>", "<number>")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?)")


def check(chosen: Choice, options: Sequence[str]) -> None:
    """Raises FC0340 for each option that the engine's LLVM does not have or cannot read."""
    if not options:
        return
    known = parse(_help(chosen))
    faults = Collector()
    for option in options:
        problem, remedy = _problem(option, known)
        if problem:
            faults.add(
                Diagnostic(errors.BAD_OPTION, "--llvm-option", f"{option!r} {problem}", remedy)
            )
    faults.check()


class Known(NamedTuple):
    """An option of LLVM: what its value is (``<int>``; "" for none needed), or one of what."""

    kind: str
    choices: list[str]


def parse(text: str) -> dict[str, Known]:
    """Name -> option, of LLVM's ``--help-hidden``."""
    found: dict[str, Known] = {}
    choices: list[str] = []
    for line in text.splitlines():
        if match := _LINE.match(line):
            choices = []
            found[match[1]] = Known(match[3] or "", choices)
        elif match := _CHOICE.match(line):
            choices.append(match[1])
    return found


def _problem(option: str, known: Mapping[str, Known]) -> tuple[str, str]:
    """What is wrong with an option, and what helps; "" when nothing is."""
    name, equals, value = option.lstrip("-").partition("=")
    if not option.startswith("-") or not name:
        return "does not begin with '-'", f"write -{option}" if name in known else ""
    if name not in known:
        near = [f"-{each}" for each in symbols.nearest(name, known)]
        remedy = f"did you mean {symbols.listed(near, 'or')}?" if near else ""
        return "is no option of LLVM", remedy
    if name in _ENDING or name.startswith("help-"):
        return "makes LLVM print something and stop", "leave it out"
    kind, choices = known[name]
    if kind and not equals:
        return "needs a value", f"write -{name}={kind}"
    if kind in _NUMBERS and not _NUMBER.fullmatch(value):
        return f"takes a number, not {value!r}", f"write -{name}=100, say"
    if kind and choices and value not in choices:
        return f"cannot be {value!r}", f"values: {', '.join(sorted(choices))}"
    if not kind and equals and value.lower() not in ("true", "false", "0", "1"):
        return f"is on or off, not {value!r}", f"write -{name} or -{name}=false"
    return "", ""


def _help(chosen: Choice) -> str:
    """What LLVM prints of its options. It ends the process with it."""
    printed = os.memfd_create("fatcrate")
    try:

        def work() -> None:
            os.dup2(printed, 1)
            start(chosen).set_options(["--help-hidden"])

        try:
            isolate.run(work)
        except isolate.Crash as end:
            if end.signal or end.exit_code or end.timed_out:
                raise
        size = os.lseek(printed, 0, os.SEEK_END)
        return os.pread(printed, size, 0).decode("utf-8", "replace")
    finally:
        os.close(printed)
