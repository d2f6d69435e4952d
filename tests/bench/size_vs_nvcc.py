"""Bytes of a container in our mode `balanced` against what nvcc makes by default."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fatcrate.fatbin import packer, reader
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch
from support import nvidia

from bench import fatbin_images, harness


def compare(options: packer.Options, flags: Sequence[str]) -> harness.Result:
    """Ratio of sizes for 8 cubins and 8 PTX texts; decompression times beside it."""
    items = fatbin_images.items()
    ours = packer.pack(
        [
            packer.Input(
                i.kind,
                Arch("compute" if i.kind == "ptx" else "sm", int(i.arch)),
                Source("k", data=i.data),
            )
            for i in items
        ],
        options,
    )
    theirs = nvidia.pack([nvidia.Item(i.kind, i.data, i.arch) for i in items], flags)
    ratio = len(ours) / len(theirs)
    return harness.Result(
        ratio,
        [ratio],
        {
            "ours": len(ours),
            "nvcc": len(theirs),
            "ours_decompress_ms": _decompress(ours),
            "nvcc_decompress_ms": _decompress(theirs),
        },
    )


def _decompress(fatbin: bytes) -> float:
    """Milliseconds to decompress all images, the median of nine."""
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for image in reader.read(Source("k", data=fatbin)).images:
            bytes(image.payload)
        times.append(time.perf_counter() - start)
    return round(harness.median(times) * 1e3, 1)


BENCH = harness.Bench(
    "size-vs-nvcc",
    "ratio",
    0.95,
    "bytes of mode `balanced` against nvcc's default, 8 cubins and 8 PTX texts of libcurand",
    lambda: compare(packer.Options(mode="balanced"), []),
)
