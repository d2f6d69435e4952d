"""Rewrites operations that NVPTX cannot generate into calls, on a module's textual IR.

LLVM aborts on 128-bit division and conversion (it wants a library call that NVPTX does not
declare), computes ``frem`` as ``x - trunc(x / y) * y``, which is wrong for large quotients,
and has no aliases of variables. Rust gives all of these a meaning, so LINK replaces them:
division and conversion by compiler_builtins, ``frem`` by libdevice's exact ``fmod``, an alias
by what it stands for, a compiler's fence by empty assembly. Statics that ask for memory by
section name get it: ``.constant`` and ``.shared`` become address spaces 4 and 3. CUDA C++'s
``extern __shared__ T name[]`` is the dynamic shared memory, whatever its name and type.

Modules are rewritten only where :func:`rewrite` finds something to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fatcrate.lto import layout, references
from fatcrate.toolchain import names

_DIVISIONS = {
    "sdiv": "__divti3",
    "udiv": "__udivti3",
    "srem": "__modti3",
    "urem": "__umodti3",
}
_TO_FLOAT = {
    ("sitofp", "float"): "__floattisf",
    ("sitofp", "double"): "__floattidf",
    ("uitofp", "float"): "__floatuntisf",
    ("uitofp", "double"): "__floatuntidf",
}
_FROM_FLOAT = {
    ("fptosi", "float"): "__fixsfti",
    ("fptosi", "double"): "__fixdfti",
    ("fptoui", "float"): "__fixunssfti",
    ("fptoui", "double"): "__fixunsdfti",
}
_FREM = {"float": "__nv_fmodf", "double": "__nv_fmod"}

#: Saturating conversions of Rust's ``as``; compiler_builtins' functions saturate, too.
INTRINSICS = {
    "llvm.fptosi.sat.i128.f32": "__fixsfti",
    "llvm.fptosi.sat.i128.f64": "__fixdfti",
    "llvm.fptoui.sat.i128.f32": "__fixunssfti",
    "llvm.fptoui.sat.i128.f64": "__fixunsdfti",
}
_NARROW = re.compile(r"llvm\.fpto([su])i\.sat\.i128\.(b?f16)")


def wrapper(intrinsic: str, name: str) -> str | None:
    """Textual IR of a function ``name`` that saturates a 16-bit float to 128 bits, via f32.

    None when the intrinsic is another.
    """
    match = _NARROW.fullmatch(intrinsic)
    if not match:
        return None
    kind = {"f16": "half", "bf16": "bfloat"}[match[2]]
    callee = _FROM_FLOAT[f"fpto{match[1]}i", "float"]
    return (
        f"define i128 @{name}({kind} %x) alwaysinline {{\n  %w = fpext {kind} %x to float\n"
        f"  %r = call i128 @{callee}(float %w)\n  ret i128 %r\n}}\n"
        f"declare i128 @{callee}(float)\n"
    )


_RESULT = r"^(?P<head>\s*(?P<result>%\S+) = )"
_TAIL = r"(?P<tail>(?:, ![\w.]+ !\d+)*)$"
_DIVISION = re.compile(
    _RESULT + r"(?P<op>[su](?:div|rem))(?: exact)? i128 (?P<x>\S+), (?P<y>[^,\s]+)" + _TAIL,
    re.MULTILINE,
)
_INT_TO_FLOAT = re.compile(
    _RESULT
    + r"(?P<op>[su]itofp)(?: nneg)? i128 (?P<x>\S+) to (?P<type>half|bfloat|float|double)"
    + _TAIL,
    re.MULTILINE,
)
_FLOAT_TO_INT = re.compile(
    _RESULT + r"(?P<op>fpto[su]i) (?P<type>half|bfloat|float|double) (?P<x>\S+) to i128" + _TAIL,
    re.MULTILINE,
)
_REMAINDER = re.compile(
    _RESULT
    + r"frem (?:[a-z]+ )*?(?P<type>half|bfloat|float|double|<\d+ x (?:half|bfloat|float|double)>)"
    + r" (?P<x><[^>]*>|[^,\s]+), (?P<y><[^>]*>|[^,\s]+)"
    + _TAIL,
    re.MULTILINE,
)
_ALIAS = re.compile(
    r'^@(?P<name>"[^"]*"|[-\w$.]+) = (?:[a-z_]+ )*?alias (?P<rest>[^\n]*)$', re.MULTILINE
)
_POINTER_TYPE = re.compile(r"^ptr(?: addrspace\(\d+\))? ")

#: Section name -> address space (NVPTX: 3 shared, 4 constant).
SECTIONS = {".shared": 3, ".constant": 4}
_SECTION = re.compile(
    r'^@(?P<name>"[^"]*"|[-\w$.]+) = (?P<flags>(?:[a-z_]+ )*?)(?P<kind>global|constant) '
    r'(?P<body>[^\n]*), section "(?P<section>\.shared|\.constant)"(?P<tail>[^\n]*)$',
    re.MULTILINE,
)


class InitialisedShared(ValueError):
    """A static in shared memory has an initial value, which that memory cannot hold."""


class _Rewriter:
    """Collects the declarations that the replacements need."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}

    def call(self, function: str, result: str, operands: list[tuple[str, str]]) -> str:
        types = ", ".join(kind for kind, _ in operands)
        self.declarations[function] = f"declare {result} @{function}({types})"
        values = ", ".join(f"{kind} {value}" for kind, value in operands)
        return f"call {result} @{function}({values})"

    def division(self, m: re.Match[str]) -> str:
        call = self.call(_DIVISIONS[m["op"]], "i128", [("i128", m["x"]), ("i128", m["y"])])
        return f"{m['head']}{call}{m['tail']}"

    def to_float(self, m: re.Match[str]) -> str:
        kind = m["type"]
        wide = "float" if kind in ("half", "bfloat") else kind
        call = self.call(_TO_FLOAT[m["op"], wide], wide, [("i128", m["x"])])
        if wide == kind:
            return f"{m['head']}{call}{m['tail']}"
        temporary = _temporary(m["result"], "w")
        return (
            f"  {temporary} = {call}{m['tail']}\n"
            f"{m['head']}fptrunc {wide} {temporary} to {kind}{m['tail']}"
        )

    def from_float(self, m: re.Match[str]) -> str:
        kind, value, lines = m["type"], m["x"], ""
        if kind in ("half", "bfloat"):
            value = _temporary(m["result"], "w")
            lines = f"  {value} = fpext {kind} {m['x']} to float{m['tail']}\n"
            kind = "float"
        call = self.call(_FROM_FLOAT[m["op"], kind], "i128", [(kind, value)])
        return f"{lines}{m['head']}{call}{m['tail']}"

    def remainder(self, m: re.Match[str]) -> str:
        if not m["type"].startswith("<"):
            lines, value = self._scalar_remainder(m["type"], m["x"], m["y"], m["result"])
            last = f"{m['head']}{value}{m['tail']}"
            return "".join(f"  {line}{m['tail']}\n" for line in lines) + last
        count, element = m["type"][1:-1].split(" x ")
        lines, whole = [], "poison"
        for index in range(int(count)):
            names = [_temporary(m["result"], f"{part}{index}") for part in "xyr"]
            for name, operand in zip(names, (m["x"], m["y"]), strict=False):
                lines.append(f"{name} = extractelement {m['type']} {operand}, i32 {index}")
            more, value = self._scalar_remainder(element, names[0], names[1], names[2])
            lines += [*more, f"{names[2]} = {value}"]
            insert = f"insertelement {m['type']} {whole}, {element} {names[2]}, i32 {index}"
            whole = _temporary(m["result"], f"v{index}")
            lines.append(f"{whole} = {insert}")
        lines[-1] = lines[-1].split(" = ", 1)[1]
        body = "".join(f"  {line}{m['tail']}\n" for line in lines[:-1])
        return f"{body}{m['head']}{lines[-1]}{m['tail']}"

    def _scalar_remainder(self, kind: str, x: str, y: str, result: str) -> tuple[list[str], str]:
        """Instructions before, and the last instruction without its result."""
        if kind in _FREM:
            return [], self.call(_FREM[kind], kind, [(kind, x), (kind, y)])
        wide = [_temporary(result, part) for part in ("wx", "wy", "wr")]
        lines = [
            f"{wide[0]} = fpext {kind} {x} to float",
            f"{wide[1]} = fpext {kind} {y} to float",
            f"{wide[2]} = " + self.call(_FREM["float"], "float", [("float", w) for w in wide[:2]]),
        ]
        return lines, f"fptrunc float {wide[2]} to {kind}"


