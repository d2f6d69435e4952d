"""When PTX generated for one architecture serves another, with another ``.target`` line.

LLVM's NVPTX back end treats the architectures that we build (sm_75 and newer) alike for plain
32- and 64-bit scalar code. Whether a module is of that kind is decided by whitelists, of its
IR before optimisation and of the PTX that came out: vectors, 16-bit floats, 128-bit integers,
atomics, fences, arch queries and every intrinsic or instruction (of inline assembly, too) not named
here disqualify it. A test compares shared with separate generation on every example and case.
"""

from __future__ import annotations

import re

#: What disqualifies a module: a text that it then holds, found much faster than the expression.
_FORBIDDEN = {
    "<": r"<\d+ x ",
    "addrspace(": r"addrspace\([1-9]\d\)",
    "i128": r"i128(?<=\bi128)(?=[ ,)\]]|$)",  # begins with the text: a hundred times quicker
    "load atomic": r"\bload atomic\b",
    "store atomic": r"\bstore atomic\b",
    "@__fc_": r"@__fc_(?:has|arch)\b",
    "__CUDA_ARCH": "__CUDA_ARCH",
    **{w: rf"\b{w}\b" for w in ("half", "bfloat", "fp128", "atomicrmw", "cmpxchg", "fence")},
}
_INTRINSIC = re.compile(r"@llvm\.([\w.]+)")
_ALLOWED_INTRINSIC = re.compile(
    r"(?:[su](?:min|max)|abs|fabs|floor|ceil|trunc|rint|nearbyint|roundeven|sqrt|fma|copysign"
    r"|minnum|maxnum|ctpop|ctlz|cttz|bswap|bitreverse|fsh[lr]|[su](?:add|sub|mul)\.with\.overflow"
    r"|[su](?:add|sub)\.sat|fpto[su]i\.sat)\.(?:i8|i16|i32|i64|f32|f64)(?:\.f32|\.f64)?"
    r"|(?:memcpy|memmove|memset)\.p0.*|lifetime\.(?:start|end)\.p0|assume|expect\..*|trap"
    r"|(?:experimental\.)?noalias\.scope\.decl|experimental\.noalias\.scope\.decl|used|module\.flags"
    r"|ident|dbg\..*|is\.constant\..*"
    r"|nvvm\.read\.ptx\.sreg\.(?:tid|ntid|ctaid|nctaid)\.[xyz]|nvvm\.read\.ptx\.sreg\.(?:laneid|warpsize)"
    r"|nvvm\.barrier\.cta\.sync\.aligned\.all|nvvm\.barrier0"
    r"|nvvm\.(?:fma|add|mul|div|rcp|sqrt)\.r[nzmpud](?:\.ftz)?\.(?:f|d|f32|f64)"
    r"|nvvm\.(?:ex2|lg2|sin|cos|rcp|rsqrt|sqrt|div)\.approx(?:\.ftz)?\.(?:f|d|f32|f64)"
    r"|nvvm\.(?:floor|ceil|trunc|round|fabs|saturate|fmin|fmax)(?:\.ftz)?\.(?:f|d|f32|f64)"
    r"|nvvm\.(?:mulhi|mul24|sad|prmt|lohi\.i2d|d2i\.(?:lo|hi)|d2f|f2i|i2f|f2ll|d2ll|ll2[fd]|ull2[fd]"
    r"|bitcast|ui2f|i2d|f2ui|d2i|d2ui|ui2d|f2ull|d2ull).*"
)

_OPCODES = re.compile(
    "abs|add|and|bar|bfe|bfi|bra|brev|brx|call|clz|cnot|copysign|cos|cvt|cvta|div|ex2|exit|fma|ld"
    "|lg2|mad|madc|addc|subc|max|min|mov|mul|neg|not|or|popc|prmt|rcp|rem|ret|rsqrt|sad|selp|set|setp|shf|shl|shr"
    "|sin|sqrt|st|sub|testp|trap|xor"
)
_TYPE = re.compile(r"\.(?:f16|f16x2|bf16|bf16x2|tf32|f32x2|v2|v4|v8|b128|NaN|e4m3|e5m2)\b")
_INSTRUCTION = re.compile(r"\n[ \t]+(?:@!?%p\d+[ \t]+)?([a-z]\w*)")
_TARGET = re.compile(r"^\.target sm_\w+", re.MULTILINE)


def module_allows(text: str) -> bool:
    """Whether a linked module's textual IR is plain scalar code."""
    if any(mark in text and re.search(pattern, text) for mark, pattern in _FORBIDDEN.items()):
        return False
    return all(_ALLOWED_INTRINSIC.fullmatch(name) for name in set(_INTRINSIC.findall(text)))


def ptx_allows(ptx: str) -> bool:
    """Whether PTX holds instructions that mean the same to every architecture."""
    if _TYPE.search(ptx) or not _TARGET.search(ptx):
        return False
    return all(_OPCODES.fullmatch(opcode) for opcode in set(_INSTRUCTION.findall(ptx)))


def retarget(ptx: str, cpu: str) -> str:
    """The same PTX for another architecture (``sm_90``)."""
    return _TARGET.sub(f".target {cpu}", ptx, count=1)
