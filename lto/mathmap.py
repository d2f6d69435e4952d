"""Rust's LLVM math intrinsics and the libdevice functions that implement them on NVPTX.

NVPTX selects instructions for some intrinsics (``sqrt``, ``floor``, ``fma``, …) and aborts on
the rest. The table covers every floating-point intrinsic of LLVM 22's LangRef, "Standard C/C++
Library Intrinsics" and "Specialised Arithmetic", that NVPTX does not expand accurately itself.
"""

from __future__ import annotations

import re

#: LLVM name -> libdevice base name (``f`` is appended for f32), and operand shape:
#: "1", "2": that many floats; "i": float and i32.
LIBDEVICE: dict[str, tuple[str, str]] = {
    "acos": ("acos", "1"),
    "asin": ("asin", "1"),
    "atan": ("atan", "1"),
    "atan2": ("atan2", "2"),
    "cos": ("cos", "1"),
    "cosh": ("cosh", "1"),
    "exp": ("exp", "1"),
    "exp10": ("exp10", "1"),
    "exp2": ("exp2", "1"),
    "ldexp": ("ldexp", "i"),
    "log": ("log", "1"),
    "log10": ("log10", "1"),
    "log2": ("log2", "1"),
    "pow": ("pow", "2"),
    "powi": ("powi", "i"),
    "round": ("round", "1"),
    "sin": ("sin", "1"),
    "sinh": ("sinh", "1"),
    "tan": ("tan", "1"),
    "tanh": ("tanh", "1"),
}

_NAME = re.compile(r"llvm\.([a-z0-9]+)\.(v(\d+))?(f16|bf16|f32|f64)(\.i32)?")
_TYPES = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}


def libdevice_name(intrinsic: str) -> str | None:
    """``__nv_sinf`` for ``llvm.sin.f32``; None for what needs no libdevice, or a wrapper."""
    match = _NAME.fullmatch(intrinsic)
    if not match or match[1] not in LIBDEVICE or match[2] or match[4] not in ("f32", "f64"):
        return None
    return "__nv_" + LIBDEVICE[match[1]][0] + ("f" if match[4] == "f32" else "")


_DECLARATION = re.compile(r"declare (?P<type>.+?) @[^(]+\((?P<parameters>[^)]*)\)")


def forwarder(declaration: str, name: str, callee: str) -> str:
    """Textual IR of a function ``name`` that calls ``callee`` with the declared signature."""
    match = _DECLARATION.search(declaration)
    assert match, declaration
    result = match["type"].split()[-1]
    kinds = [part.split()[0] for part in match["parameters"].split(",")]
    parameters = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    return (
        f"define {result} @{name}({parameters}) alwaysinline {{\n"
        f"  %r = call {result} @{callee}({parameters})\n  ret {result} %r\n}}\n"
        f"declare {result} @{callee}({', '.join(kinds)})\n"
    )


def wrapper(intrinsic: str, name: str) -> str | None:
    """Textual IR of a function ``name`` that does what a vector or 16-bit intrinsic does.

    Vectors go element by element; ``f16`` and ``bf16`` are computed in f32, whose 24 bits are
    more than twice theirs. None when the intrinsic needs no such wrapper.
    """
    match = _NAME.fullmatch(intrinsic)
    if not match or match[1] not in LIBDEVICE or libdevice_name(intrinsic):
        return None
    base, shape = LIBDEVICE[match[1]]
    count, element = int(match[3] or 0), _TYPES[match[4]]
    wide = "double" if element == "double" else "float"
    callee = f"@__nv_{base}{'' if wide == 'double' else 'f'}"
    kind = f"<{count} x {element}>" if count else element
    second = {"1": "", "2": kind, "i": "i32"}[shape]
    lines, result = _calls(count, element, wide, callee, shape, kind)
    header = f"define {kind} @{name}({kind} %x{f', {second} %y' if second else ''}) alwaysinline"
    operands = {"1": wide, "2": f"{wide}, {wide}", "i": f"{wide}, i32"}[shape]
    body = "\n".join(f"  {line}" for line in lines)
    return f"{header} {{\n{body}\n  ret {kind} {result}\n}}\ndeclare {wide} {callee}({operands})\n"


#: Vector operations that LLVM 22's NVPTX back end cannot select for some type and architecture
#: (`bswap` of `<2 x i32>` on sm_100 and newer, `clmul` of some, `canonicalize` of most), though
#: it has them for scalars. Of all operations on vectors of 2 to 4 elements these alone.
_BY_ELEMENT = re.compile(r"llvm\.(bswap|canonicalize|clmul)\.v(\d+)(i\d+|b?f16|f32|f64)")


def elementwise(intrinsic: str, name: str) -> str | None:
    """Textual IR of a function ``name`` that does a vector operation element by element.

    None where LLVM can generate it.
    """
    match = _BY_ELEMENT.fullmatch(intrinsic)
    if not match:
        return None
    base, count, suffix = match[1], int(match[2]), match[3]
    element = _TYPES.get(suffix, suffix)
    kind = f"<{count} x {element}>"
    operands = "xy" if base == "clmul" else "x"
    lines, result = [], "poison"
    for index in range(count):
        for operand in operands:
            lines.append(f"%{operand}e{index} = extractelement {kind} %{operand}, i32 {index}")
        given = ", ".join(f"{element} %{operand}e{index}" for operand in operands)
        lines.append(f"%r{index} = call {element} @llvm.{base}.{suffix}({given})")
        lines.append(f"%v{index} = insertelement {kind} {result}, {element} %r{index}, i32 {index}")
        result = f"%v{index}"
    parameters = ", ".join(f"{kind} %{operand}" for operand in operands)
    body = "\n".join(f"  {line}" for line in lines)
    return (
        f"define {kind} @{name}({parameters}) alwaysinline {{\n{body}\n  ret {kind} {result}\n}}\n"
        f"declare {element} @llvm.{base}.{suffix}({', '.join([element] * len(operands))})\n"
    )


def _calls(
    count: int, element: str, wide: str, callee: str, shape: str, kind: str
) -> tuple[list[str], str]:
    """The body's instructions and the name of its result."""
    lines: list[str] = []
    result = "poison"
    for index in range(count or 1):
        arguments = []
        for operand in "xy"[: 2 if shape == "2" else 1]:
            value = f"%{operand}"
            if count:
                lines.append(f"%{operand}e{index} = extractelement {kind} {value}, i32 {index}")
                value = f"%{operand}e{index}"
            if wide != element:
                lines.append(f"%{operand}w{index} = fpext {element} {value} to {wide}")
                value = f"%{operand}w{index}"
            arguments.append(f"{wide} {value}")
        if shape == "i":
            arguments.append("i32 %y")
        lines.append(f"%r{index} = call {wide} {callee}({', '.join(arguments)})")
        value = f"%r{index}"
        if wide != element:
            lines.append(f"%n{index} = fptrunc {wide} {value} to {element}")
            value = f"%n{index}"
        if count:
            lines.append(
                f"%v{index} = insertelement {kind} {result}, {element} {value}, i32 {index}"
            )
            value = f"%v{index}"
        result = value
    return lines, result
