"""What keeps PTX from being shared between architectures."""

from __future__ import annotations

import pytest
from fatcrate.lto import share

PLAIN = """\
define ptx_kernel void @k(ptr %p) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = load float, ptr %p, align 4
  %b = call float @llvm.sqrt.f32(float %a)
  store float %b, ptr %p, align 4
  ret void
}
"""
PTX = """\
.version 9.0
.target sm_80
.visible .entry k(
\t.param .u64 .ptr .align 1 k_param_0
)
{
\tld.param.b64 \t%rd1, [k_param_0];
\t@%p1 bra \t$L__BB0_2;
\tsqrt.rn.f32 \t%r2, %r1;
\tst.global.b32 \t[%rd1], %r2;
\tret;
}
"""


def test_plain_code_is_shared() -> None:
    assert share.module_allows(PLAIN)
    assert share.ptx_allows(PTX)
    assert share.retarget(PTX, "sm_90").splitlines()[1] == ".target sm_90"


@pytest.mark.parametrize(
    "line",
    [
        "  %v = load <4 x float>, ptr %p",
        "  %h = fadd half %a, %b",
        "  %h = fadd bfloat %a, %b",
        "  %w = mul i128 %a, %b",
        "  %o = atomicrmw add ptr %p, i32 1 seq_cst",
        "  %o = cmpxchg ptr %p, i32 1, i32 2 seq_cst seq_cst",
        "  %o = load atomic i32, ptr %p seq_cst, align 4",
        "  fence seq_cst",
        "  %q = call i1 @__fc_has(i32 13)",
        "  %q = call i32 @__fc_arch()",
        '@.str = private constant [12 x i8] c"__CUDA_ARCH\\00"',
        "  %m = call float @llvm.minimum.f32(float %a, float %b)",
        "  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 240)",
        "  call void @llvm.nvvm.some.future.thing()",
    ],
)
def test_modules_that_are_generated_separately(line: str) -> None:
    assert not share.module_allows(PLAIN + line + "\n")


@pytest.mark.parametrize(
    "line",
    [
        "\tld.global.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];",
        "\tmin.NaN.f32 \t%r1, %r2, %r3;",
        "\tfma.rn.f16 \t%rs1, %rs2, %rs3, %rs4;",
        "\tadd.rn.f32x2 \t%rd1, %rd2, %rd3;",
        "\tatom.global.add.u32 \t%r1, [%rd1], 1;",
        "\tredux.sync.add.s32 \t%r1, %r2, -1;",
        "\tbarrier.cluster.arrive;",
        "\t@%p2 fence.sc.sys;",
    ],
)
def test_ptx_that_is_not_shared(line: str) -> None:
    assert not share.ptx_allows(PTX.replace("\tret;", f"{line}\n\tret;"))
