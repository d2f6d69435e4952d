"""Elements behind pointers, as a kernel's code tells them."""

from __future__ import annotations

import numpy as np
import pytest
from fatcrate.lto.cpu import elements, irtext
from fatcrate.lto.cpu.arguments import check_elements, plan, with_types
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.manifest import Kernel, Parameter

INDEXED = "%g = getelementptr inbounds nuw {0}, ptr %0, i64 %i\n  %v = load {1}, ptr %g, align 4"


def found(*lines: str, more: str = "") -> str:
    body = "\n  ".join(lines)
    text = f"define ptx_kernel void @k(ptr noundef %0, i64 %i) {{\n  {body}\n  ret void\n}}\n{more}"
    told = elements.of_kernel(irtext.parse(text).functions, "k")
    assert len(told) == 2 and told[1] is None
    return str(told[0] or "")


@pytest.mark.parametrize(
    ("stride", "access", "told"),
    [
        *[("float", "float", "f32"), ("float", "<4 x float>", "f32"), ("double", "double", "f64")],
        *[("i32", "i32", "i32"), ("half", "half", "f16"), ("float", "i32", "i32")],
        *[("i64", "i32", ""), ("[2 x i32]", "i32", ""), ("i8", "float", ""), ("i8", "i8", "")],
        *[("{ float, float }", "float", ""), ("i128", "i128", ""), ("ptr", "ptr", "")],
    ],
)
def test_indexed(stride: str, access: str, told: str) -> None:
    assert found(INDEXED.format(stride, access)) == told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("%v = load float, ptr %0, align 4",), ""),  # nothing is indexed
        (("%g = getelementptr float, ptr %0, i64 4", "%v = load float, ptr %g"), ""),
        (("%g = getelementptr float, ptr %0, i64 %i",), ""),  # nothing is accessed
        (("%g = getelementptr float, ptr %0, i64 %i", "store float %x, ptr %g, align 4"), "f32"),
        (("%g = getelementptr i32, ptr %0, i64 %i", "store ptr %0, ptr %g"), ""),
        (
            (
                "%g = getelementptr float, ptr %0, i64 %i",
                '%o = atomicrmw fadd ptr %g, float %x syncscope("device") monotonic, align 4',
            ),
            "f32",
        ),
        (
            (
                "%p = phi ptr [ %q, %loop ], [ %0, %start ]",
                "%v = load double, ptr %p",
                "%q = getelementptr double, ptr %p, i64 %i",
            ),
            "f64",
        ),
        (
            (
                "%s = select i1 %c, ptr %0, ptr null",
                "%g = getelementptr i32, ptr %s, i64 %i",
                "store i32 1, ptr %g",
                "%v = load float, ptr %g",
            ),
            "32-bit elements",
        ),
        (("call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %x, i64 8, i1 false)",), ""),
    ],
)
def test_lines(lines: tuple[str, ...], told: str) -> None:
    assert found(*lines) == told


def test_through_functions() -> None:
    callee = (
        "define internal float @f(i64 %n, ptr noundef readonly %p) {\n"
        "  %g = getelementptr inbounds float, ptr %p, i64 %n\n"
        "  %v = load float, ptr %g, align 4\n"
        "  %w = call float @f(i64 %n, ptr noundef %g)\n"
        "  ret float %v\n}\n"
    )
    assert found("%v = tail call float @f(i64 %i, ptr noundef %0) #3", more=callee) == "f32"


KERNEL = Kernel("k", "c", [Parameter(0, 0, 8, 8, "pointer"), Parameter(1, 8, 4, 4, "int")])


def refused(array: object, element: elements.Element | None) -> str:
    planned = plan(KERNEL, [array, 1])  # type: ignore[list-item]
    try:
        check_elements(KERNEL, planned, [element, None])
    except FatcrateError as error:
        return str(error)
    return ""


def test_arrays() -> None:
    f32 = elements.Element(4, "float")
    assert refused(np.zeros(3), f32) == (
        "error[FC0603]: k: parameter 1 (pointer): the kernel's code takes it for f32, the array"
        " is of float64\n"
        "  help: convert it: `a.astype(np.float32)`, or reinterpret it: `a.view(np.float32)`"
    )
    assert "give an array of 32-bit elements" in refused(np.zeros(3), elements.Element(4, ""))
    assert "a.astype(np.int64)" in refused(np.zeros(3, np.int32), elements.Element(8, "int"))
    for fits in ("f4", "i4", "u4", "u1", "c8", "?"):
        assert refused(np.zeros(3, fits), f32) == ""
    assert refused(np.zeros(3), None) == refused(None, f32) == ""


def test_told_types() -> None:
    typed = with_types(KERNEL, ["*mut  f32", "u32"])
    assert [p.rust_type for p in typed.parameters] == ["*mut f32", "u32"]
    with pytest.raises(FatcrateError, match="wants an array of float32, not of int32"):
        plan(typed, [np.zeros(3, np.int32), 1])
    assert plan(typed, [np.zeros(3, np.float32), 1])
    for wrong in (["f32", "u32"], ["*mut f32", "u64"], ["*mut f32", "f32"], ["*mut x", "u32"]):
        with pytest.raises(FatcrateError, match="cannot be told to be"):
            with_types(KERNEL, wrong)
    with pytest.raises(FatcrateError, match="takes 2 parameters, 1 types are told"):
        with_types(KERNEL, ["*mut f32"])
    with pytest.raises(FatcrateError, match=r"parameter 1 \(\*mut f32\): it cannot be told"):
        with_types(typed, ["*mut f64", "u32"])
