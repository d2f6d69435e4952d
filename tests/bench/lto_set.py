"""Device crates as bitcode for benchmarks of the linker, and the commands that link them.

The kernels use ``core::arch`` and libdevice directly, so that LLVM's own tools can link the
very same bitcode; three shapes (streaming, block reduction, n-body) in each crate, with a
generic library crate below.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fatcrate.lto import inputs
from fatcrate.rules.ninja import plan
from fatcrate.toolchain.discover import Tools, discover
from support.device import SYSROOT_CRATES, Workshop

from bench import harness

ARCHS = ("sm_80", "sm_90")
PTX = "+ptx83"

LIBRARY = """
#![no_std]
pub fn fold<T: Copy, F: Fn(T, T) -> T>(x: &[T], start: T, f: F) -> T {
    let mut s = start;
    for v in x { s = f(s, *v); }
    s
}
#[inline(never)]
pub fn soften(x: f32) -> f32 { (x * x + 0.01) / (x + 2.0) }
"""
CRATE = """
#![no_std]
#![feature(stdarch_nvptx)]
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _syncthreads, _thread_idx_x};
unsafe extern "C" { safe fn __nv_sinf(x: f32) -> f32; safe fn __nv_expf(x: f32) -> f32; }
fn index() -> usize {
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn stream_@(n: usize, a: f32, x: *const f32, y: *mut f32) {
    let i = index();
    if i < n { unsafe { *y.add(i) = a * *x.add(i) + *y.add(i) + @.0; } }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reduce_@(n: usize, x: *const f32, y: *mut f32) {
    let all = unsafe { core::slice::from_raw_parts(x, n) };
    let part = &all[index() * 64..index() * 64 + 64];
    let sum = library::fold(part, 0.0, |s, v| s + library::soften(v));
    let most = library::fold(part, @.0, |s: f32, v| if v > s { v } else { s });
    unsafe { _syncthreads(); *y.add(index()) = sum + __nv_expf(most); }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn nbody_@(n: usize, p: *const [f32; 4], f: *mut [f32; 3]) {
    let i = index();
    if i >= n { return; }
    let bodies = unsafe { core::slice::from_raw_parts(p, n) };
    let me = bodies[i];
    let mut sum = [0.0f32; 3];
    for b in bodies {
        let d = [b[0] - me[0], b[1] - me[1], b[2] - me[2]];
        let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.1 * @.0;
        let w = b[3] * __nv_sinf(r) / (r * r);
        for k in 0..3 { sum[k] += w * d[k]; }
    }
    unsafe { *f.add(i) = sum; }
}
"""


@dataclass
class CrateSet:
    """Compiled crates in a folder."""

    shop: Workshop
    bitcode: list[Path]  # the same modules, bare
    kernels: list[str]

    @property
    def tools(self) -> Tools:
        return self.shop.tools


def make(folder: Path, crates: int) -> CrateSet:
    """Compiles the library and ``crates`` crates of three kernels."""
    shop = Workshop(discover(), folder)
    (folder / "library.rs").write_text(LIBRARY, encoding="utf-8")
    _must(shop.compile("library", folder / "library.rs"), folder)
    for number in range(crates):
        source = folder / f"k{number:03}.rs"
        source.write_text(CRATE.replace("@", str(number)), encoding="utf-8")
        _must(shop.compile(source.stem, source, deps=["library"]), folder)
    bitcode = []
    for name, path in shop.crates.items():
        (member,) = inputs.load(name, "crate", str(path)).members
        made = folder / f"{name}.bc"
        made.write_bytes(member.data)
        bitcode.append(made)
    kernels = [f"{k}_{i}" for i in range(crates) for k in ("stream", "reduce", "nbody")]
    return CrateSet(shop, bitcode, kernels)


def _must(outcome: object, folder: Path) -> None:
    if getattr(outcome, "code", 1):
        raise SystemExit(f"bench: {outcome} in {folder}")


def llvm_tool(name: str) -> str:
    """A tool of LLVM 22; ends the benchmark when it is not there."""
    found = shutil.which(f"{name}-22") or shutil.which(name, path="/usr/lib/llvm-22/bin")
    if found is None:
        raise SystemExit(f"bench: {name} of LLVM 22 is not installed")
    return found


def link_ours(made: CrateSet, engine: str) -> None:
    """`fatcrate link`, then `fatcrate codegen` for both architectures, two at a time."""
    shop, folder = made.shop, made.shop.folder
    from fatcrate.rules import sysroot

    tools = shop.recipe_tools
    tools.step = plan.step_prefix()
    lib = sysroot.library_folder(shop.sysroot)
    link = shop.recipe.link_argv(
        tools,
        "ours",
        [(n, str(p)) for n, p in shop.crates.items()],
        [(c, f"{lib}/lib{c}.rlib") for c in SYSROOT_CRATES],
        "ours.bc",
        "ours.json",
        "ours.link.json",
        options=["--engine", engine],
    )
    harness.timed(link, cwd=folder)
    first, *others = ARCHS
    also = [f"--also={arch}=ours.{arch}.ptx" for arch in others]
    codegen = shop.recipe.codegen_argv(
        tools,
        first,
        "ours.bc",
        "ours.json",
        f"ours.{first}.ptx",
        3,
        options=["--engine", engine, "--jobs", "2", *also],
    )
    harness.timed(codegen, cwd=folder)


def link_tools(made: CrateSet) -> None:
    """llvm-link once, then opt and llc for both architectures, two at a time."""
    folder = made.shop.folder
    triple = "nvptx64-nvidia-cuda"
    harness.timed(
        [
            llvm_tool("llvm-link"),
            "--suppress-warnings",
            *(str(p) for p in made.bitcode),
            made.tools.libdevice,
            "-o",
            "tools.bc",
        ],
        cwd=folder,
    )
    opt, llc, keep = llvm_tool("opt"), llvm_tool("llc"), ",".join(made.kernels)

    def one(arch: str) -> None:
        common = [f"-mtriple={triple}", f"-mcpu={arch}", f"-mattr={PTX}"]
        passes = ["-passes=internalize,globaldce,default<O3>"]
        passes.append(f"-internalize-public-api-list={keep}")
        harness.timed([opt, *common, *passes, "tools.bc", "-o", f"tools.{arch}.bc"], cwd=folder)
        harness.timed(
            [llc, "-O3", *common[1:], f"tools.{arch}.bc", "-o", f"tools.{arch}.ptx"], cwd=folder
        )

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, ARCHS))
