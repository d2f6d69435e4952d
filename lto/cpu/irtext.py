"""A module's textual IR, cut into the pieces that the CPU runner works on.

LLVM prints one global per line, a function from ``define`` to a line ``}``, and everything
else (types, attribute groups, metadata) one per line (LLVM Language Reference, "High Level
Structure"). Strings are quoted, with ``"`` escaped as ``\\22``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_NAME = r'@(?:"(?P<quoted>[^"]*)"|(?P<plain>[-\w$.]+))'
_HEADER = re.compile(rf"^(?:define|declare)\b[^@]*?{_NAME}\(")
_GLOBAL = re.compile(rf"^{_NAME} = ")
_REFERENCE = re.compile(_NAME)
_STRING = re.compile(r'("[^"]*")')


@dataclass
class Function:
    """A function: its name, its first line, and the lines of its body (none: declared)."""

    name: str
    header: str
    body: list[str] = field(default_factory=list)

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body."""
        return self.header.startswith("declare")

    def references(self) -> set[str]:
        """Names of globals and functions that the body mentions."""
        return references("\n".join(self.body))


@dataclass
class Text:
    """A whole module."""

    types: list[str]
    globals: dict[str, str]  # name -> line
    functions: dict[str, Function]
    rest: list[str]  # module asm, comdats, attribute groups, metadata

    def render(self) -> str:
        """The whole module as text again."""
        lines = [*self.types, *self.globals.values()]
        for function in self.functions.values():
            lines.append(function.header)
            if not function.is_declaration:
                lines += [*function.body, "}"]
        return "\n".join([*lines, *self.rest]) + "\n"


def _matched(match: re.Match[str]) -> str:
    quoted = match["quoted"]
    return quoted if quoted is not None else match["plain"]


def references(text: str) -> set[str]:
    """Names of globals and functions in a piece of IR, as they are spelt between quotes."""
    return {_matched(m) for m in _REFERENCE.finditer(text)}


def outside_strings(line: str, change: Callable[[str], str]) -> str:
    """Applies ``change`` to the parts of a line that are not in quotes."""
    if '"' not in line:
        return change(line)
    parts = _STRING.split(line)
    return "".join(part if part.startswith('"') else change(part) for part in parts)


def parse(text: str) -> Text:
    """Cuts up a module as LLVM prints it."""
    result = Text([], {}, {}, [])
    lines = iter(text.split("\n"))
    for line in lines:
        if not line or line.startswith((";", "source_filename", "target ")):
            continue
        if line.startswith(("define", "declare")):
            match = _HEADER.match(line)
            if match is None:
                result.rest.append(line)
                continue
            function = Function(_matched(match), line)
            if line.startswith("define"):
                for inner in lines:
                    if inner == "}":
                        break
                    function.body.append(inner)
            result.functions[function.name] = function
        elif match := _GLOBAL.match(line):
            result.globals[_matched(match)] = line
        elif line.startswith("%"):
            result.types.append(line)
        else:
            result.rest.append(line)
    return result
