"""Errors and warnings that reach a user.

Every fault has a :class:`Kind`: a stable code (``FC0301``), a title, an explanation for
``fatcrate explain`` and an exit code. Each package declares its kinds in its ``errors.py``:

====== ===========================================
range  package
====== ===========================================
FC01xx ``rules`` (command line, project file, builds)
FC02xx ``toolchain`` (pins, discovery, archs, manifest)
FC03xx ``lto`` (link, codegen, assemble)
FC04xx ``fatbin`` (reader, packer, embedder, selection)
FC05xx ``fatbin`` (ABI check)
FC06xx ``lto.cpu`` (CPU runner)
====== ===========================================

A :class:`Diagnostic` is one occurrence; :class:`FatcrateError` carries one or more of them.
:class:`Collector` gathers independent errors so that they are reported together, sorted.

Every command imports this module, so its records are named tuples: ``dataclasses`` takes
15 ms to import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Literal, NamedTuple, NoReturn, TextIO

from fatcrate.toolchain.guard import EXIT_ENVIRONMENT as EXIT_ENVIRONMENT
from fatcrate.toolchain.guard import EXIT_INPUT as EXIT_INPUT
from fatcrate.toolchain.guard import EXIT_INTERRUPTED as EXIT_INTERRUPTED
from fatcrate.toolchain.guard import EXIT_USAGE as EXIT_USAGE

Severity = Literal["error", "warning", "note"]


class Kind(NamedTuple):
    """One kind of fault. ``code`` is unique and never reused for another meaning."""

    code: str
    title: str
    explanation: str
    exit_code: int = EXIT_INPUT
    severity: Severity = "error"


class Location(NamedTuple):
    """Where a fault is: a file, and a 1-based line and column or a byte offset in it."""

    file: str
    line: int | None = None
    column: int | None = None
    offset: int | None = None
    excerpt: str | None = None  # the source line, shown with a caret under ``column``

    def __str__(self) -> str:
        text = self.file
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        elif self.offset is not None:
            text += f": offset {self.offset:#x}"
        return text


class Diagnostic(NamedTuple):
    """One fault: what is wrong with which subject, where, and what to do about it."""

    kind: Kind
    subject: str  # crate, symbol, image or file that is at fault
    message: str
    remedy: str = ""
    location: Location | None = None
    notes: tuple[str, ...] = ()
    severity_override: Severity | None = None

    @property
    def severity(self) -> Severity:
        return self.severity_override or self.kind.severity

    def sort_key(self) -> tuple[str, int, int, str, str, str]:
        where = self.location
        return (
            where.file if where else "",
            (where.line or 0) if where else 0,
            (where.column or where.offset or 0) if where else 0,
            self.kind.code,
            self.subject,
            self.message,
        )

    def render(self) -> str:
        """The diagnostic as text, several lines, without a trailing newline."""
        head = f"{self.severity}[{self.kind.code}]: "
        if self.subject:
            head += f"{self.subject}: "
        lines = [head + self.message]
        if self.location is not None:
            lines.append(f"  --> {self.location}")
            if self.location.excerpt is not None:
                lines.append(f"   |  {self.location.excerpt}")
                if self.location.column is not None:
                    lines.append("   |  " + " " * (self.location.column - 1) + "^")
        lines.extend(f"  note: {note}" for note in self.notes)
        if self.remedy:
            lines.append(f"  help: {self.remedy}")
        return "\n".join(map(_shortened, lines))

    def to_json(self) -> dict[str, object]:
        where = self.location
        return {
            "severity": self.severity,
            "code": self.kind.code,
            "subject": self.subject,
            "message": self.message,
            "location": None
            if where is None
            else {
                "file": where.file,
                "line": where.line,
                "column": where.column,
                "offset": where.offset,
            },
            "notes": list(self.notes),
            "remedy": self.remedy,
        }


#: A line of a message that is longer loses its middle: names of symbols may have 64 kB.
_LONGEST = 1200


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    left = len(line) - _LONGEST
    return f"{line[: _LONGEST * 2 // 3]} … {left} characters … {line[-_LONGEST // 3 :]}"


class FatcrateError(Exception):
    """The one exception that carries faults to a user. Holds at least one diagnostic."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        if not diagnostics:
            raise ValueError("FatcrateError needs at least one diagnostic")
        self.diagnostics: tuple[Diagnostic, ...] = tuple(
            sorted(set(diagnostics), key=Diagnostic.sort_key)
        )
        super().__init__("\n".join(d.render() for d in self.diagnostics))

    @property
    def exit_code(self) -> int:
        """An environment fault outranks a usage fault, which outranks an input fault."""
        return max(d.kind.exit_code for d in self.diagnostics)


def fail(
    kind: Kind,
    subject: str,
    message: str,
    *,
    remedy: str = "",
    location: Location | None = None,
    notes: Iterable[str] = (),
) -> NoReturn:
    """Raises :class:`FatcrateError` with a single diagnostic."""
    raise FatcrateError(Diagnostic(kind, subject, message, remedy, location, tuple(notes)))


class Collector:
    """Gathers independent errors (raised together by :meth:`check`) and warnings."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def add(self, diagnostic: Diagnostic) -> None:
        (self.errors if diagnostic.severity == "error" else self.warnings).append(diagnostic)

    def absorb(self, error: FatcrateError) -> None:
        for diagnostic in error.diagnostics:
            self.add(diagnostic)

    def check(self) -> None:
        """Raises when any error was gathered."""
        if self.errors:
            raise FatcrateError(*self.errors)


def report(
    diagnostics: Iterable[Diagnostic], *, as_json: bool = False, stream: TextIO | None = None
) -> None:
    """Prints diagnostics, sorted, to ``stream`` (stderr unless told otherwise)."""
    out = stream or sys.stderr
    for diagnostic in sorted(diagnostics, key=Diagnostic.sort_key):
        print(_json(diagnostic) if as_json else diagnostic.render(), file=out)


def _json(diagnostic: Diagnostic) -> str:
    import json

    return json.dumps(diagnostic.to_json())
