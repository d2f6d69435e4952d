"""Reads YAML with positions: every fault names line and column and shows the line.

A thin layer over PyYAML's node graph. Values are taken as they are written (``10.0`` stays
``10.0``, not a float), since arch names look like numbers. :class:`Reader` gathers faults;
its accessors return a stand-in after a fault, so that one run reports them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import yaml
from fatcrate.rules import errors
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Kind, Location

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"

#: All but the tab.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_NAMES = {"\n": "a line break", "\r": "a line break"}

_LONGEST_EXCERPT = 200  # characters; longer lines are of no help under an error
_LONGEST_VALUE = 60
_MOST_LISTED = 60
_MOST_COMPARED = 300

#: Bytes. That of a workspace with a thousand packages has less than one million.
LARGEST_FILE = 4_000_000

#: Subject of faults at the top of the file.
WHOLE_FILE = "the project file"

T = TypeVar("T")
Node = yaml.Node


@dataclass(frozen=True)
class Entry:
    """One ``key: value`` of a mapping."""

    key: Node
    value: Node


@dataclass
class Reader:
    """One YAML file and the faults found in it."""

    file: str
    text: str
    faults: Collector = field(default_factory=Collector)
    _merging: set[int] = field(default_factory=set)  # nodes whose merge is in progress
    _merges: dict[int, dict[str, Entry]] = field(default_factory=dict)  # what they came to

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    def location(self, node: Node | None) -> Location:
        """Where ``node`` starts, with its line."""
        mark = node.start_mark if node is not None else None
        return self._at(mark.line, mark.column) if mark else Location(self.file)

    def _at(self, line: int, column: int) -> Location:
        lines = self._lines
        if line >= len(lines):  # libyaml puts the end of the file on a line of its own
            line, column = len(lines) - 1, len(lines[-1])
        text = lines[line].rstrip("\r").replace("\t", " ")
        excerpt = text if len(text) <= _LONGEST_EXCERPT else None
        return Location(self.file, line + 1, column + 1, excerpt=excerpt)

    def fault(
        self,
        kind: Kind,
        subject: str,
        message: str,
        node: Node | None,
        remedy: str = "",
        notes: Iterable[str] = (),
    ) -> None:
        """Records a fault at ``node``."""
        self.faults.add(
            Diagnostic(kind, subject, message, remedy, self.location(node), tuple(notes))
        )

    def parse(self) -> Node | None:
        """The root node, or None for an empty file. Raises FC0110 when it is not YAML."""
        try:
            node: Node | None = yaml.compose(self.text, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = self._at(mark.line, mark.column) if mark else Location(self.file)
            parts = [part for part in (error.context, error.problem) if part]
            self._refuse(", ".join(parts), where, error.context_mark)
        except yaml.reader.ReaderError as error:
            line = self.text.count("\n", 0, error.position)
            column = error.position - (self.text.rfind("\n", 0, error.position) + 1)
            code = error.character if isinstance(error.character, int) else ord(error.character)
            where = Location(self.file, line + 1, column + 1)
            self._refuse(f"character U+{code:04X} is not allowed", where)
        except RecursionError:
            self._refuse("is nested too deeply", Location(self.file))
        self.faults.check()
        return node

    def _refuse(self, message: str, where: Location, start: yaml.Mark | None = None) -> None:
        """Records FC0110. ``start``: where the broken part begins."""
        begin = (start.line + 1, start.column + 1) if start else (where.line, where.column)
        apart = begin != (where.line, where.column)
        notes = (f"it starts in line {begin[0]}, column {begin[1]}",) if apart else ()
        line = self.text.split("\n")[(where.line or 1) - 1]
        tab = where.column is not None and line[where.column - 1 : where.column] == "\t"
        remedy = "indent with spaces, not with tabs" if tab else ""
        self.faults.add(Diagnostic(errors.NOT_YAML, self.file, message, remedy, where, notes))

    def mapping(
        self, node: Node, subject: str, known: Iterable[str] | None = None
    ) -> dict[str, Entry]:
        """The entries of a mapping, in order; ``<<`` merges are resolved.

        Faults: not a mapping (FC0112), a key that is not text or not in ``known`` (FC0111),
        a key given twice (FC0114).
        """
        if is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self.wrong_type(subject, "a mapping", node)
            return {}
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                for name, entry in self._merged(value, subject).items():
                    merged.setdefault(name, entry)
                continue
            if not isinstance(key, yaml.ScalarNode):
                self.wrong_type(subject, "text as key", key)
            elif not self.printable(key, subject):
                continue
            elif key.value in own:
                first = own[key.value].key.start_mark
                note = f"it is given first in line {first.line + 1}"
                self.fault(
                    errors.DUPLICATE_KEY, subject, f"'{key.value}' is given twice", key, "", [note]
                )
            else:
                own[key.value] = Entry(key, value)
        entries = {**merged, **own}
        return self._known(entries, subject, known) if known is not None else entries

    def _merged(self, value: Node, subject: str) -> dict[str, Entry]:
        """What ``<<: value`` brings; of several mappings the first wins."""
        if id(value) in self._merging:
            self.fault(errors.BAD_VALUE, subject, "merges itself", value)
            return {}
        if id(value) not in self._merges:  # many may merge it, and each of them be merged by many
            self._merging.add(id(value))
            try:
                self._merges[id(value)] = self._merge(value, subject)
            finally:
                self._merging.discard(id(value))
        return self._merges[id(value)]

    def _merge(self, value: Node, subject: str) -> dict[str, Entry]:
        if isinstance(value, yaml.SequenceNode):
            merged: dict[str, Entry] = {}
            for item in value.value:
                for name, entry in self._merged(item, subject).items():
                    merged.setdefault(name, entry)
            return merged
        if not isinstance(value, yaml.MappingNode):
            self.wrong_type(subject, "a mapping after '<<'", value)
            return {}
        return self.mapping(value, subject)

    def _known(
        self, entries: dict[str, Entry], subject: str, known: Iterable[str]
    ) -> dict[str, Entry]:
        choices = sorted(known)
        for name in [name for name in entries if name not in choices]:
            entry = entries.pop(name)
            self.fault(
                errors.UNKNOWN_KEY,
                subject,
                f"has no key '{name}'",
                entry.key,
                suggestion(name, choices, "keys"),
            )
        return entries

    def text_value(self, node: Node, subject: str, what: str = "text") -> str:
        """A scalar as it is written; "" after a fault. Control characters are one: values
        become words of Ninja's files and of command lines."""
        if isinstance(node, yaml.ScalarNode) and not is_null(node):
            return str(node.value) if self.printable(node, subject) else ""
        self.wrong_type(subject, what, node)
        return ""

    def printable(self, node: Node, subject: str) -> bool:
        """Whether a scalar has no control character; else FC0112."""
        found = _CONTROL.search(str(node.value))
        if found is None:
            return True
        name = _CONTROL_NAMES.get(found[0], f"the control character U+{ord(found[0]):04X}")
        self.fault(errors.BAD_VALUE, subject, f"cannot hold {name}", node)
        return False

    def items(self, node: Node, subject: str, what: str = "a list") -> list[Node]:
        """The items of a list; a single scalar counts as a list of one."""
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        if is_null(node):
            return []
        if isinstance(node, yaml.ScalarNode):
            return [node]
        self.wrong_type(subject, what, node)
        return []

    def texts(self, node: Node, subject: str) -> tuple[str, ...]:
        """A list of scalars."""
        found = [self.item(item, subject) for item in self.items(node, subject)]
        return tuple(item for item in found if item)

    def item(self, node: Node, subject: str, what: str = "text") -> str:
        """Like :meth:`text_value`; FC0112 for an empty text too."""
        if isinstance(node, yaml.ScalarNode) and not is_null(node) and not node.value:
            self.fault(errors.BAD_VALUE, subject, "has an empty item", node, "take it out")
        return self.text_value(node, subject, what)

    def choice(self, node: Node, subject: str, choices: Mapping[str, T], default: T) -> T:
        """One of ``choices`` (spelling -> value); ``default`` after a fault."""
        text = self.text_value(node, subject)
        if text in choices:
            return choices[text]
        if text:
            self.fault(
                errors.BAD_VALUE,
                subject,
                f"cannot be '{text}'",
                node,
                suggestion(text, list(choices), "values"),
            )
        return default

    def boolean(self, node: Node, subject: str) -> bool:
        """``true`` or ``false``."""
        return self.choice(node, subject, {"true": True, "false": False}, False)

    def wrong_type(self, subject: str, wanted: str, node: Node) -> None:
        """Records FC0112."""
        if isinstance(node, yaml.MappingNode):
            found = "a mapping"
        elif isinstance(node, yaml.SequenceNode):
            found = "a list"
        else:
            found = "nothing" if is_null(node) else repr(str(node.value)[:_LONGEST_VALUE])
        self.fault(errors.BAD_VALUE, subject, f"must be {wanted}, not {found}", node)


