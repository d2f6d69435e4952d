"""Packing in process, uncompressed, against NVIDIA's library."""

from __future__ import annotations

from fatcrate.fatbin import packer

from bench import harness, pack_vs_nvfatbin

BENCH = harness.Bench(
    "pack-vs-nvfatbin-raw",
    "ratio",
    1.5,
    "packing 8 cubins of about 1 MB in process, uncompressed, against libnvfatbin",
    lambda: pack_vs_nvfatbin.against(packer.Options(mode="none"), ["-compress=false"]),
)
