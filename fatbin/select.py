"""Which image of a container a device uses, and why (``fatcrate select``).

A device is a chip, given by its compute capability; it runs code for its own ``a`` target, so
``9.0``, ``sm_90`` and ``sm_90a`` name the same device. The rules were measured with nvJitLink,
which selects as the loader does and needs no GPU; tests repeat the comparison. Where NVIDIA's
guides or user reports tell something else, the verdict says ``contradicted``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from fatcrate.fatbin import constants as c
from fatcrate.toolchain.arch import Arch

if TYPE_CHECKING:
    from fatcrate.fatbin.model import Image

Verdict = Literal["measured", "documented", "contradicted"]

#: Compute capabilities that CUDA 13 knows (times ten), and older ones that CUDA 12 libraries
#: hold code for. Only the former can be measured with nvJitLink 13.
MEASURED_DEVICES: Final = (75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121)
OLDER_DEVICES: Final = (50, 52, 53, 60, 61, 62, 70, 72)
DEVICES: Final = (*OLDER_DEVICES, *MEASURED_DEVICES)

#: Embedded chips: older guides restrict the exchange of cubins with desktop chips.
TEGRA: Final = frozenset({53, 62, 72, 87, 88, 101, 110})

#: Chips that rank a cubin of their major like any other but cannot run it: (cubin, device).
#: 10.7 refuses code of 10.0 and 10.3, and does not fall back to PTX.
_BROKEN: Final = frozenset({(100, 107), (103, 107)})

_KIND_RANK = {"cubin": 1, "ptx": 0, "ltoir": 0}
_SUFFIX_RANK = {"a": 2, "f": 1, "": 0}


class Candidate(NamedTuple):
    """What selection looks at in one image."""

    kind: str  # "cubin", "ptx" or "ltoir"
    arch: Arch
    has_compat: bool = True

    @property
    def rank(self) -> tuple[int, int, int]:
        """Higher is better: SM number, then cubin over PTX, then a over f over base."""
        return (self.arch.number, _KIND_RANK.get(self.kind, 0), _SUFFIX_RANK[self.arch.suffix])

    def __str__(self) -> str:
        return f"{self.kind} {self.arch}"


class Selection:
    """The outcome for one device.

    ``index`` is that of the candidate, None for no image; ``unusable`` that of one which is
    chosen but cannot run.
    """

    __slots__ = ("device", "index", "reason", "unusable", "verdict")

    def __init__(
        self,
        device: int,
        index: int | None,
        reason: str,
        verdict: Verdict,
        unusable: int | None = None,
    ) -> None:
        self.device = device
        self.index = index
        self.reason = reason
        self.verdict: Verdict = verdict
        self.unusable = unusable


def candidate(image: Image) -> Candidate | None:
    """The candidate that an image is; None for kinds that no loader takes."""
    if image.kind not in _KIND_RANK or image.arch is None or image.arch.kind == "gfx":
        return None
    return Candidate(image.kind, image.arch, bool(image.flags & c.FLAG_COMPAT))


def accepts(item: Candidate, device: int) -> bool:
    """Whether ``item`` takes part in the ranking for ``device`` (compute capability × 10)."""
    number, suffix = item.arch.number, item.arch.suffix
    if suffix == "a":
        return number == device
    if item.kind == "cubin":
        if number == device:
            return True
        forward = number < c.COMPAT_MINIMUM_SM or item.has_compat
        return number // 10 == device // 10 and number < device and forward
    if suffix == "f":
        return number // 10 == device // 10 and number <= device
    return number <= device


def choose(items: Sequence[Candidate | None], device: int, *, exact: bool = False) -> Selection:
    """The image that ``device`` uses. LTO-IR is left out: no driver loads it from a container.

    With ``exact`` only a cubin of the device's own SM counts.
    """
    known: Verdict = "measured" if device in MEASURED_DEVICES else "documented"
    usable = [
        (item.rank, -index)
        for index, item in enumerate(items)
        if item is not None and item.kind != "ltoir" and accepts(item, device)
    ]
    if exact:
        usable = [u for u in usable if _at(items, -u[1]).arch.number == device
                  and _at(items, -u[1]).kind == "cubin"]  # fmt: skip
    if not usable:
        return Selection(device, None, _nothing(items, device, exact), known)
    best = -max(usable)[1]
    item = _at(items, best)
    if item.kind == "cubin" and (item.arch.number, device) in _BROKEN:
        reason = (
            f"{item} ranks first, but {dotted(device)} cannot run it and does not fall back to PTX"
        )
        return Selection(device, None, reason, known, unusable=best)
    reason, verdict = _explain(items, best, device, known)
    return Selection(device, best, reason, verdict)


def _at(items: Sequence[Candidate | None], index: int) -> Candidate:
    item = items[index]
    assert item is not None
    return item


def _explain(
    items: Sequence[Candidate | None], best: int, device: int, known: Verdict
) -> tuple[str, Verdict]:
    item = _at(items, best)
    if item.kind == "ptx":
        beaten = [
            other
            for other in items
            if other is not None and other.kind == "cubin" and accepts(other, device)
        ]
        if beaten:
            return (
                f"PTX of {dotted(item.arch.number)} is newer than {max(beaten, key=_rank)};"
                " NVIDIA's guides say that a compatible cubin comes first",
                "contradicted",
            )
        return f"no cubin runs on {dotted(device)}; the driver compiles this PTX", known
    if item.arch.number == device:
        extra = {"a": ", code for exactly this chip", "f": ", code for this family"}
        return f"cubin of the device's own SM{extra.get(item.arch.suffix, '')}", known
    if device in TEGRA or item.arch.number in TEGRA:
        return (
            f"cubin of the same major, {dotted(item.arch.number)} <= {dotted(device)};"
            " older guides keep embedded and desktop chips apart",
            "contradicted",
        )
    return f"cubin of the same major, {dotted(item.arch.number)} <= {dotted(device)}", known


def _rank(item: Candidate) -> tuple[int, int, int]:
    return item.rank


def _nothing(items: Sequence[Candidate | None], device: int, exact: bool) -> str:
    if exact:
        return f"no cubin for sm_{device}"
    present = [i for i in items if i is not None and i.kind != "ltoir"]
    if not present:
        return "there is neither a cubin nor PTX"
    if all(i.arch.number > device for i in present):
        return f"every image is newer than {dotted(device)}"
    return f"no cubin of the same major up to {dotted(device)}, and no PTX that it may compile"


def dotted(number: int) -> str:
    """``8.9`` for 89."""
    return f"{number // 10}.{number % 10}"
