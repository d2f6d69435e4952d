"""PTX text: version, target, kernels and their parameters; and the packer's rewriting of it.

Source: PTX ISA 9.0, sections 4 (syntax), 5 (state spaces, types) and 10-11 (directives).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from fatcrate.fatbin import errors
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Kind, Location, fail

_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
#: What the packer drops; group 1 is a string, which stays. Its scanner is simpler than PTX's:
#: a quote after a backslash is none, ``/*/`` is a whole comment, a blank after white space goes.
_DISPENSABLE = re.compile(
    r'((?<!\\)"(?:.*?(?<!\\)"|.*\Z))|//[^\n\r]*|/(?=\*).*?(?:\*/|\Z)'
    r"|(?:(?<=[ \t\n\r\v\f])|\A)[ \t]+",
    re.DOTALL,
)
_VERSION = re.compile(r"\A\s*\.version\s+([0-9]+)\.([0-9]+)\s")
_TARGET = re.compile(r"^\s*\.target\s+([^\n;]+)", re.MULTILINE)
_SM = re.compile(r"sm_([0-9]{2,3})([af]?)\b")
_ADDRESS_SIZE = re.compile(r"^\s*\.address_size\s+([0-9]+)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)\s*(\()?")
_PARAM = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>[0-9]+)\s+)?(?P<type>\.[a-z]+[0-9]*)"
    r"(?P<ptr>\s+\.ptr\b(?:\s*\.(?:global|const|shared|local|param))?(?:\s*\.align\s+[0-9]+)?)?"
    r"\s+(?P<name>[A-Za-z_$%][\w$]*)\s*(?:\[\s*(?P<count>[0-9]+)?\s*\])?\s*\Z"
)
_LIMITS = re.compile(
    r"\.(maxntid|reqntid|minnctapersm|maxnreg|reqnctapercluster|explicitcluster|maxclusterrank)"
    r"\b([\s0-9,]*)"
)
_TYPE = re.compile(r"\.([usbf])([0-9]+)\Z")

#: First PTX ISA version with a target (PTX ISA, "Release Notes").
MINIMUM_ISA: Final[dict[str, tuple[int, int]]] = {
    "50": (4, 0), "52": (4, 1), "53": (4, 2), "60": (5, 0), "61": (5, 0), "62": (5, 0),
    "70": (6, 0), "72": (6, 1), "75": (6, 3), "80": (7, 0), "86": (7, 1), "87": (7, 4),
    "88": (9, 0), "89": (7, 8), "90": (7, 8), "90a": (8, 0), "100": (8, 6), "100a": (8, 6),
    "100f": (8, 8), "103": (8, 8), "103a": (8, 8), "103f": (8, 8), "107": (9, 4),
    "107a": (9, 4), "107f": (9, 4), "110": (9, 0),
    "110a": (9, 0), "110f": (9, 0), "120": (8, 7), "120a": (8, 7), "120f": (8, 8),
    "121": (8, 8), "121a": (8, 8), "121f": (8, 8),
}  # fmt: skip


@dataclass(frozen=True)
class PtxParameter:
    """One ``.param`` of an entry. ``kind`` is u, s, b or f; ``count`` is 0 for a scalar."""

    ordinal: int
    name: str
    kind: str
    size: int
    align: int
    offset: int
    is_pointer: bool
    is_array: bool


@dataclass(frozen=True)
class PtxKernel:
    """One ``.entry``. ``limits`` maps a directive's name to its numbers."""

    name: str
    params: list[PtxParameter]
    limits: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ptx:
    """What a PTX text says about itself. ``complete`` is false when a body is cut off."""

    version: tuple[int, int]
    arch: Arch
    address_size: int
    kernels: list[PtxKernel]
    complete: bool
    targets: tuple[str, ...] = ()


def is_ptx(data: bytes | memoryview) -> bool:
    """Whether the bytes start like PTX: ``.version`` after white space and comments."""
    text = bytes(data[:65536]).decode("latin-1")
    return re.match(r"\.version\s", _without_comments(text).lstrip()) is not None


def version_of(data: bytes | memoryview, name: str) -> tuple[int, int]:
    """Major and minor of ``.version``, from the start of the text. Raises FC0407."""
    text = _without_comments(text_of(data[:65536]))
    version = _VERSION.match(text)
    if version is None:
        _fault(name, text, 0, "has no `.version` directive at its start")
    return int(version[1]), int(version[2])


def _without_comments(text: str) -> str:
    if "//" not in text and "/*" not in text:
        return text
    return _STRING_OR_COMMENT.sub(lambda match: match[1] or "", text)