class Section:
    """A mapping with known keys. Accessors give the default where a key is absent or wrong."""

    def __init__(self, reader: Reader, node: Node, subject: str, known: Iterable[str]) -> None:
        self.reader = reader
        self.node = node
        self.subject = subject
        self.entries = reader.mapping(node, subject, known)

    def get(self, key: str) -> Node | None:
        """The node of a key's value."""
        entry = self.entries.get(key)
        return entry.value if entry else None

    def required(self, key: str, remedy: str = "") -> Node | None:
        """Like :meth:`get`; FC0113 when the key is absent."""
        empty = isinstance(self.node, yaml.MappingNode) or is_null(self.node)
        if key not in self.entries and empty:
            self.reader.fault(errors.MISSING_KEY, self.subject, f"lacks '{key}'", self.node, remedy)
        return self.get(key)

    def text(self, key: str, default: str = "") -> str:
        node = self.get(key)
        if node is None:
            return default
        return self.reader.text_value(node, self._path(key)) or default

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        node = self.get(key)
        return default if node is None else self.reader.texts(node, self._path(key))

    def items(self, key: str) -> list[Node]:
        node = self.get(key)
        return [] if node is None else self.reader.items(node, self._path(key))

    def choice(self, key: str, choices: Iterable[str], default: str) -> str:
        node = self.get(key)
        if node is None:
            return default
        spellings = {choice: choice for choice in choices}
        return self.reader.choice(node, self._path(key), spellings, default)

    def choices(
        self, key: str, choices: Iterable[str], default: tuple[str, ...]
    ) -> tuple[str, ...]:
        """A list whose items are all among ``choices``, each once."""
        node = self.get(key)
        if node is None:
            return default
        spellings = {choice: choice for choice in choices}
        path = self._path(key)
        found = [
            self.reader.choice(item, path, spellings, "") for item in self.reader.items(node, path)
        ]
        return tuple(dict.fromkeys(item for item in found if item))

    def boolean(self, key: str) -> bool:
        node = self.get(key)
        return node is not None and self.reader.boolean(node, self._path(key))

    def fault(self, kind: Kind, key: str, message: str, remedy: str = "") -> None:
        """Records a fault at a key's value (at the section where it is absent)."""
        self.reader.fault(kind, self._path(key), message, self.get(key) or self.node, remedy)

    def _path(self, key: str) -> str:
        return key if self.subject == WHOLE_FILE else f"{self.subject}.{key}"


