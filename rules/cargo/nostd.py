"""Whether a crate needs `std`, read from its root source.

A crate needs it when it does not declare ``#![no_std]``, or has an ``extern crate std`` that
is compiled in. Both mostly hang on a feature; the cfgs of build scripts are not known here,
and what hangs on them is left to rustc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fatcrate.rules.cargo import cfgexpr
from fatcrate.rules.cargo.cfgexpr import Known, Predicate

_SKIPPED = re.compile(
    r"""\s+ | //[^\n]* | "(?:[^"\\]|\\.)*" | b?r(\#*)".*?"\1 | '(?:[^'\\\n]|\\.[^'\n]*)'""",
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Need:
    """Why a crate needs `std`, and the features without any one of which it would not."""

    reason: str
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Item:
    """A top-level attribute (``#![…]``, ``#[…]``) or a word, ``;`` or block outside of one."""

    kind: str  # "inner", "outer", "word", "end"
    text: str


def need(source: str, cfgs: frozenset[tuple[str, str | None]], features: set[str]) -> Need | None:
    """Why the crate with root ``source`` needs `std`; None when it does not, or may not."""
    known = cfgexpr.knowledge(cfgs, features)
    items = list(_items(source))
    declared = _no_std([item.text for item in items if item.kind == "inner"], known)
    if isinstance(declared, list):
        if not declared:
            return Need("it does not declare #![no_std]")
        return Need("it is not #![no_std]", _culprits(declared, cfgs, features))
    for predicates in _extern_std(items):
        if all(cfgexpr.holds(predicate, known) is True for predicate in predicates):
            found = _culprits(predicates, cfgs, features, want=False)
            return Need("it has an 'extern crate std'", found)
    return None


def _no_std(attributes: list[str], known: Known) -> bool | list[Predicate]:
    """True when `no_std` is declared or may be; else the predicates that it hangs on."""
    conditions: list[Predicate] = []
    for attribute in attributes:
        if attribute.strip() == "no_std":
            return True
        if not re.match(r"\s*cfg_attr\s*\(", attribute) or "no_std" not in attribute:
            continue
        parsed = cfgexpr.parse(attribute.partition("(")[2])
        if parsed is None or not re.search(r"\bno_std\b", parsed[1]):
            continue
        if cfgexpr.holds(parsed[0], known) is not False:
            return True
        conditions.append(parsed[0])
    return conditions


def _culprits(
    predicates: list[Predicate],
    cfgs: frozenset[tuple[str, str | None]],
    features: set[str],
    want: bool = True,
) -> tuple[str, ...]:
    """The enabled features without which one of the predicates would be ``want``."""
    found = []
    for predicate in predicates:
        for feature in sorted(predicate.features() & features):
            without = cfgexpr.knowledge(cfgs, features - {feature})
            if cfgexpr.holds(predicate, without) is want:
                found.append(feature)
    return tuple(dict.fromkeys(found))


def _extern_std(items: list[_Item]) -> Iterator[list[Predicate]]:
    """For each top-level `extern crate std`, the `cfg` predicates on it."""
    pending: list[Predicate] = []
    words: list[str] = []
    for item in items:
        if item.kind == "outer":
            if re.match(r"\s*cfg\s*\(", item.text):
                parsed = cfgexpr.parse(item.text.partition("(")[2])
                pending.append(parsed[0] if parsed else Predicate("?"))
        elif item.kind == "word":
            words.append(item.text)
            if words[-3:] == ["extern", "crate", "std"]:
                yield list(pending)
        elif item.kind == "end":
            pending, words = [], []


def _items(source: str) -> Iterator[_Item]:
    """The top level of a source file; comments, literals and the insides of blocks left out."""
    place, depth, end = 0, 0, len(source)
    while place < end:
        if source.startswith("/*", place):
            place = _comment_end(source, place)
        elif match := _SKIPPED.match(source, place):
            place = match.end()
        elif depth == 0 and (match := re.compile(r"#(!?)\s*\[").match(source, place)):
            close = _bracket_end(source, match.end())
            yield _Item("inner" if match[1] else "outer", source[match.end() : close - 1])
            place = close
        elif match := _WORD.match(source, place):
            if depth == 0:
                yield _Item("word", match[0])
            place = match.end()
        else:
            char = source[place]
            depth += (char in "{([") - (char in "})]")
            if depth <= 0 and char in ";}":
                depth = 0
                yield _Item("end", char)
            place += 1


def _comment_end(source: str, place: int) -> int:
    """The end of the block comment at ``place``; they nest."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(source, place):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(source)


def _bracket_end(source: str, place: int) -> int:
    """The end of the attribute whose text begins at ``place``."""
    depth = 1
    while place < len(source):
        if match := _SKIPPED.match(source, place):
            place = match.end()
            continue
        depth += (source[place] in "[(") - (source[place] in "])")
        place += 1
        if depth == 0:
            return place
    return len(source)
