"""Every floating-point intrinsic that rustc can emit: what becomes of it, in f32 and f64.

All of them are kernels of one crate of textual IR (what ``core::intrinsics`` lowers to), linked
once. On the GPU side: no call is left that NVPTX cannot select, the intrinsic is an
instruction or libdevice's function. On the CPU runner: the values are NumPy's or SciPy-free
references, which catches swapped operands and wrong names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fatcrate import cpu
from fatcrate.lto import lower, mathmap, runtime
from fatcrate.toolchain.discover import Tools
from support.device import Workshop

# name -> (operands: a float, b float, n i32; libdevice name or instruction; reference)
Reference = Callable[[float, float, int], float]
TABLE: dict[str, tuple[str, str, Reference]] = {
    "sqrt": ("a", "sqrt.rn", lambda a, b, n: math.sqrt(a)),
    "powi": ("an", "__nv_powi", lambda a, b, n: a**n),
    "sin": ("a", "__nv_sin", lambda a, b, n: math.sin(a)),
    "cos": ("a", "__nv_cos", lambda a, b, n: math.cos(a)),
    "tan": ("a", "__nv_tan", lambda a, b, n: math.tan(a)),
    "asin": ("a", "__nv_asin", lambda a, b, n: math.asin(a)),
    "acos": ("a", "__nv_acos", lambda a, b, n: math.acos(a)),
    "atan": ("a", "__nv_atan", lambda a, b, n: math.atan(a)),
    "atan2": ("ab", "__nv_atan2", lambda a, b, n: math.atan2(a, b)),
    "sinh": ("a", "__nv_sinh", lambda a, b, n: math.sinh(a)),
    "cosh": ("a", "__nv_cosh", lambda a, b, n: math.cosh(a)),
    "tanh": ("a", "__nv_tanh", lambda a, b, n: math.tanh(a)),
    "pow": ("ab", "__nv_pow", lambda a, b, n: a**b),
    "exp": ("a", "__nv_exp", lambda a, b, n: math.exp(a)),
    "exp2": ("a", "__nv_exp2", lambda a, b, n: 2.0**a),
    "exp10": ("a", "__nv_exp10", lambda a, b, n: 10.0**a),
    "ldexp": ("an", "__nv_ldexp", lambda a, b, n: math.ldexp(a, n)),
    "log": ("a", "__nv_log", lambda a, b, n: math.log(a)),
    "log10": ("a", "__nv_log10", lambda a, b, n: math.log10(a)),
    "log2": ("a", "__nv_log2", lambda a, b, n: math.log2(a)),
    "round": ("a", "__nv_round", lambda a, b, n: math.floor(a + 0.5)),
    "fma": ("aba", "fma.rn", lambda a, b, n: a * b + a),
    "fmuladd": ("aba", "fma.rn", lambda a, b, n: a * b + a),
    "fabs": ("a", "abs", lambda a, b, n: abs(a)),
    "minnum": ("ab", "min", lambda a, b, n: min(a, b)),
    "maxnum": ("ab", "max", lambda a, b, n: max(a, b)),
    "minimum": ("ab", "min", lambda a, b, n: min(a, b)),
    "maximum": ("ab", "max", lambda a, b, n: max(a, b)),
    "minimumnum": ("ab", "min", lambda a, b, n: min(a, b)),
    "maximumnum": ("ab", "max", lambda a, b, n: max(a, b)),
    "copysign": ("ab", "copysign", lambda a, b, n: math.copysign(a, b)),
    "floor": ("a", "cvt.rmi", lambda a, b, n: math.floor(a)),
    "ceil": ("a", "cvt.rpi", lambda a, b, n: math.ceil(a)),
    "trunc": ("a", "cvt.rzi", lambda a, b, n: math.trunc(a)),
    "rint": ("a", "cvt.rni", lambda a, b, n: round(a)),
    "nearbyint": ("a", "cvt.rni", lambda a, b, n: round(a)),
    "roundeven": ("a", "cvt.rni", lambda a, b, n: round(a)),
}
WIDTHS = {"f32": ("float", np.float32), "f64": ("double", np.float64)}
#: Values for which every function above is defined and well conditioned.
A, B, N = 0.8125, 0.3125, 3


def kernel(name: str, width: str) -> str:
    kind = WIDTHS[width][0]
    shape = TABLE[name][0]
    types = ["i32" if c == "n" else kind for c in shape]
    suffix = f"{width}.i32" if "n" in shape else width
    values = ", ".join(f"{t} %{c}" for t, c in zip(types, shape, strict=True))
    return (
        f"define ptx_kernel void @{name}_{width}(ptr %p, i32 %n) {{\n"
        f"  %a = load {kind}, ptr %p\n  %q = getelementptr {kind}, ptr %p, i64 1\n"
        f"  %b = load {kind}, ptr %q\n"
        f"  %r = call {kind} @llvm.{name}.{suffix}({values})\n"
        f"  store {kind} %r, ptr %p\n  ret void\n}}\n"
        f"declare {kind} @llvm.{name}.{suffix}({', '.join(types)})\n"
    )


@pytest.fixture(scope="module")
def shop(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    made = Workshop(tools, tmp_path_factory.mktemp("math"))
    text = f'target datalayout = "{runtime.DATA_LAYOUT}"\ntarget triple = "nvptx64-nvidia-cuda"\n'
    path = made.folder / "math.ll"
    path.write_text(text + "".join(kernel(n, w) for n in TABLE for w in WIDTHS))
    outcome = made.link("math", crates=[("math", path)])
    assert outcome.code == 0, outcome.stderr
    for arch in ("sm_75", "sm_90"):
        for level in ("0", "3"):
            outcome = made.codegen("math", arch, level)
            assert outcome.code == 0, outcome.stderr
            source = made.folder / f"math.{arch}.ptx"
            source.rename(made.folder / f"math{level}.{arch}.ptx")
            outcome = made.assemble(f"math{level}", arch)
            assert outcome.code == 0, outcome.stderr
    return made


def body(shop: Workshop, level: str, arch: str, name: str) -> str:
    text = shop.text(f"math{level}.{arch}.ptx")
    match = re.search(rf"\.entry {name}\(.*?^\}}", text, re.MULTILINE | re.DOTALL)
    assert match
    return match[0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TABLE)
def test_becomes(shop: Workshop, name: str, width: str) -> None:
    wanted = TABLE[name][1]
    taken = shop.json("math.link.json")["libraries"]["libdevice:libdevice"]
    if wanted.startswith("__nv_"):
        wanted += "f" if width == "f32" else ""
        assert wanted in taken
        assert (
            mathmap.libdevice_name(
                f"llvm.{name}.{width}" + (".i32" if "n" in TABLE[name][0] else "")
            )
            == wanted
        )
        return
    for arch in ("sm_75", "sm_90"):
        for level in ("0", "3"):
            code = body(shop, level, arch, f"{name}_{width}")
            assert re.search(rf"{re.escape(wanted)}[\w.]*\.{width}\b", code)
            assert "call" not in code


@pytest.fixture(scope="module")
def on_cpu(shop: Workshop) -> Iterator[cpu.Module]:
    folder: Path = shop.folder
    with cpu.Module(folder / "math.bc", folder / "math.manifest.json") as module:
        yield module


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TABLE)
def test_computes(on_cpu: cpu.Module, name: str, width: str) -> None:
    data = np.array([A, B], WIDTHS[width][1])
    on_cpu.launch(f"{name}_{width}", grid=1, block=1, args=[data, N])
    want = TABLE[name][2](A, B, N)
    assert data[0] == pytest.approx(want, rel=2e-6 if width == "f32" else 1e-14)


def test_every_mapped_intrinsic_is_tested() -> None:
    assert set(mathmap.LIBDEVICE) <= set(TABLE)
    assert mathmap.libdevice_name("llvm.sin.v4f32") is None
    assert mathmap.libdevice_name("llvm.floor.f32") is None
    assert mathmap.wrapper("llvm.floor.v4f32", "x") is None


def test_vector_operations_that_llvm_lacks_go_element_by_element() -> None:
    text = mathmap.elementwise("llvm.bswap.v2i32", "x")
    assert text is not None
    assert text.count("call i32 @llvm.bswap.i32(") == 2
    pair = mathmap.elementwise("llvm.clmul.v3i8", "x")
    assert pair is not None
    assert "call i8 @llvm.clmul.i8(i8 %xe2, i8 %ye2)" in pair
    for name in ("llvm.bswap.i32", "llvm.ctpop.v2i32", "llvm.fma.v2f32"):
        assert mathmap.elementwise(name, "x") is None


def test_narrow_floats_to_wide_integers() -> None:
    text = lower.wrapper("llvm.fptoui.sat.i128.bf16", "x")
    assert text is not None
    assert "fpext bfloat %x to float" in text
    assert "call i128 @__fixunssfti(float %w)" in text
    assert lower.wrapper("llvm.fptoui.sat.i128.f32", "x") is None
