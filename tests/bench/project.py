"""A made-up project for benchmarks: a library and crates that each hold a few kernels."""

from __future__ import annotations

from pathlib import Path

_LIBRARY = """\
#![no_std]
/// Rational approximation, enough arithmetic to keep the optimiser busy.
#[inline]
pub fn curve(x: f32, a: f32) -> f32 {
    let y = x * x + a;
    (y * (y + 0.5) + x) / (y * y + 1.0)
}
"""

_HEAD = """\
#![no_std]
use mathlib::curve;
"""

_KERNEL = """
/// # Safety
/// `input` and `output` hold `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn {name}(
    count: u32,
    scale: f32,
    input: *const f32,
    output: *mut f32,
) {{
    let index = gpu::block_idx_x() * gpu::block_dim_x() + gpu::thread_idx_x();
    if index < count {{
        let mut value = unsafe {{ *input.add(index as usize) }};
        let mut step = 0;
        while step < {rounds} {{
            value = curve(value, scale + {constant}.0 * step as f32);
            step += 1;
        }}
        unsafe {{ *output.add(index as usize) = value }};
    }}
}}
"""


def crate_source(index: int, kernels: int, constant: int) -> str:
    """The source of crate ``index``; another ``constant`` is an edit that changes its code."""
    text = _HEAD
    for kernel in range(kernels):
        text += _KERNEL.format(
            name=f"kernel_{index}_{kernel}", rounds=8 + kernel, constant=constant + kernel
        )
    return text


def write(folder: Path, *, crates: int, kernels: int, archs: list[str]) -> None:
    """Writes the project: ``crates`` crates of ``kernels`` kernels, one target of them all."""
    (folder / "mathlib.rs").write_text(_LIBRARY, encoding="utf-8")
    names = [f"k{index:02}" for index in range(crates)]
    lines = ["version: 1", "crates:", "  mathlib: {path: mathlib.rs, edition: 2024}"]
    for index, name in enumerate(names):
        (folder / f"{name}.rs").write_text(crate_source(index, kernels, 1), encoding="utf-8")
        lines.append(f"  {name}: {{path: {name}.rs, edition: 2024, deps: [gpu, mathlib]}}")
    lines += ["kernels:", f"  bench: {{crates: [{', '.join(names)}], archs: [{', '.join(archs)}]}}"]
    (folder / "fatcrate.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
