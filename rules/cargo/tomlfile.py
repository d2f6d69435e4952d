"""Reads TOML as the node graph that PyYAML makes of YAML, so that values have places.

Python's own reader gives no positions. What is read here was accepted by cargo before, so the
scanner takes well-formed text for granted; on other text it stops early. Format: TOML 1.0
(toml.io), and 1.1's line breaks within inline tables.
"""

from __future__ import annotations

import bisect
import contextlib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

import yaml

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r"""\"{3}(?:[^\\]|\\.)*?\"{3,5}(?!\") | '{3}.*?'{3,5}(?!')
    | \"(?:[^"\\\n]|\\.)*\" | '[^'\n]*'""",
    re.VERBOSE | re.DOTALL,
)
_OTHER = re.compile(r"[^,\]}#\r\n]+")

_TEXT = "tag:yaml.org,2002:str"
_PLAIN = "tag:yaml.org,2002:other"  # numbers, truth values, times: as they are written


def parse(text: str) -> yaml.MappingNode:
    """The document: mappings, lists and scalars, each with its line and column (from 0)."""
    scanner = _Scanner(text)
    with contextlib.suppress(_Stop):  # the part before it is known
        scanner.document()
    return scanner.root


def find(node: yaml.Node, *path: str) -> yaml.Node | None:
    """The value at a path of keys; None where there is none."""
    for name in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next((value for key, value in pairs if key.value == name), None)
        if found is None:
            return None
        node = found
    return node


class _Stop(Exception):
    """The text is not TOML."""


@dataclass
class _Scanner:
    text: str

    def __post_init__(self) -> None:
        self.place = 0
        self.lines = [0, *(match.end() for match in re.finditer("\n", self.text))]
        self.root = yaml.MappingNode("", [], self._mark(0))

    def document(self) -> None:
        """All of the text."""
        table = self.root
        while self._more():
            if self.text.startswith("[", self.place):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> yaml.MappingNode:
        """``[a.b]`` or ``[[a.b]]``: the table that what follows belongs to."""
        start, several = self.place, self.text.startswith("[[", self.place)
        self.place += 1 + several
        keys = self._keys()
        self.place += 1 + several  # the brackets that close
        table = self._inside(self.root, keys[:-1])
        made = yaml.MappingNode("", [], self._mark(start))
        if several:
            items = find(table, keys[-1].value)
            if items is None:
                items = yaml.SequenceNode("", [], self._mark(start))
                table.value.append((keys[-1], items))
            items.value.append(made)
            return made
        known = find(table, keys[-1].value)  # [a] after [a.b]
        if isinstance(known, yaml.MappingNode):
            known.start_mark = made.start_mark
            return known
        table.value.append((keys[-1], made))
        return made

    def _inside(self, table: yaml.MappingNode, keys: list[yaml.ScalarNode]) -> yaml.MappingNode:
        """The table at dotted keys, made where it is not there."""
        for key in keys:
            found = find(table, key.value)
            if isinstance(found, yaml.SequenceNode) and found.value:
                found = found.value[-1]
            if found is None:
                found = yaml.MappingNode("", [], key.start_mark)
                table.value.append((key, found))
            if not isinstance(found, yaml.MappingNode):
                raise _Stop
            table = found
        return table

    def _pair(self, table: yaml.MappingNode) -> None:
        """``key = value``."""
        keys = self._keys()
        self._take("=")
        self._blank()
        self._inside(table, keys[:-1]).value.append((keys[-1], self._value()))

    def _keys(self) -> list[yaml.ScalarNode]:
        found: list[yaml.ScalarNode] = []
        while not found or self._taken("."):
            self._blank()
            match = _STRING.match(self.text, self.place) or _BARE.match(self.text, self.place)
            if match is None:
                raise _Stop
            found.append(yaml.ScalarNode(_TEXT, _decoded(match[0]), self._mark(self.place)))
            self.place = match.end()
            self._blank()
        return found

    def _value(self) -> yaml.Node:
        start = self._mark(self.place)
        if self._taken("["):
            items: list[yaml.Node] = []
            self._several("]", lambda: items.append(self._value()))
            return yaml.SequenceNode("", items, start)
        if self._taken("{"):
            table = yaml.MappingNode("", [], start)
            self._several("}", lambda: self._pair(table))
            return table
        match = _STRING.match(self.text, self.place)
        tag = _TEXT if match else _PLAIN
        match = match or _OTHER.match(self.text, self.place)
        if match is None:
            raise _Stop
        self.place = match.end()
        value = _decoded(match[0]) if tag == _TEXT else match[0].strip()
        return yaml.ScalarNode(tag, value, start)

    def _several(self, close: str, one: Callable[[], None]) -> None:
        """What stands between brackets, with commas between and maybe behind."""
        self._blank()
        while not self._taken(close):
            one()
            self._blank()
            if not self._taken(","):
                self._take(close)
                return
            self._blank()

    def _more(self) -> bool:
        self._blank()
        return self.place < len(self.text)

    def _blank(self) -> None:
        match = _BLANK.match(self.text, self.place)
        self.place = match.end() if match else self.place

    def _taken(self, char: str) -> bool:
        if not self.text.startswith(char, self.place):
            return False
        self.place += 1
        return True

    def _take(self, char: str) -> None:
        if not self._taken(char):
            raise _Stop

    def _mark(self, place: int) -> yaml.Mark:
        line = bisect.bisect_right(self.lines, place) - 1
        return yaml.Mark("", place, line, place - self.lines[line], None, 0)


def _decoded(word: str) -> str:
    """A key or string without its quotes and escapes."""
    if word[0] not in "\"'":
        return word
    try:
        return str(tomllib.loads(f"v = {word}")["v"])
    except tomllib.TOMLDecodeError:
        return word.strip(word[0])  # an escape of a later TOML