def _code(text: str) -> str:
    """``text`` without comments and without the insides of strings.

    The general expression looks at each character; PTX of libraries is large and simple, so
    the common case is taken apart with searches for fixed strings.
    """
    if "/*" in text or _comment_in_string_line(text):
        text = _without_comments(text)
    else:
        text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text) if '"' in text else text


def _comment_in_string_line(text: str) -> bool:
    """Whether some line has both a quote and ``//``."""
    at = text.find('"')
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text.find("//", text.rfind("\n", 0, at) + 1, end) >= 0:
            return True
        at = text.find('"', end)
    return False


def text_of(data: bytes | memoryview) -> str:
    """PTX as text: up to the first NUL, which packers append."""
    raw = bytes(data)
    end = raw.find(b"\0")
    return (raw if end < 0 else raw[:end]).decode("utf-8", "surrogateescape")


def strip(data: bytes | memoryview) -> bytes:
    """The text as NVIDIA's packer stores it.

    Comments and white space at the start of a line go, a run of blanks becomes its first
    character, strings stay as they are, and a NUL is added. Line ends stay, so that line
    numbers in messages of the JIT compiler stay right. Held by a differential test.
    """
    return _DISPENSABLE.sub(r"\1", text_of(data)).encode("utf-8", "surrogateescape") + b"\0"


def read(data: bytes | memoryview, name: str) -> Ptx:
    """Parses PTX. Raises FC0407, naming the line, when it is not PTX."""
    text = _code(text_of(data))
    version = _VERSION.match(text)
    if version is None:
        _fault(name, text, 0, "has no `.version` directive at its start")
    target = _TARGET.search(text, version.end() - 1)
    sm = _SM.search(target[1]) if target else None
    if target is None or sm is None:
        _fault(name, text, version.end(), "has no `.target` directive with an sm_ architecture")
    size = _ADDRESS_SIZE.search(text, target.end())
    kernels, complete = _kernels(text, target.end(), name)
    return Ptx(
        version=(int(version[1]), int(version[2])),
        arch=Arch("compute", int(sm[1]), sm[2]),
        address_size=int(size[1]) if size else 32,
        kernels=kernels,
        complete=complete,
        targets=tuple(t.strip() for t in target[1].split(",")),
    )


def _fault(name: str, text: str, at: int, message: str, kind: Kind = errors.BAD_PTX) -> NoReturn:
    line = text.count("\n", 0, at) + 1
    fail(kind, name, message, location=Location(name, line=line))


def _kernels(blank: str, start: int, name: str) -> tuple[list[PtxKernel], bool]:
    """All entries that have a body, and whether the braces of the text balance."""
    kernels: list[PtxKernel] = []
    for match in _ENTRY.finditer(blank, start):
        end = match.end()
        params: list[PtxParameter] = []
        if match[2]:
            close = blank.find(")", end)
            if close < 0:
                _fault(name, blank, end, f"kernel {match[1]}: the parameter list is cut off")
            params = _parameters(blank[end:close], name, blank, match.start(), match[1])
            end = close + 1
        body, semicolon = blank.find("{", end), blank.find(";", end)
        if semicolon >= 0 and (semicolon < body or body < 0):
            continue  # a declaration
        head = blank[end : body if body >= 0 else len(blank)]
        limits = {
            limit[1]: tuple(int(n) for n in re.findall(r"[0-9]+", limit[2]))
            for limit in _LIMITS.finditer(head)
        }
        kernels.append(PtxKernel(match[1], params, limits))
    return kernels, blank.count("{") == blank.count("}")


def _parameters(text: str, name: str, whole: str, at: int, kernel: str) -> list[PtxParameter]:
    params: list[PtxParameter] = []
    offset = 0
    for ordinal, item in enumerate(p for p in text.split(",") if p.strip()):
        match = _PARAM.match(item.strip())
        kind = _TYPE.match(match["type"]) if match else None
        if match is None or (kind is None and match["type"] not in _OPAQUE):
            _fault(name, whole, at, f"kernel {kernel}: cannot read parameter {item.strip()!r}")
        element = int(kind[2]) // 8 if kind else 8
        is_array = "[" in item
        size = element * int(match["count"] or 0) if is_array else element
        align = int(match["align"] or element)
        if align == 0:
            _fault(name, whole, at, f"kernel {kernel}: parameter {match['name']} has no size")
        offset = (offset + align - 1) // align * align
        params.append(
            PtxParameter(
                ordinal,
                match["name"],
                kind[1] if kind else "opaque",
                size,
                align,
                offset,
                bool(match["ptr"]),
                is_array,
            )
        )
        offset += size
    return params


_OPAQUE = (".texref", ".samplerref", ".surfref")
