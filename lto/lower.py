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

from fatcrate.lto import references

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
    callee = INTRINSICS[f"llvm.fpto{match[1]}i.sat.i128.f32"]
    return (
        f"define i128 @{name}({kind} %x) alwaysinline {{\n  %w = fpext {kind} %x to float\n"
        f"  %r = call i128 @{callee}(float %w)\n  ret i128 %r\n}}\n"
        f"declare i128 @{callee}(float)\n"
    )


#: Section name -> address space (NVPTX: 3 shared, 4 constant).
SECTIONS = {".shared": 3, ".constant": 4}


class InitialisedShared(ValueError):
    """A static in shared memory has an initial value, which that memory cannot hold."""


UNSIZED = " addrspace(3) global [0 x "
#: What `compiler_fence` becomes: it holds the optimiser back, and NVPTX cannot select it. Nor is
#: anything to be done at run time, so that an empty assembly that may touch memory stands for it.
_COMPILER_FENCE = re.compile(r'\bfence syncscope\("singlethread"\) \w+')
_NO_CODE = 'call void asm sideeffect "", "~{memory}"()'

_FENCE = ' syncscope("singlethread")'
_MARKS = (_FENCE, " i128 ", " frem ", " alias ", ', section ".', " extern_weak ", UNSIZED)


def rewrite(text: str) -> str | None:
    """The module with everything replaced; None when there is nothing to replace."""
    if not any(mark in text for mark in _MARKS):
        return None
    # Most modules have nothing of it, and the patterns take a while to compile.
    from fatcrate.lto import lower_globals, lower_instructions

    text = references.inert(text)
    made, declarations = lower_instructions.rewrite(text)
    made = _COMPILER_FENCE.sub(_NO_CODE, made) if _FENCE in made else made
    made = lower_globals.rewrite(made)
    if made == text:
        return None
    missing = [
        declaration
        for name, declaration in sorted(declarations.items())
        if not re.search(rf"^(?:define|declare)\b[^\n]*@{name}\(", made, re.MULTILINE)
    ]
    return made + "\n" + "\n".join(missing) + "\n"
