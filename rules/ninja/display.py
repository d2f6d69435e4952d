"""What a build shows: one line that changes on a terminal, calm lines elsewhere.

Progress and messages go to stderr. With ``--json`` one document goes to stdout at the end.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TextIO

from fatcrate.rules.ninja.runner import Outcome, Step

_RED, _YELLOW, _BLUE, _BOLD, _OFF = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"
_HEADLINE = re.compile(r"(error|warning)(\[\w+\])?:")
_MARGIN = re.compile(r"( *(?:-->|\d* \|)| +\|)(.*)")


@dataclass
class Display:
    """Shows one build. ``quiet`` leaves only what went wrong."""

    quiet: bool = False
    verbose: bool = False
    as_json: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    _live: bool = False  # whether an unfinished status line is on the terminal

    @property
    def terminal(self) -> bool:
        return self.stream.isatty() and os.environ.get("TERM", "") != "dumb"

    @property
    def colours(self) -> bool:
        return self.terminal and not os.environ.get("NO_COLOR")

    def say(self, text: str) -> None:
        """A message of ours."""
        if not self.quiet and not self.as_json:
            self._clear()
            print(f"fatcrate: {text}", file=self.stream, flush=True)

    def on_step(self, step: Step) -> None:
        """Progress: a step ended."""
        if self.quiet or self.as_json:
            return
        text = f"[{step.number}/{step.total}] {step.what}"
        if not self.terminal or self.verbose:
            print(text, file=self.stream, flush=True)
            return
        import shutil

        width = shutil.get_terminal_size().columns - 1
        self.stream.write(f"\r\x1b[K{text[:width]}")
        self.stream.flush()
        self._live = True

    def on_failure(self, step: Step) -> None:
        """A step failed; what it printed follows."""
        if not self.as_json:
            self._clear()
            print(self._paint(f"failed: {step.what}", _RED), file=self.stream)
            if self.verbose:
                print(step.command, file=self.stream)

    def on_line(self, _step: Step | None, text: str) -> None:
        """A line that a step printed."""
        if not self.as_json:
            self._clear()
            print(self._coloured(text), file=self.stream, flush=True)

    def _clear(self) -> None:
        if self._live:
            self.stream.write("\r\x1b[K")
            self._live = False

    def _paint(self, text: str, colour: str) -> str:
        return f"{_BOLD}{colour}{text}{_OFF}" if self.colours else text

    def _coloured(self, text: str) -> str:
        """A line of a diagnostic in the colours that rustc uses on a terminal."""
        if not self.colours or "\x1b" in text:
            return text
        if match := _HEADLINE.match(text):
            colour = _RED if match[1] == "error" else _YELLOW
            rest = text[match.end() :]
            return f"{_BOLD}{colour}{match[0]}{_OFF}{_BOLD}{rest}{_OFF}"
        if match := _MARGIN.fullmatch(text):
            return f"{_BOLD}{_BLUE}{match[1]}{_OFF}{match[2]}"
        return text

    def end(self) -> None:
        """Leaves the terminal as it should be."""
        self._clear()
        self.stream.flush()


def document(
    status: str,
    outcome: Outcome,
    outputs: Iterable[str],
    seconds: float,
) -> dict[str, Any]:
    """What ``--json`` prints. ``status``: built, up-to-date, failed, interrupted, planned."""
    return {
        "version": 1,
        "status": status,
        "seconds": round(seconds, 3),
        "outputs": sorted(outputs),
        "steps": [
            {
                "what": step.what,
                "code": None if status == "planned" else step.code,  # a dry run runs nothing
                "output": "\n".join(step.output),
            }
            for step in outcome.steps
        ],
        "messages": outcome.messages,
    }


def print_json(value: dict[str, Any]) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, indent=2))
