"""Source places of instructions, through all that was inlined into each other.

A *chain* is what one instruction comes from: the place of the code itself, then the places
of the calls that it was inlined at, outwards. As text: ``slices.rs:9:10 in reduce.rs:38:47``.

PTX has one place for an instruction. To keep the whole chain, :func:`number` makes the line
of each place the number of a row in a table, from :data:`FIRST` on; the table follows the PTX
in comments. Lines below :data:`FIRST` are lines (LLVM Language Reference, ``DILocation``; PTX
ISA, ``.loc``).
"""

from __future__ import annotations

import re

from fatcrate.lto.debuginfo import DebugInfo

#: Numbers of places start here, above the lines of any file.
FIRST = 1_000_000
#: Inlining deeper than this is cut off.
_DEEPEST = 64

_LOCATION = re.compile(
    r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: (!\d+)"
    r"(?:, inlinedAt: (!\d+))?[^\n]*\)$",
    re.MULTILINE,
)
_SUBPROGRAM = re.compile(r"^(!\d+) = distinct !DISubprogram\(", re.MULTILINE)
_SCOPE = re.compile(r"^(!\d+) = (?:distinct )?!DILexicalBlock\w*\(scope: (!\d+)", re.MULTILINE)
_ATTACHED = re.compile(r",? !dbg (!\d+)")
_RECORD = re.compile(r"^\s*#dbg_\w+\(.*\)$")


class Places:
    """The places of one module's textual IR."""

    def __init__(self, text: str) -> None:
        self._info = DebugInfo(text)
        self._locations = {m[1]: m.groups()[1:] for m in _LOCATION.finditer(text)}
        self._outer = {m[1]: m[2] for m in _SCOPE.finditer(text)}
        self._subprograms = {m[1] for m in _SUBPROGRAM.finditer(text)}
        self._files: dict[str, str] = {}

    def chain(self, node: str) -> str:
        """The chain of a ``DILocation`` as text; "" for another node."""
        found: list[str] = []
        while node in self._locations and len(found) < _DEEPEST:
            line, column, scope, outer = self._locations[node]
            if line != "0":
                if scope not in self._files:
                    self._files[scope] = self._info.file(scope)
                found.append(f"{self._files[scope]}:{line}:{column or 0}")
            node = outer or ""
        return " in ".join(found)

    def function(self, node: str) -> str:
        """The ``DISubprogram`` of the function that holds the instruction; "" if unknown."""
        for _ in range(_DEEPEST):
            outer = self._locations[node][3] if node in self._locations else None
            if not outer:
                break
            node = outer
        scope = self._locations[node][2] if node in self._locations else ""
        for _ in range(_DEEPEST):
            if scope in self._subprograms or scope not in self._outer:
                break
            scope = self._outer[scope]
        return scope if scope in self._subprograms else ""

    def declared(self, definition: str) -> str:
        """``file:line:0`` of a function, from its ``define`` line; "" if unknown."""
        where, _ = self._info.function(definition)
        return f"{where}:0" if where else ""

    def annotate(self, line: str) -> str | None:
        """A line of IR with its chain in a comment in place of ``!dbg``; None for a debug
        record, which is no instruction."""
        if _RECORD.match(line):
            return None
        match = _ATTACHED.search(line)
        if not match:
            return line
        text = line[: match.start()] + line[match.end() :]
        chain = self.chain(match[1])
        return f"{text}  ; {chain}" if chain else text


def number(text: str) -> tuple[str, str]:
    """(the module's text with numbers in place of lines, the table in PTX comments)."""
    places = Places(text)
    rows: dict[str, int] = {}

    def replace(match: re.Match[str]) -> str:
        chain, function = places.chain(match[1]), places.function(match[1])
        if not chain or not function:
            return match[0]
        row = rows.setdefault(chain, FIRST + len(rows))
        distinct = "distinct " if " = distinct " in match[0] else ""
        return f"{match[1]} = {distinct}!DILocation(line: {row}, column: 1, scope: {function})"

    text = _LOCATION.sub(replace, text)
    return text, "".join(f"// place {row} = {chain}\n" for chain, row in rows.items())
