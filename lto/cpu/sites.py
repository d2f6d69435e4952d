"""Barriers and traps in device code: where they are, for messages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fatcrate.lto import symbols
from fatcrate.toolchain import names

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$")
#: Where the standard library is, after the recipe's remapping.
_STANDARD = "/rustc/"
#: Functions of the device library, demangled.
_DEVICE = re.compile(rf"<?(?:[^<>]* as )?{names.DEVICE_CRATE}::")
_DEPTH = 100  # of scopes and of inlining; metadata cannot be trusted not to be cyclic
_FIELD = re.compile(r'(\w+): (?:"([^"]*)"|([^,]+))')


@dataclass(frozen=True)
class Site:
    """One call of a barrier or trap. ``where`` is ``file:line`` when debug info tells."""

    function: str  # mangled name of the function that holds it
    where: str

    def __str__(self) -> str:
        if not self.function:
            return "an unknown place"
        place = f"`{symbols.demangle(self.function)}`"
        return f"{place} ({self.where})" if self.where else place


UNKNOWN = Site("", "")


class DebugInfo:
    """Source lines of a module's instructions, read from its textual metadata.

    Format: LLVM Language Reference, "Specialized Metadata Nodes": a ``DILocation`` has a line
    and a scope; scopes lead to a file.
    """

    def __init__(self, metadata: list[str]) -> None:
        self._lines: dict[str, str] = {}
        for line in metadata:
            if match := _NODE.match(line):
                self._lines[match[1]] = line

    def _fields(self, number: str) -> dict[str, str]:
        match = _NODE.match(self._lines.get(number, ""))
        if match is None:
            return {}
        found = {"": match[2]}
        for name, quoted, plain in _FIELD.findall(match[3]):
            found[name] = quoted or plain
        return found

    def where(self, number: str) -> str:
        """``file:line`` of a ``DILocation``, or nothing.

        Where library code was inlined, the line in the user's code that called it.
        """
        found = ""
        for _ in range(_DEPTH):
            location = self._fields(number)
            file, function = self._scope(location)
            if file:
                found = f"{file}:{location.get('line', '')}"
            outer = location.get("inlinedAt", "")
            is_library = file.startswith(_STANDARD) or _DEVICE.match(symbols.demangle(function))
            if not outer or not is_library:
                break
            number = outer.removeprefix("!")
        return found

    def _scope(self, location: dict[str, str]) -> tuple[str, str]:
        """File and function (mangled) of a location, as far as they are known."""
        file = function = ""
        scope = location.get("scope", "")
        for _ in range(_DEPTH):
            fields = self._fields(scope.removeprefix("!"))
            if not file:
                file = self._fields(fields.get("file", "").removeprefix("!")).get("filename", "")
            if fields.get("") == "Subprogram":
                function = fields.get("linkageName", "")
                break
            scope = fields.get("scope", "")
            if not scope:
                break
        return file, function
