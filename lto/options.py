"""Options of the steps that run LLVM."""

from __future__ import annotations

import argparse

from fatcrate.lto import engine, errors, isolate
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.usage import seconds


def add_engine(p: argparse.ArgumentParser) -> None:
    """The option that chooses the LLVM."""
    p.add_argument(
        "--engine",
        default="llvmlite",
        metavar="NAME",
        help="llvmlite, libllvm (rustc's own libLLVM) or libllvm=PATH (default: %(default)s)",
    )


def add_timeout(p: argparse.ArgumentParser) -> None:
    """The option that bounds the time of LLVM in its worker process."""
    p.add_argument(
        "--timeout",
        type=seconds,
        default=isolate.DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="end LLVM after this time (default: %(default)s)",
    )


def start(chosen: engine.Choice) -> engine.Engine:
    """Loads an engine. Raises FC0324 when its library is not there or does not fit."""
    try:
        return chosen.start()
    except engine.EngineError as error:
        fail(
            errors.ENGINE_MISSING,
            chosen.name,
            str(error),
            remedy="use --engine llvmlite, or name rustc's library: --engine libllvm=PATH",
        )