def _temporary(result: str, part: str) -> str:
    """A fresh local name that belongs to one instruction."""
    return "%fc." + re.sub(r"\W", "_", result[1:]) + "." + part


_UNSIZED = " addrspace(3) global [0 x "
#: What `compiler_fence` becomes: it holds the optimiser back, and NVPTX cannot select it. Nor is
#: anything to be done at run time, so that an empty assembly that may touch memory stands for it.
_COMPILER_FENCE = re.compile(r'\bfence syncscope\("singlethread"\) \w+')
_NO_CODE = 'call void asm sideeffect "", "~{memory}"()'

_FENCE = ' syncscope("singlethread")'
_MARKS = (_FENCE, " i128 ", " frem ", " alias ", ', section ".', " extern_weak ", _UNSIZED)


def rewrite(text: str) -> str | None:
    """The module with everything replaced; None when there is nothing to replace."""
    if not any(mark in text for mark in _MARKS):
        return None
    rewriter = _Rewriter()
    made = text = references.inert(text)
    if " frem " in made:
        made = _REMAINDER.sub(rewriter.remainder, made)
    if " i128 " in made:
        made = _DIVISION.sub(rewriter.division, made)
        made = _INT_TO_FLOAT.sub(rewriter.to_float, made)
        made = _FLOAT_TO_INT.sub(rewriter.from_float, made)
    if _FENCE in made:
        made = _COMPILER_FENCE.sub(_NO_CODE, made)
    if " alias " in made:
        made = _resolve_aliases(made)
    if " extern_weak " in made:
        made = _null_weak(made)
    if ', section "' in made:
        made = _place_sections(made)
    if _UNSIZED in made:
        made = _unite_dynamic_shared(made)
    if made == text:
        return None
    missing = [
        declaration
        for name, declaration in sorted(rewriter.declarations.items())
        if not re.search(rf"^(?:define|declare)\b[^\n]*@{name}\(", made, re.MULTILINE)
    ]
    return made + "\n" + "\n".join(missing) + "\n"


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
