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

_HEADER = """
/// # Safety
/// `input` and `output` hold `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn {name}(
    count: u32,
    scale: f32,
    input: *const f32,
    output: *mut f32,
) {{
    let index = gpu::global_x();
"""

#: An element each, by a polynomial.
_MAP = """
    if index < count as usize {{
        let mut value = unsafe {{ *input.add(index) }};
        let mut step = 0;
        while step < 8 {{
            value = curve(value, scale + {constant}.0 * step as f32);
            step += 1;
        }}
        unsafe {{ *output.add(index) = value }};
    }}
}}
"""

#: A sum per block, in shared memory.
_REDUCTION = """
    let partial = gpu::shared!([f32; 256]);
    let lane = gpu::thread_idx_x() as usize;
    let mut sum = 0.0;
    let mut at = index;
    while at < count as usize {{
        sum += curve(unsafe {{ *input.add(at) }}, scale + {constant}.0);
        at += gpu::global_size_x();
    }}
    unsafe {{ partial.write(lane, sum) }};
    let mut width = 128;
    while width > 0 {{
        gpu::barrier();
        if lane < width {{
            unsafe {{ partial.write(lane, partial.read(lane) + partial.read(lane + width)) }};
        }}
        width /= 2;
    }}
    if lane == 0 {{
        unsafe {{ *output.add(gpu::block_idx_x() as usize) = partial.read(0) }};
    }}
}}
"""

#: Each element against all others, with square roots and sines.
_BODIES = """
    use gpu::Float;
    if index < count as usize {{
        let mine = unsafe {{ *input.add(index) }};
        let mut force = 0.0;
        let mut other = 0;
        while other < count as usize {{
            let apart = unsafe {{ *input.add(other) }} - mine;
            let distance = (apart * apart + scale + {constant}.0).sqrt();
            force += curve(apart, distance) * (distance * 0.5).sin();
            other += 1;
        }}
        unsafe {{ *output.add(index) = force }};
    }}
}}
"""

_SHAPES = (_MAP, _REDUCTION, _BODIES)


def crate_source(index: int, kernels: int, constant: int) -> str:
    """The source of crate ``index``; another ``constant`` is an edit that changes its code."""
    text = _HEAD
    for kernel in range(kernels):
        shape = _HEADER + _SHAPES[(index + kernel) % len(_SHAPES)]
        text += shape.format(name=f"kernel_{index}_{kernel}", constant=constant + kernel)
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
