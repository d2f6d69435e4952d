"""What a kernel's code tells of the elements behind its pointers.

Pointers have no type in LLVM IR. A kernel that indexes one (``getelementptr float, ptr %p, i64
%i``) and reads and writes no other size through it has elements of that size, though; whether
they are floats or integers is no matter of course, since bits are moved as either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fatcrate.lto import layout
from fatcrate.lto.cpu import irtext
from fatcrate.lto.cpu.opening import closing

#: Scalars that NumPy has, too: bytes.
SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "i16": 2, "i32": 4, "i64": 8}
_FLOATS = ("half", "float", "double")

_LOCAL = r'%(?:"[^"]*"|[-\w$.]+)'
_RESULT = re.compile(rf"^\s*({_LOCAL}) = (.*)$")
_GEP = re.compile(
    rf"^getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*(.*), ptr ({_LOCAL}), (.*)$"
)
_ALIASES = re.compile(r"^(?:phi|select|freeze|addrspacecast|bitcast)\b")
_LOAD = re.compile(rf"^load (?:atomic )?(?:volatile )?(.+), ptr ({_LOCAL})(?:,| |$)")
_STORE = re.compile(rf"^\s*store (?:atomic )?(?:volatile )?(.+), ptr ({_LOCAL})(?:,| |$)")
_ATOMIC = re.compile(
    rf"^(?:atomicrmw (?:volatile )?\w+|cmpxchg(?: weak)?(?: volatile)?) ptr ({_LOCAL}), (\S+) "
)
_CALL = re.compile(r'\bcall\b[^@]*@(?:"([^"]*)"|([-\w$.]+))\(')
_VECTOR = re.compile(r"<\d+ x (\w+)>")
_MOST_DEPTH = 16


@dataclass
class _Seen:
    """Types that a pointer is indexed by, and that are read and written through it."""

    strides: set[str] = field(default_factory=set)
    accesses: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Element:
    """``size`` in bytes; ``kind`` is "float" or "int", or "" when the code has both."""

    size: int
    kind: str

    def __str__(self) -> str:
        word = {"float": "f", "int": "i"}.get(self.kind, "")
        return f"{word}{self.size * 8}" if word else f"{self.size * 8}-bit elements"


def of_kernel(functions: Mapping[str, irtext.Function], name: str) -> tuple[Element | None, ...]:
    """The element behind each parameter of a kernel, None where the code does not tell."""
    count = len(layout.parameters(functions[name].header))
    try:
        return tuple(_element(_through(functions, name, index)) for index in range(count))
    except ValueError:  # a line of a form that is not known
        return (None,) * count


def _through(functions: Mapping[str, irtext.Function], name: str, index: int) -> _Seen:
    seen, done = _Seen(), set[tuple[str, int]]()
    todo = [(name, index)]
    while todo and len(done) < 1000:
        at = todo.pop()
        function = functions.get(at[0])
        if at in done or function is None or function.is_declaration:
            continue
        done.add(at)
        start = _parameter(function.header, at[1])
        if start is not None:
            todo += _follow(function, start, seen)
    return seen


def _parameter(header: str, index: int) -> str | None:
    """The name of a parameter that is a pointer."""
    parts = _arguments(header, header.index("(", header.index("@")))
    if index >= len(parts) or not parts[index].startswith("ptr"):
        return None
    match = re.search(rf" ({_LOCAL})$", parts[index])
    return match[1] if match else None


def _arguments(text: str, begin: int) -> list[str]:
    """What stands between the bracket at ``begin`` and the one that closes it."""
    return layout.split(text[begin + 1 : closing(text, begin)])


def _follow(function: irtext.Function, start: str, seen: _Seen) -> Iterator[tuple[str, int]]:
    """Notes what is done with a value; yields parameters that it is passed to."""
    known = {start}
    found: set[tuple[str, int]] = set()
    for _ in range(_MOST_DEPTH):  # values of a loop are used before they are defined
        before = len(known)
        for line in function.body:
            found.update(_line(line, known, seen))
        if len(known) == before:
            break
    yield from found


def _line(line: str, known: set[str], seen: _Seen) -> Iterator[tuple[str, int]]:
    result = _RESULT.match(line)
    text = result[2] if result else line
    if match := _STORE.match(text):
        if match[2] in known:
            seen.accesses.add(_scalar(match[1]))
        return
    if call := _CALL.search(text):
        name = call[1] if call[1] is not None else call[2]
        for index, each in enumerate(_arguments(text, call.end() - 1)):
            if each.startswith("ptr") and each.rsplit(" ", 1)[-1] in known:
                yield name, index
        return
    if match := _ATOMIC.match(text):
        if match[1] in known:
            seen.accesses.add(_scalar(match[2]))
    elif match := _LOAD.match(text):
        if match[2] in known:
            seen.accesses.add(_scalar(match[1]))
    elif result and (match := _GEP.match(text)):
        if match[2] in known:
            known.add(result[1])
            if "%" in match[3]:
                seen.strides.add(match[1])
    elif result and _ALIASES.match(text) and " ptr" in text and known & set(_locals(text)):
        known.add(result[1])


def _locals(text: str) -> list[str]:
    return re.findall(_LOCAL, text)


def _scalar(text: str) -> str:
    """The type in front of an operand, a vector's element's."""
    try:
        kind = layout.type_text(text)
    except layout.LayoutError:
        return text
    vector = _VECTOR.fullmatch(kind)
    return vector[1] if vector else kind


def _element(seen: _Seen) -> Element | None:
    sizes = {SIZES.get(kind, 0) for kind in seen.strides | seen.accesses}
    if not seen.strides or not seen.accesses or len(sizes) != 1 or 0 in sizes:
        return None
    floats = {kind in _FLOATS for kind in seen.accesses}
    kind = "" if len(floats) > 1 else "float" if True in floats else "int"
    return Element(sizes.pop(), kind)