def is_null(node: Node) -> bool:
    """Whether a value is absent: nothing, `~` or `null`."""
    return isinstance(node, yaml.ScalarNode) and node.tag == _NULL


def is_list(node: Node) -> bool:
    """Whether a value is a list."""
    return isinstance(node, yaml.SequenceNode)


def is_text(node: Node) -> bool:
    """Whether a value is a scalar, as all texts and numbers are."""
    return isinstance(node, yaml.ScalarNode)


def keys(node: Node | None) -> list[Node]:
    """The keys of a mapping that are text; none of anything else."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [key for key, _ in pairs if is_text(key)]


def suggestion(given: str, choices: list[str], noun: str) -> str:
    """A remedy: the nearest of ``choices`` if one is near, then all of them."""
    import difflib

    alike = choices
    if len(choices) > _MOST_COMPARED:  # there may be as many that are wrong
        size = len(given)
        alike = [each for each in choices if each[:1] == given[:1] and abs(len(each) - size) < 2]
    near = difflib.get_close_matches(given, alike[:_MOST_COMPARED], 1)
    more = len(choices) - _MOST_LISTED
    names = choices[:_MOST_LISTED] + ([f"and {more} more"] if more > 0 else [])
    listed = f"{noun}: {', '.join(names)}" if choices else f"there are no {noun}"
    return f"did you mean '{near[0]}'? {listed}" if near else listed
