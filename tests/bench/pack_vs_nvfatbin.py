"""Packing in process, compressed, against NVIDIA's library."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fatcrate.fatbin import packer
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch
from support import nvidia

from bench import fatbin_images, harness

ROUNDS = 15


def _inputs() -> list[packer.Input]:
    return [
        packer.Input("cubin", Arch("sm", int(i.arch)), Source("k", data=i.data))
        for i in fatbin_images.cubins()
    ]


def compare(ours: Callable[[], bytes], theirs: Callable[[], bytes]) -> harness.Result:
    """Ratio of the median times; the bytes must be equal."""
    assert ours() == theirs()
    mine, other = [], []
    for _ in range(ROUNDS):
        for function, times in ((ours, mine), (theirs, other)):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    a, b = harness.median(mine), harness.median(other)
    ratios = [x / y for x, y in zip(mine, other, strict=True)]
    return harness.Result(
        a / b, ratios, {"ours_ms": round(a * 1e3, 1), "nvfatbin_ms": round(b * 1e3, 1)}
    )


def against(options: packer.Options, flags: Sequence[str]) -> harness.Result:
    """Our packer with ``options`` against nvFatbin with ``flags``, eight cubins."""
    inputs = _inputs()
    items = [nvidia.Item("cubin", i.data, i.arch) for i in fatbin_images.cubins()]
    return compare(lambda: packer.pack(inputs, options), lambda: nvidia.pack(items, flags))


BENCH = harness.Bench(
    "pack-vs-nvfatbin",
    "ratio",
    1.05,
    "packing 8 cubins of about 1 MB in process, zstd level 5, against libnvfatbin",
    lambda: against(packer.Options(compress_all=True), ["-compress-all"]),
)
