"""Registers of the kernels of ``sass-vs-nvcc``."""

from __future__ import annotations

from bench import harness, sass_vs_nvcc

BENCH = harness.Bench(
    "sass-vs-nvcc-registers",
    "ratio",
    1.05,
    "registers of the same 12 kernels, Rust ÷ CUDA C++: geometric mean",
    lambda: sass_vs_nvcc.compare(1),
)
