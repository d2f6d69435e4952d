"""Bytes of a container in mode `size` against nvcc's mode `size`."""

from __future__ import annotations

from fatcrate.fatbin import packer

from bench import harness, size_vs_nvcc

BENCH = harness.Bench(
    "size-vs-nvcc-size",
    "ratio",
    1.0,
    "bytes of mode `size` against nvcc's mode `size`, 8 cubins and 8 PTX texts of libcurand",
    lambda: size_vs_nvcc.compare(packer.Options(mode="size"), ["-compress-mode=size"]),
)
