"""The identity of a toolchain: versions and digests, no paths.

It travels as ``toolchain.json`` (JSON, sorted keys) and is an input of every step, so that a
new compiler or assembler rebuilds what it made. Two machines with equal tools write equal
bytes. What the tools can build was asked of them once (``probe.py``) and is stored here.
"""

import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from fatcrate.toolchain import errors, schema
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, fail
from fatcrate.toolchain.versions import numbers

VERSION = 1

_NO_ITEMS: Any = {}  # a default; nobody changes what a record holds


class Rustc(NamedTuple):
    """The compiler. ``sha256`` covers the driver library and its LLVM too."""

    version: str
    commit: str
    llvm: str  # version of the LLVM that writes the bitcode
    host: str  # host triple
    sha256: str


class Llvm(NamedTuple):
    """The LLVM that links and generates code. ``min_ptx_isa``: per arch, LLVM's default."""

    package: str
    version: str
    archs: list[str]
    max_ptx_isa: str
    min_ptx_isa: dict[str, str] = _NO_ITEMS


class Ptxas(NamedTuple):
    """NVIDIA's assembler."""

    version: str
    sha256: str
    archs: list[str]
    max_ptx_isa: str


class Libdevice(NamedTuple):
    """NVIDIA's math library in bitcode."""

    sha256: str


class RustSrc(NamedTuple):
    """``core`` and friends: ``kind`` is ``source`` or ``prebuilt`` (rustup's nvptx target)."""

    version: str
    sha256: str
    kind: str = "source"


class HostLinker(NamedTuple):
    """The C compiler that links proc-macro crates and host programs."""

    version: str
    sha256: str


class Fatcrate(NamedTuple):
    """Ourselves: ``sha256`` covers the sources of the steps."""

    version: str
    sha256: str


class Python(NamedTuple):
    """The interpreter of the steps, and the packages whose output reaches our files."""

    version: str
    packages: dict[str, str] = _NO_ITEMS


class Identity(NamedTuple):
    """All of it."""

    rustc: Rustc
    llvm: Llvm
    ptxas: Ptxas
    libdevice: Libdevice
    rust_src: RustSrc
    host_linker: HostLinker
    python: Python
    fatcrate: Fatcrate
    version: int = VERSION

    def to_json(self) -> str:
        """The canonical text: byte-identical for equal identities."""
        return json.dumps(schema.plain(self), indent=2, sort_keys=True) + "\n"

    def versions(self) -> dict[str, str]:
        """Tool -> version, as manifests and reports record it."""
        return {
            "fatcrate": self.fatcrate.version,
            "llvm": self.llvm.version,
            "ptxas": self.ptxas.version,
            "rustc": self.rustc.version,
        }

    def check_arch(self, arch: Arch) -> None:
        """Raises FC0211, naming the archs that can be built, unless ``arch`` is one."""
        lacking = self._lacking(arch)
        if lacking:
            raise FatcrateError(_unknown_arch(arch, lacking, self.buildable(arch.kind)))

    def check_archs(self, archs: Iterable[Arch]) -> None:
        """:meth:`check_arch` for each; all faults are raised together."""
        faults = Collector()
        for arch in archs:
            try:
                self.check_arch(arch)
            except FatcrateError as error:
                faults.absorb(error)
        faults.check()

    def buildable(self, kind: str = "sm") -> list[str]:
        """Names of the archs of ``kind`` ("sm", "compute") that every needed tool knows."""
        if kind == "gfx":
            return []
        if kind == "compute":
            return [name.replace("sm_", "compute_") for name in self.llvm.archs]
        return [name for name in self.llvm.archs if name in self.ptxas.archs]

    def _lacking(self, arch: Arch) -> list[str]:
        if arch.kind == "gfx":
            return ["this fatcrate"]
        lacking = []
        if arch.target_cpu not in self.llvm.archs:
            lacking.append(f"LLVM {self.llvm.version}")
        if not arch.is_ptx and arch.target_cpu not in self.ptxas.archs:
            lacking.append(f"ptxas {self.ptxas.version}")
        return lacking

    def ptx_isa_for(self, arch: Arch, min_driver: int | None = None, at_least: str = "0") -> str:
        """The PTX ISA version to write for ``arch``, e.g. ``"7.8"``.

        Without ``min_driver`` the oldest that has the arch, so that the most drivers load
        it; with it (a driver branch such as 535) the newest that this driver loads and both
        LLVM and ptxas know. What the text uses may need ``at_least`` some version. Raises
        FC0211 for an arch that cannot be built and FC0236 when no driver that old knows the
        arch.
        """
        self.check_arch(arch)
        oldest = max(self.llvm.min_ptx_isa[arch.target_cpu], at_least, key=numbers)
        newest = min(self.llvm.max_ptx_isa, self.ptxas.max_ptx_isa, key=numbers)
        if numbers(oldest) > numbers(newest):
            fail(
                errors.INCOMPATIBLE,
                str(arch),
                f"needs PTX ISA {oldest}; ptxas {self.ptxas.version} reads up to"
                f" {self.ptxas.max_ptx_isa}",
                remedy="pip install --upgrade nvidia-cuda-nvcc",
            )
        if min_driver is None:
            return oldest
        from fatcrate.toolchain import compat  # reads its tables, which takes long

        return compat.newest_isa(arch, oldest, newest, min_driver, self.ptxas.version)


def _unknown_arch(arch: Arch, lacking: list[str], known: list[str]) -> Diagnostic:
    """FC0211, with the nearest archs first in the remedy."""
    subject = " and ".join(lacking)
    verb = "does" if len(lacking) == 1 else "do"
    if not known:
        return Diagnostic(
            errors.UNKNOWN_ARCH, str(arch), f"{subject} {verb} not build {arch.kind} architectures"
        )
    older = [name for name in known if _number(name) <= arch.number]
    newer = [name for name in known if _number(name) > arch.number]
    near = older[-1:] + newer[:1]
    return Diagnostic(
        errors.UNKNOWN_ARCH,
        str(arch),
        f"{subject} {verb} not know {arch.target_cpu}; nearest: {', '.join(near)}",
        remedy=f"choose from: {', '.join(known)}",
    )


def _number(name: str) -> int:
    return int("".join(c for c in name if c.isdigit()))


def loads(text: str, file: str = "<toolchain>") -> Identity:
    """Reads an identity from text. Raises FC0234 naming the field that is wrong."""
    return schema.loads(
        Identity, text, root="toolchain", version=VERSION, file=file, kind=errors.BAD_IDENTITY
    )


def load(path: str | os.PathLike[str]) -> Identity:
    """Reads ``toolchain.json``. Raises FC0234, or ``OSError`` when it cannot be read."""
    return schema.load(Identity, path, root="toolchain", version=VERSION, kind=errors.BAD_IDENTITY)
