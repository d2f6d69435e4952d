"""Sizes of LLVM types on NVPTX, and how a kernel's parameters lie in PTX.

Types are read from their textual form (LLVM Language Reference, "Type System"). The layout
is NVPTX's data layout ``e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64``: natural
alignment, vectors aligned to their size. PTX places kernel parameters one after the other,
each at the next multiple of its alignment (PTX ISA, "Kernel Function Parameters"; checked
in tests against EIATTR_KPARAM_INFO of cubins).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

StructSize = Callable[[str], "tuple[int, int] | None"]

_FLOATS = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "fp128": 16}
_POINTER = re.compile(r"ptr(?: addrspace\((\d+)\))?")
_BYVAL = re.compile(r"\bbyval\(")
_ALIGN = re.compile(r"\balign (\d+)")
_NAME = re.compile(r'@(?:"[^"]*"|[-a-zA-Z$._0-9]+)\(')


class LayoutError(ValueError):
    """The type's text is not understood, or has no size."""


class Slot(NamedTuple):
    """One machine parameter: class, size and alignment in bytes."""

    cls: str  # "int", "float", "pointer", "aggregate"
    size: int
    align: int


def _no_structs(name: str) -> tuple[int, int] | None:
    return None


_MARK = re.compile(r'[",()\[\]{}<>]')


def split(text: str) -> list[str]:
    """Splits at commas that are outside brackets and quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for match in _MARK.finditer(text):
        at, char = match.start(), match[0]
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    tail = text[start:].strip()
    return [*parts, tail] if tail or parts else []


def _closing(text: str, start: int) -> int:
    """Index just behind the bracket that closes the one at ``start``."""
    pairs = {"(": ")", "[": "]", "{": "}", "<": ">"}
    stack: list[str] = []
    quoted = False
    for match in _MARK.finditer(text, start):
        char = match[0]
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in pairs:
            stack.append(pairs[char])
        elif stack and char == stack[-1]:
            stack.pop()
            if not stack:
                return match.end()
    raise LayoutError(text)


def type_text(text: str) -> str:
    """The type at the beginning of ``text``."""
    text = text.strip()
    if text[:1] in "[{<":
        return text[: _closing(text, 0)]
    if match := _POINTER.match(text):
        return match[0]
    if match := re.match(r'%(?:"[^"]*"|[-a-zA-Z$._0-9]+)|[a-z]\w*', text):
        return match[0]
    raise LayoutError(text)


def size_align(text: str, structs: StructSize = _no_structs) -> tuple[int, int]:
    """(size, alignment) of a type in bytes. Raises :class:`LayoutError`."""
    text = text.strip()
    if match := re.fullmatch(r"i(\d+)", text):
        return _integer(int(match[1]))
    if text in _FLOATS:
        return _FLOATS[text], _FLOATS[text]
    if match := _POINTER.fullmatch(text):
        return (4, 4) if match[1] == "6" else (8, 8)
    if match := re.fullmatch(r"\[(\d+) x (.*)\]", text, re.DOTALL):
        size, align = size_align(match[2], structs)
        return int(match[1]) * size, align
    if match := re.fullmatch(r"<(\d+) x (.*)>", text, re.DOTALL):
        return _vector(int(match[1]), match[2], structs)
    if text.startswith("<{") and text.endswith("}>"):
        return sum(size_align(f, structs)[0] for f in split(text[2:-2])), 1
    if text.startswith("{"):
        return _struct(split(text[1:-1]), structs)
    if text.startswith("%"):
        found = structs(text[1:].strip('"'))
        if found is not None:
            return found
    raise LayoutError(text)


def _integer(bits: int) -> tuple[int, int]:
    size = 1
    while size * 8 < bits:
        size *= 2
    align = min(size, 32)
    return -(-bits // 8 // align) * align if bits > 256 else size, align


def _vector(count: int, element: str, structs: StructSize) -> tuple[int, int]:
    bits = count if element == "i1" else count * 8 * size_align(element, structs)[0]
    size = -(-bits // 8)
    align = 1
    while align < size:
        align *= 2
    return -(-size // align) * align, align


def _struct(fields: list[str], structs: StructSize) -> tuple[int, int]:
    offset, widest = 0, 1
    for each in fields:
        size, align = size_align(each, structs)
        offset = -(-offset // align) * align + size
        widest = max(widest, align)
    return -(-offset // widest) * widest, widest


def parameters(definition: str, structs: StructSize = _no_structs) -> list[Slot]:
    """Machine parameters of a kernel from the first line of its textual IR.

    Raises :class:`LayoutError` with the type that cannot be passed.
    """
    match = _NAME.search(definition)
    if not match:
        raise LayoutError(definition[:80])
    begin = match.end() - 1
    end = _closing(definition, begin)
    return [_slot(text, structs) for text in split(definition[begin + 1 : end - 1])]


def _slot(text: str, structs: StructSize) -> Slot:
    kind = type_text(text)
    rest = text[len(kind) :]
    if match := _BYVAL.search(rest):
        inner = rest[match.end() : _closing(rest, match.end() - 1) - 1]
        size, align = size_align(inner, structs)
        stated = _ALIGN.search(rest)
        return Slot("aggregate", size, max(align, int(stated[1]) if stated else 1))
    size, align = size_align(kind, structs)
    if kind.startswith("ptr"):
        return Slot("pointer", size, align)
    if kind in _FLOATS:
        return Slot("float", size, align)
    return Slot("int" if kind.startswith("i") else "aggregate", size, align)


def offsets(slots: list[Slot]) -> list[int]:
    """Byte offset of each parameter in the kernel's parameter block."""
    result, at = [], 0
    for slot in slots:
        at = -(-at // slot.align) * slot.align
        result.append(at)
        at += slot.size
    return result


_SPACE = re.compile(r"addrspace\((\d+)\)")


def address_space(definition: str) -> int:
    """The address space of a global variable, from its textual IR."""
    head = re.split(r"\b(?:global|constant)\b", definition.split(" = ", 1)[-1], maxsplit=1)[0]
    match = _SPACE.search(head)
    return int(match[1]) if match else 0


def variable(definition: str, structs: StructSize = _no_structs) -> tuple[int, int]:
    """Size and alignment of a global variable, from its textual IR."""
    parts = re.split(r"\b(?:global|constant)\b", definition.split(" = ", 1)[-1], maxsplit=1)
    size, align = size_align(type_text(parts[-1]), structs)
    stated = re.search(r", align (\d+)", parts[-1])
    return size, int(stated[1]) if stated else align


def is_constant(definition: str) -> bool:
    """Whether a global variable is immutable, from its textual IR."""
    match = re.search(r"\b(global|constant)\b", definition.split(" = ", 1)[-1])
    return match is not None and match[1] == "constant"
