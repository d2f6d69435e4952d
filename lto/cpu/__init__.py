"""Runs GPU kernels on the host's CPU: the crates' own device code, for tests.

    >>> from fatcrate import cpu
    >>> with cpu.Module("fatcrate-out/demo/linked.bc", "fatcrate-out/demo.manifest.json") as m:
    ...     m.launch("saxpy", grid=4, block=128, args=[n, 2.5, x, y])

Arithmetic, square root and fused multiply-add give the bits that a GPU gives; other math
functions are within 4 units in the last place. Threads take turns at barriers.
"""

from __future__ import annotations

from fatcrate.lto.cpu.arguments import Argument
from fatcrate.lto.cpu.module import Module, Result, Size, Trap
from fatcrate.toolchain.diagnostics import FatcrateError

__all__ = ["Argument", "FatcrateError", "Module", "Result", "Size", "Trap"]
