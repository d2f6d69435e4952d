"""Aliases, weak references, sections and shared memory, as NVPTX has them; see ``lower.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fatcrate.lto import layout
from fatcrate.lto.lower import SECTIONS, UNSIZED, InitialisedShared
from fatcrate.toolchain import names

_ALIAS = re.compile(
    r'^@(?P<name>"[^"]*"|[-\w$.]+) = (?:[a-z_]+ )*?alias (?P<rest>[^\n]*)$', re.MULTILINE
)
_POINTER_TYPE = re.compile(r"^ptr(?: addrspace\(\d+\))? ")
_SECTION = re.compile(
    r'^@(?P<name>"[^"]*"|[-\w$.]+) = (?P<flags>(?:[a-z_]+ )*?)(?P<kind>global|constant) '
    r'(?P<body>[^\n]*), section "(?P<section>\.shared|\.constant)"(?P<tail>[^\n]*)$',
    re.MULTILINE,
)


def rewrite(text: str) -> str:
    """The module with every global in a form that NVPTX has."""
    if " alias " in text:
        text = _resolve_aliases(text)
    if " extern_weak " in text:
        text = _null_weak(text)
    if ', section "' in text:
        text = _place_sections(text)
    if UNSIZED in text:
        text = _unite_dynamic_shared(text)
    return text


def aliases(text: str) -> Iterator[tuple[str, str]]:
    """(alias, what it stands for) for each alias in textual IR, both as they are spelt."""
    for match in _ALIAS.finditer(text):
        _, target, *_ = layout.split(match["rest"])  # type, aliasee, partition
        yield match["name"], _POINTER_TYPE.sub("", target, count=1)


def _resolve_aliases(text: str) -> str:
    """Puts what an alias stands for in its place; a kernel's second name becomes a copy."""
    found = dict(aliases(text))
    text = _ALIAS.sub("", text)
    resolved = {}
    for name, target in found.items():
        seen = {name}
        while target.startswith("@") and target[1:] in found and target[1:] not in seen:
            seen.add(target[1:])
            target = found[target[1:]]
        resolved[name] = target
    copies = []
    for name, target in list(resolved.items()):
        pattern = rf"^define [^\n]*ptx_kernel [^\n]*{re.escape(target)}\([^\n]*\{{\n.*?^\}}\n"
        kernel = re.search(pattern, text, re.MULTILINE | re.DOTALL)
        if kernel:
            copies.append(kernel[0].replace(f"{target}(", f"@{name}(", 1))
            del resolved[name]
    if resolved:
        text = re.sub(rf"@({_any(resolved)})(?![-\w$.])", lambda m: resolved[m[1]], text)
    return text + "\n" + "\n".join(copies)


def _any(found: Iterable[str]) -> str:
    """A regular expression that matches any of these names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(found, key=len, reverse=True))


_WEAK = re.compile(
    r'^(?:declare extern_weak [^\n]*?(@"[^"]*"|@[-\w$.]+)\([^\n]*'
    r'|(@"[^"]*"|@[-\w$.]+) = extern_weak [^\n]*)$\n?',
    re.MULTILINE,
)


def _null_weak(text: str) -> str:
    """Weak references that nothing defines are null."""
    absent = [m[1] or m[2] for m in _WEAK.finditer(text)]
    if not absent:
        return text
    text = _WEAK.sub("", text)
    return re.sub(rf"(?:{_any(absent)})(?![-\w$.\"])", "null", text)


def _place_sections(text: str) -> str:
    """Moves statics with a known section name into their address space.

    A shared one becomes ``NAME.mem``, as ``shared!`` calls it. One that the host can see may
    be written by it, so its initial value must not be folded into loads.
    """
    moved: dict[str, str] = {}

    def place(match: re.Match[str]) -> str:
        name, space = match["name"], SECTIONS[match["section"]]
        new, kind, flags = f"@{name}", match["kind"], match["flags"]
        if space == 3:
            if not match["body"].endswith((" undef", " poison")):
                raise InitialisedShared(name.strip('"'))
            new, kind = f'@"{name.strip(chr(34))}.mem"', "global"
            flags = "internal "
        elif "internal" not in flags and "private" not in flags:
            kind = f"externally_initialized {kind}"
        moved[name] = f"addrspacecast (ptr addrspace({space}) {new} to ptr)"
        return f"\0{new[1:]} = {flags}addrspace({space}) {kind} {match['body']}{match['tail']}"

    text = _SECTION.sub(place, text)
    if moved:
        text = re.sub(rf"@({_any(moved)})(?![-\w$.\"])", lambda m: moved[m[1]], text)
    return text.replace("\0", "@")


_DYNAMIC = re.compile(
    r'^(?P<name>@"[^"]*"|@[-\w$.]+) = external (?:\w+ )*?addrspace\(3\) global \[0 x [^\n]*?'
    r"(?:, align (?P<align>\d+))?$\n?",
    re.MULTILINE,
)
_DYNAMIC_ALIGN = 16  # bytes, as backends/nvptx.ll declares it


def _unite_dynamic_shared(text: str) -> str:
    """Makes every array of unknown size in shared memory the one that the primitives know."""
    one = f"@{names.DYNAMIC_SHARED}.mem"
    found = {m["name"]: int(m["align"] or 1) for m in _DYNAMIC.finditer(text)}
    if not found.keys() - {one}:
        return text
    text = re.sub(rf"(?:{_any(found)})(?![-\w$.\"])", one, _DYNAMIC.sub("", text))
    align = max(_DYNAMIC_ALIGN, *found.values())
    return f"{text}\n{one} = external addrspace(3) global [0 x i8], align {align}\n"
