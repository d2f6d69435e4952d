"""Takes the bodies of primitives and math functions out of a linked module.

LINK defined them for NVIDIA hardware. As bare declarations they pass through the target's
optimiser unchanged and get the CPU's bodies afterwards. Their attributes tell the optimiser
what LINK's bodies would: an index depends on the thread alone, a barrier is convergent.
"""

from __future__ import annotations

import functools
import os
import re

from fatcrate.lto import layout
from fatcrate.lto.cpu import hostmath, irtext

ROW = os.path.join(os.path.dirname(os.path.dirname(__file__)), "backends", "cpu.ll")

_PURE = "nounwind willreturn memory(none)"
_ARGUMENTS = "nounwind willreturn memory(argmem: readwrite)"
_ATTRIBUTES = {
    "__fc_barrier": "convergent nounwind",
    "__fc_fence_block": "convergent nounwind",
    "__fc_fence_device": "convergent nounwind",
    "__fc_fence_system": "convergent nounwind",
    "__fc_clock": "nounwind",
    "__fc_trap": "cold noreturn nounwind",
}
_SIGNATURE = re.compile(r'(\S+) @(?:"[^"]*"|[-\w$.]+)\(')


@functools.cache
def row() -> str:
    """The CPU's row of the primitives: textual IR."""
    with open(ROW, encoding="utf-8") as stream:
        return stream.read()


@functools.cache
def primitives() -> frozenset[str]:
    """The primitives that the CPU's row defines."""
    return frozenset(re.findall(r"^define [^@\n]*@(\w+)\(", row(), re.MULTILINE))


@functools.cache
def row_math() -> frozenset[str]:
    """The libdevice functions that the row calls."""
    return frozenset(re.findall(r"^declare [^@\n]*@(__nv_\w+)\(", row(), re.MULTILINE))


def is_opened(name: str) -> bool:
    """Whether the CPU has a body of its own for a function of this name."""
    return name in primitives() or name in hostmath.supported()


def open_bodies(text: irtext.Text) -> None:
    """Turns the functions of :func:`is_opened` into declarations, in place."""
    for function in text.functions.values():
        if not function.is_declaration and is_opened(function.name):
            function.header = _declaration(function)
            function.body = []


def _declaration(function: irtext.Function) -> str:
    match = _SIGNATURE.search(function.header)
    if match is None:
        raise ValueError(function.header)
    begin = match.end() - 1
    parameters = function.header[begin + 1 : closing(function.header, begin)]
    types = [layout.type_text(p) for p in layout.split(parameters)]
    pure = _ARGUMENTS if "ptr" in types else _PURE
    attributes = _ATTRIBUTES.get(function.name, pure)
    return f"declare {match[1]} @{function.name}({', '.join(types)}) {attributes}"


def closing(text: str, begin: int) -> int:
    """Index of the bracket that closes the one at ``begin``."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    raise ValueError(text)
