"""Version numbers, compared as numbers: 10.0 is newer than 9.0."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


def numbers(text: str) -> tuple[int, ...]:
    """``(1, 97, 0)`` for ``1.97.0-nightly``: the leading dotted numbers.

    Raises ``ValueError`` when ``text`` does not start with a number.
    """
    match = _NUMBERS.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a version")
    return tuple(int(part) for part in match[0].split("."))


def isa_feature(isa: str) -> str:
    """LLVM's name of a PTX ISA version as a target feature: ``+ptx78`` for ``7.8``."""
    major, minor = numbers(isa)
    return f"+ptx{major}{minor}"
