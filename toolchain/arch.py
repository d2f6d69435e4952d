"""Architectures: what one image is for.

Spellings (all parsed without a closed list; ordering is numeric, so 10.0 > 9.0):

* ``sm_90``, ``sm_90a`` (exactly this chip), ``sm_100f`` (its family): a cubin;
* ``compute_90``: PTX text for the driver's JIT;
* ``9.0``, ``9.0a``, ``12.1``, ``10.0f``: the same as ``sm_…``; with ``+PTX`` the PTX too;
* ``gfx90a``, ``gfx942``, ``gfx9-4-generic``: an AMD code object.

What the installed tools can build is not known here: see ``identity.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import total_ordering
from typing import Literal, NamedTuple

from fatcrate.toolchain import errors
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, fail

ArchKind = Literal["sm", "compute", "gfx"]

# Compiled (0.5 ms each) when first used.
_NVIDIA = r"(sm|compute)_([1-9][0-9]{1,2})([af]?)"
_DOTTED = r"([1-9][0-9]?)\.([0-9])([af]?)(\+PTX)?"
_GFX = r"gfx([1-9][0-9]?)([0-9])([0-9a-f])"
_GFX_GENERIC = r"gfx([1-9][0-9]?)(?:-([0-9]))?-generic"

_KINDS = {"sm": 0, "compute": 1, "gfx": 2}
_SUFFIXES = {"": 0, "f": 1, "a": 2}

SPELLINGS = "sm_90, sm_90a, sm_100f, compute_90, 9.0, 9.0a, 9.0+PTX"


@total_ordering
class Arch:
    """One architecture, never changed. ``number`` is major * 10 + minor for NVIDIA (90, 121);
    ``suffix`` is "", "a" or "f", and for AMD the text after "gfx"."""

    __slots__ = ("kind", "number", "suffix")

    def __init__(self, kind: ArchKind, number: int, suffix: str = "") -> None:
        self.kind: ArchKind = kind
        self.number = number
        self.suffix = suffix

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arch) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.kind, self.number, self.suffix))

    def __repr__(self) -> str:
        return f"Arch({self.kind!r}, {self.number}, {self.suffix!r})"

    def __str__(self) -> str:
        if self.kind == "gfx":
            return f"gfx{self.suffix}"
        return f"{self.kind}_{self.number}{self.suffix}"

    @property
    def is_ptx(self) -> bool:
        """True for a virtual architecture: its image is PTX text."""
        return self.kind == "compute"

    @property
    def target_cpu(self) -> str:
        """The name that LLVM and ptxas know it by: ``sm_90a`` for ``compute_90a`` too."""
        return str(self) if self.kind == "gfx" else f"sm_{self.number}{self.suffix}"

    @property
    def major(self) -> int:
        return self.number // 10

    @property
    def minor(self) -> int:
        return self.number % 10

    @property
    def compute_capability(self) -> str:
        """``9.0a`` for ``sm_90a``."""
        return f"{self.major}.{self.minor}{self.suffix}"

    def _key(self) -> tuple[int, int, int, str]:
        return (_KINDS[self.kind], self.number, _SUFFIXES.get(self.suffix, 3), self.suffix)

    def __lt__(self, other: Arch) -> bool:
        return self._key() < other._key()


def parse(text: str) -> list[Arch]:
    """Parses one spelling; ``9.0+PTX`` gives two arches. Raises FC0210 with the spellings."""
    if match := re.fullmatch(_NVIDIA, text):
        kind: ArchKind = "sm" if match[1] == "sm" else "compute"
        return [Arch(kind, int(match[2]), match[3])]
    if match := re.fullmatch(_DOTTED, text):
        number = int(match[1]) * 10 + int(match[2])
        archs = [Arch("sm", number, match[3])]
        return [*archs, Arch("compute", number, match[3])] if match[4] else archs
    if match := re.fullmatch(_GFX, text):
        stepping = int(match[3], 16)
        return [Arch("gfx", int(match[1]) * 1000 + int(match[2]) * 100 + stepping, text[3:])]
    if match := re.fullmatch(_GFX_GENERIC, text):
        return [Arch("gfx", int(match[1]) * 1000 + int(match[2] or 0) * 100, text[3:])]
    fail(
        errors.BAD_ARCH,
        text,
        "is not an architecture",
        remedy=f"{_nearest(text)}write it like one of: {SPELLINGS}",
    )


def usual() -> list[str]:
    """Names to propose where no toolchain tells which it has."""
    known = []
    for number in (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121):
        known += [f"sm_{number}", f"compute_{number}"]
        known += [f"sm_{number}a"] * (number >= 90) + [f"sm_{number}f"] * (number >= 100)
    return known


def _nearest(text: str) -> str:
    """``did you mean 'sm_90'? `` with a blank behind it, or nothing."""
    import difflib

    near = difflib.get_close_matches(text.lower(), [*usual(), "all", "all-major"], 1, 0.74)
    return f"did you mean '{near[0]}'? " if near else ""


def parse_one(text: str) -> Arch:
    """Parses a spelling that must stand for exactly one arch."""
    archs = parse(text)
    if len(archs) != 1:
        fail(
            errors.BAD_ARCH,
            text,
            "stands for two architectures where one is wanted",
            remedy=f"write {archs[0]} or {archs[1]}",
        )
    return archs[0]


def parse_list(texts: Iterable[str]) -> list[Arch]:
    """Parses spellings separated by commas or spaces; sorts and drops duplicates.

    All faulty spellings are reported together.
    """
    archs: set[Arch] = set()
    faults: list[Diagnostic] = []
    for item in texts:
        for text in item.replace(",", " ").split():
            try:
                archs.update(parse(text))
            except FatcrateError as error:
                faults.extend(error.diagnostics)
    if faults:
        raise FatcrateError(*faults)
    return sorted(archs)


class Feature(NamedTuple):
    """A hardware feature that device code asks for with ``gpu::has(Feature::Name)``.

    ``id`` is the number that crosses from Rust (``toolchain/device/gpu/src/feature.rs``) to
    CODEGEN; a test holds both lists equal. ``minimum`` is the first SM that has it;
    ``only`` (if not empty) are the exact targets, suffix included, that have it.
    Source: PTX ISA 9.0, "Target ISA notes" of the named instruction.
    """

    id: int
    name: str
    minimum: int
    only: tuple[str, ...] = ()
    doc: str = ""


def _targets(accelerated: Iterable[int], family: Iterable[int] = ()) -> tuple[str, ...]:
    return tuple([f"sm_{n}a" for n in accelerated] + [f"sm_{n}f" for n in family])


FEATURES: tuple[Feature, ...] = (
    Feature(0, "F16Arithmetic", 53, doc="add/mul/fma on f16"),
    Feature(1, "DotProduct4", 61, doc="dp4a, dp2a"),
    Feature(2, "LdMatrix", 75, doc="ldmatrix"),
    Feature(3, "CpAsync", 80, doc="cp.async (non-bulk)"),
    Feature(4, "Bf16Arithmetic", 80, doc="fma.rn.bf16"),
    Feature(5, "MBarrier", 80, doc="mbarrier objects"),
    Feature(6, "ReduxSync", 80, doc="redux.sync on integers"),
    Feature(7, "Fp8Convert", 89, doc="cvt to and from e4m3, e5m2"),
    Feature(8, "Cluster", 90, doc="thread block clusters, distributed shared memory"),
    Feature(9, "BulkCopy", 90, doc="cp.async.bulk and tensor copies (TMA)"),
    Feature(10, "ElectSync", 90, doc="elect.sync"),
    Feature(11, "GridDependencyControl", 90, doc="griddepcontrol"),
    Feature(12, "StMatrix", 90, doc="stmatrix"),
    Feature(13, "Wgmma", 90, _targets([90]), doc="wgmma.mma_async: sm_90a alone"),
    Feature(
        14,
        "SetMaxNReg",
        90,
        _targets([90, 100, 101, 103, 110, 120, 121], [100, 101, 103, 110, 120, 121]),
        doc="setmaxnreg",
    ),
    Feature(
        15,
        "Tcgen05",
        100,
        _targets([100, 101, 103, 110], [100, 101, 103, 110]),
        doc="tcgen05.* (fifth-generation tensor core)",
    ),
    Feature(16, "PackedF32", 100, doc="add/mul/fma on f32x2"),
)


def has_feature(arch: Arch, feature: Feature) -> bool:
    """Whether code generated for ``arch`` may use ``feature``. AMD has none of this table."""
    if arch.kind == "gfx":
        return False
    if feature.only:
        return arch.target_cpu in feature.only
    return arch.number >= feature.minimum
