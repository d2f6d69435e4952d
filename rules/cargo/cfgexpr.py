"""Predicates of `cfg` and `cfg_attr`: parsed, and evaluated as far as the cfgs are known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_TOKEN = re.compile(r'\s*(?:([A-Za-z_][A-Za-z0-9_]*)|"((?:[^"\\]|\\.)*)"|([(),=]))')


@dataclass(frozen=True)
class Predicate:
    """``name``, ``name = "value"``, or one of all/any/not with ``parts``."""

    name: str
    value: str | None = None
    parts: tuple[Predicate, ...] | None = None

    def features(self) -> set[str]:
        """The features that it asks for, anywhere."""
        if self.name == "feature" and self.value is not None:
            return {self.value}
        return set[str]().union(*(part.features() for part in self.parts or ()))


#: Whether a cfg is set; None when that is not known.
Known = Callable[[str, str | None], bool | None]


def parse(text: str) -> tuple[Predicate, str] | None:
    """The predicate that ``text`` begins with and what follows it; None when there is none."""
    match = _TOKEN.match(text)
    if match is None or match[1] is None:
        return None
    name, rest = match[1], text[match.end() :]
    sign = _TOKEN.match(rest)
    if sign is not None and sign[3] == "=":
        value = _TOKEN.match(rest[sign.end() :])
        if value is None or value[2] is None:
            return None
        return Predicate(name, value[2]), rest[sign.end() + value.end() :]
    if sign is None or sign[3] != "(":
        return Predicate(name), rest
    rest = rest[sign.end() :]
    parts: list[Predicate] = []
    while True:
        sign = _TOKEN.match(rest)
        if sign is not None and sign[3] == ")":
            return Predicate(name, None, tuple(parts)), rest[sign.end() :]
        if sign is not None and sign[3] == "," and parts:
            rest = rest[sign.end() :]
            continue
        found = parse(rest)
        if found is None:
            return None
        parts.append(found[0])
        rest = found[1]


def holds(predicate: Predicate, known: Known) -> bool | None:
    """Whether the predicate is true; None when that hangs on a cfg that is not known."""
    if predicate.parts is None:
        if predicate.name in ("true", "false") and predicate.value is None:
            return predicate.name == "true"
        return known(predicate.name, predicate.value)
    answers = [holds(part, known) for part in predicate.parts]
    if predicate.name == "all":
        return False if False in answers else None if None in answers else True
    if predicate.name == "any":
        return True if True in answers else None if None in answers else False
    if predicate.name == "not" and len(answers) == 1:
        return None if answers[0] is None else not answers[0]
    return None


def printed_cfgs(text: str) -> frozenset[tuple[str, str | None]]:
    """The cfgs that ``rustc --print cfg`` lists."""
    found: set[tuple[str, str | None]] = set()
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if name:
            found.add((name, value.strip('"') if equals else None))
    return frozenset(found)


#: Cfgs that rustc and cargo alone set, so that one which is not listed is surely not set.
_BUILTIN = frozenset(
    [
        "debug_assertions",
        "doc",
        "doctest",
        "feature",
        "fmt_debug",
        "miri",
        "overflow_checks",
        "panic",
        "proc_macro",
        "relocation_model",
        "rustfmt",
        "sanitize",
        "target_abi",
        "target_arch",
        "target_endian",
        "target_env",
        "target_family",
        "target_feature",
        "target_has_atomic",
        "target_os",
        "target_pointer_width",
        "target_thread_local",
        "target_vendor",
        "test",
        "ub_checks",
        "unix",
        "windows",
        "docsrs",
    ]
)


def knowledge(cfgs: frozenset[tuple[str, str | None]], features: set[str]) -> Known:
    """What is known of a crate with these ``features``; a build script's cfgs are not."""

    def known(name: str, value: str | None) -> bool | None:
        if name == "feature":
            return value in features
        if (name, value) in cfgs:
            return True
        return False if name in _BUILTIN else None

    return known
