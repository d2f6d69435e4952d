"""Which tools fit together: rustc × LLVM × ptxas × PTX ISA × driver (``pins.toml``).

Checked before anything is compiled, because the mistakes it catches show late and badly: a
foreign LLVM major version crashes the linker, a driver that is too old refuses the image.
"""

from __future__ import annotations

import functools
import os
import tomllib
from dataclasses import dataclass
from typing import Any

from fatcrate.toolchain import errors
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Diagnostic, fail
from fatcrate.toolchain.versions import numbers

PINS = os.path.join(os.path.dirname(__file__), "pins.toml")

ALLOW_UNTESTED = "--allow-untested-llvm"


@dataclass(frozen=True)
class PtxIsa:
    """One PTX ISA version, the CUDA release and the driver branch that first knew it."""

    isa: str
    cuda: str
    driver: int


@dataclass(frozen=True)
class Pins:
    """``pins.toml``, decoded."""

    rustc_minimum: str
    rustc_tested: tuple[str, ...]
    llvm_tested: tuple[tuple[str, str], ...]  # (producer, linker)
    cuda_drivers: dict[int, int]  # CUDA major release -> driver branch
    ptx: tuple[PtxIsa, ...]  # oldest first


@functools.cache
def pins() -> Pins:
    """The pins that this fatcrate ships."""
    with open(PINS, "rb") as stream:
        return decode(tomllib.load(stream))


def decode(data: dict[str, Any]) -> Pins:
    """Makes :class:`Pins` from parsed TOML."""
    return Pins(
        rustc_minimum=data["rustc"]["minimum"],
        rustc_tested=tuple(data["rustc"]["tested"]),
        llvm_tested=tuple((row["producer"], row["linker"]) for row in data["llvm"]["tested"]),
        cuda_drivers={row["release"]: row["driver"] for row in data["cuda"]["major"]},
        ptx=tuple(PtxIsa(row["isa"], row["cuda"], row["driver"]) for row in data["ptx"]),
    )


def check_rustc(version: str) -> Diagnostic | None:
    """A fault when this rustc lacks what the crate step needs."""
    if numbers(version) >= numbers(pins().rustc_minimum):
        return None
    return Diagnostic(
        errors.INCOMPATIBLE,
        "rustc",
        f"version {version} is too old; {pins().rustc_minimum} or newer is needed",
        remedy="apt-get update && apt-get install rustc-web rust-web-src, or: rustup update",
    )


def check_llvm(producer: str, linker: str, *, allow_untested: bool = False) -> Diagnostic | None:
    """A fault unless bitcode of LLVM ``producer`` may be read by LLVM ``linker``."""
    made, reads = numbers(producer), numbers(linker)
    if made[0] != reads[0]:
        newer = "a newer llvmlite" if made[0] > reads[0] else "a newer rustc"
        return Diagnostic(
            errors.INCOMPATIBLE,
            "LLVM",
            f"rustc writes bitcode of LLVM {producer}, the linker reads LLVM {linker}; the"
            " major versions must be equal",
            remedy=f"install {newer}, or a rustc whose LLVM is {reads[0]} (rustc -vV shows it)",
        )
    if made <= reads or allow_untested or (producer, linker) in pins().llvm_tested:
        return None
    pairs = ", ".join(f"{p} read by {q}" for p, q in pins().llvm_tested)
    return Diagnostic(
        errors.UNTESTED_LLVM,
        "LLVM",
        f"rustc's LLVM {producer} is newer than the linker's {linker}, and the pair is not"
        f" among the tested ones ({pairs})",
        remedy=f"pass {ALLOW_UNTESTED} to try it, or: apt-get install rustc-web rust-web-src",
    )


def first_driver(isa: str) -> int:
    """The first driver branch that loads PTX of version ``isa``."""
    for row in pins().ptx:
        if numbers(row.isa) >= numbers(isa):
            return row.driver
    return pins().ptx[-1].driver


def cubin_driver(ptxas: str) -> int:
    """The first driver branch that loads cubins made by ptxas of version ``ptxas``."""
    major = numbers(ptxas)[0]
    known = pins().cuda_drivers
    return known.get(major, max(known.values()))


def minimum_driver(arch: Arch, isa: str, ptxas: str) -> int:
    """The first driver branch that loads an image for ``arch``: cubin or PTX of ``isa``."""
    if arch.is_ptx:
        return first_driver(isa)
    return max(cubin_driver(ptxas), first_driver(isa))


def newest_isa(arch: Arch, oldest: str, newest: str, driver: int, ptxas: str) -> str:
    """The newest PTX ISA in ``oldest`` … ``newest`` that ``driver`` loads; FC0236 if none."""
    needed = minimum_driver(arch, oldest, ptxas)
    if driver < needed:
        reason = f"needs PTX ISA {oldest}"
        if not arch.is_ptx and cubin_driver(ptxas) > driver:
            reason = f"is assembled by ptxas {ptxas}"
        fail(
            errors.DRIVER_TOO_OLD,
            str(arch),
            f"{reason}, which drivers load from branch {needed} on; the build asks for {driver}",
            remedy=f"raise the minimum driver to {needed}, drop {arch}, or use an older CUDA",
        )
    fitting = [
        row.isa
        for row in pins().ptx
        if numbers(oldest) <= numbers(row.isa) <= numbers(newest) and row.driver <= driver
    ]
    return fitting[-1] if fitting else oldest
