"""Sizes of LLVM types and kernel parameters, against LLVM and against cubins."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from fatcrate.lto import layout, runtime
from fatcrate.toolchain.discover import Tools
from support.device import Workshop

TYPES = [
    *(f"i{bits}" for bits in (1, 7, 8, 16, 24, 32, 48, 64, 96, 128)),
    *("half", "bfloat", "float", "double", "ptr", "ptr addrspace(3)"),
    *("[3 x i8]", "[5 x i32]", "[0 x i64]", "[2 x [3 x i16]]"),
    *("{ i8, i32 }", "{ i8, i64, i8 }", "<{ i8, i32, i8 }>", "{ ptr, [3 x i8] }", "{}"),
    *("<2 x float>", "<3 x float>", "<4 x i32>", "<8 x i1>", "<3 x i8>", "<2 x double>"),
    "{ i8, <4 x float>, { i16, i8 } }",
]


@pytest.mark.parametrize("text", TYPES)
def test_sizes_agree_with_llvm(text: str) -> None:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(f"@x = external global {text}\n")
    found = module.get_global_variable("x").global_value_type
    target = llvm.create_target_data(runtime.DATA_LAYOUT)
    want = (target.get_abi_size(found), target.get_abi_alignment(found))
    assert layout.size_align(text) == want


@pytest.mark.parametrize("text", ["opaque", "void", "[3 x", "i", "<4 x >", "label", ""])
def test_types_without_a_size(text: str) -> None:
    with pytest.raises(layout.LayoutError):
        layout.size_align(text)


def test_parameters_of_a_definition() -> None:
    line = (
        'define ptx_kernel void @"a b"(ptr noundef captures(none) %0, i32 range(i32 0, 5) %1, '
        "ptr byval({ i32, i64 }) align 8 %p, <4 x float> %v, i1 zeroext %b) unnamed_addr #3 {"
    )
    slots = layout.parameters(line)
    assert [(s.cls, s.size, s.align) for s in slots] == [
        ("pointer", 8, 8),
        ("int", 4, 4),
        ("aggregate", 16, 8),
        ("aggregate", 16, 16),
        ("int", 1, 1),
    ]
    assert layout.offsets(slots) == [0, 8, 16, 32, 48]


def test_variables() -> None:
    text = '@x = internal addrspace(3) global [4 x i32] undef, section "s", align 16'
    assert layout.address_space(text) == 3
    assert layout.variable(text) == (16, 16)
    assert not layout.is_constant(text)
    assert layout.is_constant("@c = local_unnamed_addr constant i32 5")
    assert layout.address_space("@g = global ptr addrspacecast (ptr addrspace(3) @x to ptr)") == 0


KERNEL = """
#![no_std]
#![feature(f16)]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn k(
    a: *mut u64, b: bool, c: u8, d: u16, e: i128, f: f32, g: f64, h: f16, i: char, l: u8, n: u8,
    o: usize, q: u32,
) {
    unsafe {
        *a = b as u64 + c as u64 + d as u64 + e as u64 + f as u64 + g as u64 + h as u64 + i as u64
            + l as u64 + n as u64 + o as u64 + q as u64;
    }
}
"""


def test_offsets_agree_with_the_cubin(tools: Tools, tmp_path: Path) -> None:
    """EIATTR_KPARAM_INFO, as NVIDIA's cuobjdump shows it."""
    if not tools.cuobjdump:
        pytest.skip("cuobjdump is not installed")
    shop = Workshop(tools, tmp_path)
    (tmp_path / "kern.rs").write_text(KERNEL)
    assert shop.compile("kern", tmp_path / "kern.rs").code == 0
    for step in (shop.link("t"), shop.codegen("t", "sm_80"), shop.assemble("t", "sm_80")):
        assert step.code == 0, step.stderr
    shown = subprocess.run(
        [tools.cuobjdump, "-elf", tmp_path / "t.sm_80.cubin"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    theirs = sorted(
        tuple(int(x, 16) for x in m.groups())
        for m in re.finditer(r"Ordinal : (0x\w+)\s+Offset  : (0x\w+)\s+Size    : (0x\w+)", shown)
    )
    kernel = shop.json("t.manifest.json")["kernels"][0]
    mine = [(p["ordinal"], p["offset"], p["size"]) for p in kernel["parameters"]]
    assert len(mine) == 13
    assert mine == theirs
