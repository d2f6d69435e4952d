"""Compiling one unit for the GPU, against nvcc's device-only pass."""

from __future__ import annotations

from fatcrate.rules.ninja import plan
from fatcrate.toolchain.discover import discover
from support.device import Workshop

from bench import harness, lto_set, nvcc
from bench.build_six_archs_vs_nvcc import run_command
from bench.lto_vs_nvcc_dlto import CUDA_UNIT


def run() -> harness.Result:
    """Whole commands by turns: `fatcrate compile` as builds run it, to bitcode; nvcc to LTO-IR."""
    with harness.workspace() as folder:
        shop: Workshop = lto_set.make(folder, 1).shop
        tools = shop.recipe_tools
        tools.step = plan.step_prefix()
        ours = shop.recipe.crate_argv(
            tools,
            "k000",
            "k000.rs",
            "unit.rlib",
            "k000",
            edition="2024",
            sysroot=shop.sysroot,
            deps=[("library", str(shop.crates["library"]))],
            dep_dirs=["."],
        )
        (folder / "unit.cu").write_text(CUDA_UNIT.replace("@", "0"), encoding="utf-8")
        theirs = [str(nvcc.find("bin/nvcc")), f"-I{nvcc.find('include')}", "-fatbin", "-rdc=true"]
        theirs += ["-dlto", "-arch=sm_90", "-O3", "-fmad=false", "unit.cu", "-o", "unit.fatbin"]
        pairs = [(run_command(ours, folder), run_command(theirs, folder)) for _ in range(9)]
    ratios = [a[0] / b[0] for a, b in pairs]
    detail = {
        "rustc": discover().identity.rustc.version,
        "ours_s": round(harness.median([a[0] for a, _ in pairs]), 3),
        "nvcc_s": round(harness.median([b[0] for _, b in pairs]), 3),
        "ours_largest_process_mib": max(a[1] for a, _ in pairs),
        "nvcc_largest_process_mib": max(b[1] for _, b in pairs),
    }
    return harness.Result(harness.median(ratios), ratios, detail)


BENCH = harness.Bench(
    "compile-unit-vs-nvcc",
    "ratio",
    0.25,
    "`fatcrate compile` of a crate of three kernels to bitcode ÷ `nvcc -fatbin -rdc=true -dlto`"
    " of the same kernels",
    run,
)
