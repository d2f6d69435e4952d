"""Atomic operations in textual IR: which memory they are in, and every form that LLVM prints."""

from __future__ import annotations

import re

import pytest
from fatcrate.lto import atomics, isolate

HEAD = """\
target triple = "nvptx64-nvidia-cuda"
@static = internal global i32 0
@shared = internal addrspace(3) global [4 x i32] undef
declare ptr @somewhere()
"""


def inlined(text: str) -> str:
    """The rewritten module, verified by LLVM, with the functions inlined."""
    made = atomics.rewrite(HEAD + text)
    assert made is not None

    def work() -> str:
        from fatcrate.lto.llvm import LlvmliteEngine

        engine = LlvmliteEngine()
        module = engine.parse_text(made)
        engine.run_passes(module, ["always-inline", "globaldce"], None)
        return module.text()

    return isolate.run(work)


POINTERS = {
    "  %p = alloca i32": "own",
    "  %q = alloca [4 x i32]\n"
    "  %p = getelementptr inbounds [4 x i32], ptr %q, i64 0, i64 %n": "own",
    "  %q = alloca { i32, ptr }\n  %p = getelementptr { i32, ptr }, ptr %q, i32 0, i32 0": "own",
    '  %"q r" = alloca i32\n  %p = freeze ptr %"q r"': "own",
    "  %q = alloca i32\n  %r = alloca i32\n  %p = select i1 %c, ptr %q, ptr %r": "own",
    "  %q = alloca i32\n  %p = select i1 %c, ptr %q, ptr @static": "unknown",
    "  %q = addrspacecast ptr %a to ptr addrspace(5)\n"
    "  %p = addrspacecast ptr addrspace(5) %q to ptr": "own",
    "  %q = addrspacecast ptr %a to ptr addrspace(1)\n"
    "  %p = addrspacecast ptr addrspace(1) %q to ptr": "elsewhere",
    "  %p = getelementptr i8, ptr %a, i64 %n": "elsewhere",
    "  %p = getelementptr i8, ptr @static, i64 %n": "elsewhere",
    "  %p = getelementptr i8, ptr"
    " addrspacecast (ptr addrspace(3) @shared to ptr), i64 4": "elsewhere",
    "  %p = call ptr @somewhere()": "unknown",
    "  %p = load ptr, ptr %a": "unknown",
    "  %p = inttoptr i64 %n to ptr": "unknown",
}


@pytest.mark.parametrize("kind", ["ptx_kernel void", "void"])
@pytest.mark.parametrize(("lines", "where"), list(POINTERS.items()))
def test_memory_of_a_pointer(lines: str, where: str, kind: str) -> None:
    """Parameters of kernels lead elsewhere, those of other functions anywhere."""
    text = inlined(
        f"define {kind} @k(ptr %a, i64 %n, i1 %c) {{\n{lines}\n"
        "  %old = atomicrmw add ptr %p, i32 1 seq_cst, align 4\n  ret void\n}\n"
    )
    if kind == "void" and where == "elsewhere" and "%a, i64" in lines:
        where = "unknown"
    assert ("atomicrmw" in text) == (where != "own")
    assert ("isspacep.local(ptr %p)" in text) == (where == "unknown")
    assert ("fence seq_cst" in text) == (where != "own")


def test_loops_end() -> None:
    text = inlined(
        "define ptx_kernel void @k(ptr %a, i1 %c) {\nentry:\n  %q = alloca [9 x i32]\n"
        "  br label %loop\nloop:\n  %p = phi ptr [ %q, %entry ], [ %s, %loop ]\n"
        "  %s = getelementptr i32, ptr %p, i64 1\n"
        "  %r = cmpxchg ptr %p, i32 1, i32 2 seq_cst seq_cst, align 4\n"
        "  br i1 %c, label %loop, label %end\nend:\n  ret void\n}\n"
    )
    assert "cmpxchg" not in text and "isspacep" not in text


