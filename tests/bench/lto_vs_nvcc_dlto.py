"""Linking 20 units of 60 kernels to one cubin, against nvlink's link-time optimisation."""

from __future__ import annotations

import time
from pathlib import Path

from fatcrate.rules import sysroot
from fatcrate.rules.ninja import plan
from support.device import SYSROOT_CRATES

from bench import harness, lto_set, nvcc

UNITS = 20
ARCH = "sm_90"

CUDA_UNIT = """
extern "C" __device__ float soften(float x);
__device__ __forceinline__ unsigned long long index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
extern "C" __global__ void stream_@(unsigned long long n, float a, const float *x, float *y) {
  unsigned long long i = index();
  if (i < n) y[i] = a * x[i] + y[i] + @.0f;
}
extern "C" __global__ void reduce_@(unsigned long long n, const float *x, float *y) {
  unsigned long long low = index() * 64;
  if (low + 64 > n) __trap();
  float sum = 0.0f, most = @.0f;
  for (int k = 0; k < 64; k++) sum += soften(x[low + k]);
  for (int k = 0; k < 64; k++) if (x[low + k] > most) most = x[low + k];
  __syncthreads();
  y[index()] = sum + expf(most);
}
extern "C" __global__ void nbody_@(unsigned long long n, const float *p, float *f) {
  unsigned long long i = index();
  if (i >= n) return;
  const float *me = p + i * 4;
  float s[3] = {0.0f, 0.0f, 0.0f};
  for (unsigned long long j = 0; j < n; j++) {
    const float *b = p + j * 4;
    float d[3] = {b[0] - me[0], b[1] - me[1], b[2] - me[2]};
    float r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.1f * @.0f;
    float w = b[3] * sinf(r) / (r * r);
    for (int k = 0; k < 3; k++) s[k] += w * d[k];
  }
  for (int k = 0; k < 3; k++) f[i * 3 + k] = s[k];
}
"""
CUDA_LIBRARY = """
extern "C" __device__ __noinline__ float soften(float x) { return (x * x + 0.01f) / (x + 2.0f); }
"""


def _compile(folder: Path) -> list[str]:
    made = []
    for name, text in [
        ("library", CUDA_LIBRARY),
        *((f"u{i:02}", CUDA_UNIT.replace("@", str(i))) for i in range(UNITS)),
    ]:
        (folder / f"{name}.cu").write_text(text, encoding="utf-8")
        options = ["-fatbin", "-rdc=true", "-dlto", f"-arch={ARCH}", "-fmad=false", "-O3"]
        nvcc.compile(folder, f"{name}.cu", f"{name}.fatbin", options)
        made.append(f"{name}.fatbin")
    return made


def _ours(made: lto_set.CrateSet) -> float:
    shop, recipe = made.shop, made.shop.recipe
    tools = shop.recipe_tools
    tools.step = plan.step_prefix()
    lib = sysroot.library_folder(shop.sysroot)
    crates = [(n, p.name) for n, p in shop.crates.items()]
    libraries = [(c, f"{lib}/lib{c}.rlib") for c in SYSROOT_CRATES]
    engine = ["--engine", "libllvm"]
    begun = time.perf_counter()
    for argv in (
        recipe.link_argv(
            tools, "x", crates, libraries, "x.bc", "x.json", "x.l.json", options=engine
        ),
        recipe.codegen_argv(tools, ARCH, "x.bc", "x.json", "x.ptx", options=engine),
        recipe.assemble_argv(tools, ARCH, "x.ptx", "x.cubin", "x.r.json", ["-split-compile=2"]),
    ):
        harness.timed(argv, cwd=shop.folder)
    return time.perf_counter() - begun


def run() -> harness.Result:
    """Interleaved runs; compilation of the units is not timed."""
    with harness.workspace() as folder:
        made = lto_set.make(folder, UNITS)
        units = _compile(folder)
        nvlink = [str(nvcc.find("bin/nvlink")), "-lto", f"-arch={ARCH}", "--split-compile=2"]
        nvlink += [f"-nvvmpath={folder / 'nvvm'}", "-Xnvvm", "-fma=0", "-o", "nvlink.cubin", *units]
        ours, theirs = [], []
        for _ in range(5):
            ours.append(_ours(made))
            theirs.append(harness.timed(nvlink, cwd=folder))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    detail = {
        "units": UNITS,
        "ours_s": round(harness.median(ours), 2),
        "nvlink_s": round(harness.median(theirs), 2),
    }
    return harness.Result(harness.median(ratios), ratios, detail)


BENCH = harness.Bench(
    "lto-vs-nvcc-dlto",
    "ratio",
    0.9,
    f"{UNITS} units, {UNITS * 3} kernels to one cubin: link, codegen (libLLVM) and ptxas ÷ nvlink"
    " -lto, split compilation by two on both sides",
    run,
)
