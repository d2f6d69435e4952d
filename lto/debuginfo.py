"""Source places and parameter names from the debug metadata of textual IR.

Only the nodes that are asked for are looked at: ``DISubprogram``, ``DILocation``, scopes,
files, local variables and type names (LLVM Language Reference, "Specialized Metadata Nodes").
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NODE = re.compile(r"^(!\d+) = (?:distinct )?!(\w+)\((.*)\)$", re.MULTILINE)
_FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|!\d+|!\{[^}]*\}|[^,"!{]+)')
_ATTACHED = re.compile(r"!dbg (!\d+)")


class Variable(NamedTuple):
    """A parameter as the source names it."""

    name: str
    type: str


class DebugInfo:
    """The debug metadata of one module's text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._raw = {m[1]: (m[2], m[3]) for m in _NODE.finditer(text)}
        self._parameters: dict[str, dict[int, Variable]] | None = None

    def __bool__(self) -> bool:
        return any(kind == "DISubprogram" for kind, _ in self._raw.values())

    def _fields(self, node: str) -> dict[str, str]:
        _, body = self._raw.get(node, ("", ""))
        return {key: value.strip().strip('"') for key, value in _FIELD.findall(body)}

    def _kind(self, node: str) -> str:
        return self._raw.get(node, ("", ""))[0]

    def file(self, node: str) -> str:
        """The file of a scope: its own, or that of the scope around it; "" if unknown."""
        return clean(self._file(node))

    def _file(self, node: str) -> str:
        for _ in range(64):
            fields = self._fields(node)
            if self._kind(node) == "DIFile":
                return fields.get("filename", "")
            if "file" in fields:
                node = fields["file"]
            elif "scope" in fields:
                node = fields["scope"]
            else:
                return ""
        return ""

    def function(self, definition: str) -> tuple[str, str]:
        """(``file:line``, Rust path) of a function, from its ``define`` line."""
        match = _ATTACHED.search(definition)
        if not match:
            return "", ""
        fields = self._fields(match[1])
        file, line = self._file(match[1]), fields.get("line", "")
        path = [fields.get("name", "")]
        scope = fields.get("scope", "")
        for _ in range(64):
            if self._kind(scope) != "DINamespace":
                break
            outer = self._fields(scope)
            path.insert(0, outer.get("name", ""))
            scope = outer.get("scope", "")
        where = f"{clean(file)}:{line}" if file and line else ""
        return where, "::".join(part for part in path if part)

    def location(self, instruction: str) -> str:
        """``file:line:column`` of an instruction with a ``!dbg`` attachment; "" without."""
        match = _ATTACHED.search(instruction)
        fields = self._fields(match[1]) if match else {}
        file = self._file(fields.get("scope", ""))
        if not file or not fields.get("line"):
            return ""
        return f"{clean(file)}:{fields['line']}:{fields.get('column', '0')}"

    def parameters(self, definition: str) -> dict[int, Variable]:
        """Ordinal (from 0) -> name and type of a function's parameters in the source."""
        if self._parameters is None:
            self._parameters = {}
            for kind, body in self._raw.values():
                if kind == "DILocalVariable" and "arg: " in body:
                    fields = {k: v.strip().strip('"') for k, v in _FIELD.findall(body)}
                    variable = Variable(fields.get("name", ""), self._type(fields.get("type", "")))
                    mine = self._parameters.setdefault(fields.get("scope", ""), {})
                    mine[int(fields["arg"]) - 1] = variable
        match = _ATTACHED.search(definition)
        return self._parameters.get(match[1], {}) if match else {}

    def _type(self, node: str) -> str:
        return self._fields(node).get("name", "")

    def uses(self, symbol: str) -> list[str]:
        """Places of the instructions that refer to a symbol, sorted."""
        pattern = rf"^ +[^\n]*@(?:{re.escape(symbol)}|\"{re.escape(symbol)}\")(?![-\w$.])[^\n]*$"
        found = [self.location(m[0]) for m in re.finditer(pattern, self._text, re.MULTILINE)]
        return sorted({place for place in found if place}, key=_by_place)


def _by_place(place: str) -> tuple[str, int, int]:
    file, line, column = place.rsplit(":", 2)
    return file, int(line), int(column)


def clean(file: str) -> str:
    """A source file's name without the ``./`` that path remapping leaves."""
    return file.removeprefix("./")