OPERATIONS = ["xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin"]


@pytest.mark.parametrize("memory", ["alloca i64", "load ptr, ptr %a"])
def test_every_form(memory: str) -> None:
    """LLVM reads what comes out; what remains of the atomics is behind a question."""
    body = "".join(
        f"  %r{n} = atomicrmw volatile {op} ptr %p, i{8 << n % 4} 3 acq_rel, align 8\n"
        for n, op in enumerate(OPERATIONS)
    )
    body += (
        "  %f = atomicrmw fadd ptr %p, float 1.0 monotonic, align 4\n"
        "  %g = atomicrmw fsub ptr %p, double 1.0 release, align 8\n"
        "  %h = atomicrmw xchg ptr %p, ptr %a acquire, align 8\n"
        '  %i = atomicrmw xchg ptr %p, ptr @static syncscope("block") acquire, align 8\n'
        "  %x = cmpxchg weak volatile ptr %p, ptr null, ptr %a seq_cst acquire, align 8\n"
        '  %y = cmpxchg ptr %p, i32 %n, i32 -1 syncscope("device") monotonic monotonic, align 4\n'
        "  %z = extractvalue { i32, i1 } %y, 1\n"
        "  %u = load atomic volatile ptr, ptr %p acquire, align 8\n"
        '  %v = load atomic i32, ptr %p syncscope("block") seq_cst, align 4, !range !0\n'
        "  %w = load atomic float, ptr %p monotonic, align 4\n"
        "  store atomic volatile ptr %a, ptr %p release, align 8\n"
        '  store atomic i8 %b, ptr %p syncscope("block") seq_cst, align 1\n'
    )
    text = inlined(
        f"define void @k(ptr %a, i32 %n, i8 %b) {{\n  %p = {memory}\n{body}  ret void\n}}\n"
        "!0 = !{i32 0, i32 5}\n"
    )
    left = re.findall(r" (atomicrmw|cmpxchg|load atomic|store atomic) ", text)
    asked = text.count("call i1 @llvm.nvvm.isspacep.local(")
    assert (
        len(left) == asked == (0 if memory.startswith("alloca") else body.count("atomic") - 1 + 3)
    )
    assert text.count("volatile") >= len(OPERATIONS) + 3


def test_operations_that_stay_as_they_are() -> None:
    """What PTX does as it is written, and what is not known here."""
    text = (
        "define ptx_kernel void @k(ptr %a) {\n"
        "  %r = atomicrmw add ptr %a, i32 1 monotonic, align 4\n"
        "  %s = atomicrmw uinc_wrap ptr %a, i32 1 monotonic, align 4\n"
        "  %x = cmpxchg ptr %a, i32 1, i32 2 seq_cst seq_cst, align 4\n"
        "  %v = load atomic i32, ptr %a acquire, align 4\n"
        "  store atomic i32 %v, ptr %a release, align 4\n  ret void\n}\n"
    )
    assert atomics.rewrite(HEAD + text) is None
    assert atomics.rewrite(HEAD) is None


def test_atomics_in_a_named_space_are_ordered() -> None:
    text = inlined(
        "define ptx_kernel void @k(ptr addrspace(3) %a) {\n"
        "  %r = atomicrmw add ptr addrspace(3) %a, i32 1 acquire, align 4\n  ret void\n}\n"
    )
    assert re.search(
        r"atomicrmw add ptr addrspace\(3\) %a, i32 1 monotonic.*\n.*fence acquire", text
    )


def test_places_of_operations_are_kept() -> None:
    text = (
        "define void @k(ptr %a) !dbg !3 {\n"
        "  %r = atomicrmw add ptr %a, i32 1 seq_cst, align 4, !dbg !5, !noalias !9\n"
        "  ret void\n}\n"
    )
    made = atomics.rewrite(HEAD + text)
    assert made and re.search(r"%r = call i32 @fc_atomic_\w+\(ptr %a, i32 1\), !dbg !5\n", made)
