"""The named checks on images: what NVIDIA's packer lets through.

An error means that the file is wrong; a warning that it leaves a device uncovered or carries
dead weight. ``--allow NAME`` silences a check, ``--deny NAME`` makes a warning an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fatcrate.fatbin import cubin, errors, ptx
from fatcrate.fatbin.select import DEVICES, Candidate, accepts, choose, dotted
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import (
    Collector,
    Diagnostic,
    FatcrateError,
    Kind,
    Severity,
    fail,
)


@dataclass(frozen=True)
class Check:
    """One check. ``name`` is what ``--allow`` and ``--deny`` take."""

    name: str
    kind: Kind
    remedy: str


def _check(
    code: str, name: str, title: str, explanation: str, remedy: str, severity: Severity = "error"
) -> Check:
    text = f"{explanation} The check is called `{name}`; `--allow {name}` turns it off."
    return Check(name, Kind(code, title, text, severity=severity), remedy)


SM_MISMATCH = _check(
    "FC0430", "sm-mismatch", "the cubin is for another SM",
    "A cubin's header states another SM number than the arch that it is packed for; the driver"
    " would refuse it.",
    "pack it under the arch that it was assembled for",
)  # fmt: skip
SUFFIX_MISMATCH = _check(
    "FC0431", "suffix-mismatch", "the cubin has another suffix",
    "Code for sm_90a runs on exactly that chip, code for sm_100f on its family. Only the entry's"
    " flags tell; with the wrong suffix a device gets code that it cannot run, or none.",
    "pack it under the arch that it was assembled for",
)  # fmt: skip
TARGET_MISMATCH = _check(
    "FC0432", "target-mismatch", "the PTX is for another target",
    "The `.target` directive names another architecture than the entry; a device that picks"
    " the entry may fail to compile it.",
    "pack it under the arch of its `.target`",
)  # fmt: skip
PTX_VERSION = _check(
    "FC0433", "ptx-version", "the PTX version does not know its target",
    "PTX ISA versions introduce targets; text of an older version with a newer target is"
    " refused by every compiler.",
    "generate the PTX with a newer ISA version",
)  # fmt: skip
WRONG_KIND = _check(
    "FC0434", "kind-mismatch", "the image is of another kind",
    "`sm_NN` stands for a cubin, `compute_NN` for PTX text, and the file is something else.",
    "write compute_NN=FILE for PTX and sm_NN=FILE for a cubin",
)  # fmt: skip
CUT_OFF = _check(
    "FC0435", "cut-off", "the image is cut off",
    "The image ends before its headers or braces say so.",
    "build or copy the image again",
)  # fmt: skip
DUPLICATE = _check(
    "FC0436", "duplicate", "two images for the same arch",
    "Of two images of one kind and arch a device loads only one; the kernels of the other"
    " cannot be reached.",
    "link the code into one image, or pack it into a second fat binary",
)  # fmt: skip
RELOCATABLE = _check(
    "FC0437", "relocatable", "the cubin is not linked",
    "The cubin is a relocatable object (made with `ptxas -c`); the driver loads linked cubins"
    " only.",
    "link it with nvlink, or assemble without -c",
)  # fmt: skip
MISSING_COMPAT = _check(
    "FC0438", "missing-compat", "the cubin has no .nv.compat section",
    "From SM 100 on, a cubin without `.nv.compat` runs on no later chip of its family.",
    "assemble it with the ptxas of CUDA 13",
    "warning",
)  # fmt: skip
NEVER_CHOSEN = _check(
    "FC0440", "never-chosen", "no device would choose this image",
    "On every device that accepts the image, another image of the file ranks higher; it is"
    " dead weight.",
    "leave the image out",
    "warning",
)  # fmt: skip
PTX_BEATS_CUBIN = _check(
    "FC0441", "ptx-beats-cubin", "PTX would be preferred to a compatible cubin",
    "PTX of a higher SM ranks before a cubin of the same major and lower SM, so the device"
    " compiles at load time although it could run the cubin. NVIDIA's guides describe the"
    " opposite, so nobody should depend on either.",
    "add a cubin of the PTX's SM, or lower the PTX's arch",
    "warning",
)  # fmt: skip
UNCOVERED = _check(
    "FC0442", "uncovered-device", "a device has no usable image",
    "The device lies between those that the images are for, yet none of them runs on it.",
    "add a cubin for the device or PTX of its compute capability or an older one",
    "warning",
)  # fmt: skip

CHECKS: Final[tuple[Check, ...]] = (
    SM_MISMATCH, SUFFIX_MISMATCH, TARGET_MISMATCH, PTX_VERSION, WRONG_KIND, CUT_OFF, DUPLICATE,
    RELOCATABLE, MISSING_COMPAT, NEVER_CHOSEN, PTX_BEATS_CUBIN, UNCOVERED,
)  # fmt: skip
NAMES: Final = {check.name: check for check in CHECKS}
KINDS: Final[tuple[Kind, ...]] = tuple(check.kind for check in CHECKS)


class Policy:
    """Which checks are silenced or sharpened; raises FC0409 for a name that does not exist."""

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self.allowed = self._names(allow, "--allow")
        self.denied = self._names(deny, "--deny")

    @staticmethod
    def _names(names: Iterable[str], flag: str) -> frozenset[str]:
        made: set[str] = set()
        for name in names:
            if name == "all":
                made.update(NAMES)
            elif name in NAMES:
                made.add(name)
            else:
                fail(
                    errors.USAGE,
                    name,
                    f"is no check that {flag} could name",
                    remedy=f"choose one of: all, {', '.join(NAMES)}",
                )
        return frozenset(made)

    def report(self, into: Collector, check: Check, subject: str, message: str) -> None:
        """Adds one finding, unless the check is allowed. ``deny`` outranks ``allow``."""
        denied = check.name in self.denied
        if check.name in self.allowed and not denied:
            return
        into.add(
            Diagnostic(
                check.kind,
                subject,
                f"{message} [{check.name}]",
                check.remedy,
                severity_override="error" if denied else None,
            )
        )


def check_image(
    kind: str, arch: Arch, source: Source, policy: Policy, into: Collector, *, entry: bool = False
) -> None:
    """Checks one image against the arch that it is packed for.

    With ``entry`` the arch comes from a container, where LTO-IR and PTX are always virtual.
    """
    subject = source.name
    wanted = {"cubin": "sm", "ptx": "compute", "ltoir": "compute"}[kind]
    if arch.kind != wanted and not (kind == "ltoir" and not entry):
        policy.report(into, WRONG_KIND, subject, f"is {_NOUN[kind]}, not what {arch} stands for")
    try:
        if kind == "cubin":
            _check_cubin(arch, source, policy, into)
        elif kind == "ptx":
            _check_ptx(arch, source, policy, into)
    except FatcrateError as error:
        for diagnostic in error.diagnostics:
            if diagnostic.kind is errors.TRUNCATED:
                policy.report(into, CUT_OFF, subject, diagnostic.message)
            else:
                into.add(diagnostic)


_NOUN = {"cubin": "a cubin", "ptx": "PTX text", "ltoir": "LTO-IR"}


def _check_cubin(arch: Arch, source: Source, policy: Policy, into: Collector) -> None:
    found = cubin.read(source)
    if found.arch.number != arch.number:
        policy.report(
            into, SM_MISMATCH, source.name, f"is for {found.arch}, but is packed for {arch}"
        )
    elif found.suffix_known and found.arch.suffix != arch.suffix:
        policy.report(
            into, SUFFIX_MISMATCH, source.name, f"is for {found.arch}, but is packed for {arch}"
        )
    if found.relocatable:
        policy.report(into, RELOCATABLE, source.name, "is a relocatable cubin")
    if found.arch.number >= 100 and found.compat is None:
        policy.report(into, MISSING_COMPAT, source.name, "has no .nv.compat section")


def _check_ptx(arch: Arch, source: Source, policy: Policy, into: Collector) -> None:
    found = ptx.read(source.all(), source.name)
    if (found.arch.number, found.arch.suffix) != (arch.number, arch.suffix):
        policy.report(
            into,
            TARGET_MISMATCH,
            source.name,
            f"has `.target {found.arch.target_cpu}`, but is packed for {arch}",
        )
    minimum = ptx.MINIMUM_ISA.get(f"{found.arch.number}{found.arch.suffix}")
    if minimum is not None and found.version < minimum:
        policy.report(
            into,
            PTX_VERSION,
            source.name,
            f"is PTX {found.version[0]}.{found.version[1]}, but {found.arch.target_cpu} needs"
            f" at least {minimum[0]}.{minimum[1]}",
        )
    if not found.complete:
        policy.report(into, CUT_OFF, source.name, "has braces that do not balance")


def check_set(
    items: Sequence[Candidate], names: Sequence[str], policy: Policy, into: Collector, file: str
) -> None:
    """Checks the images of one container together. ``names`` are theirs for messages."""
    seen: dict[tuple[str, Arch], str] = {}
    for item, name in zip(items, names, strict=True):
        key = (item.kind, item.arch)
        if key in seen:
            policy.report(
                into, DUPLICATE, name, f"is a second {item.kind} for {item.arch}, after {seen[key]}"
            )
        seen.setdefault(key, name)
    loadable = [item for item in items if item.kind != "ltoir"]
    if loadable:
        _check_selection(loadable, policy, into, file)


def _check_selection(
    items: Sequence[Candidate], policy: Policy, into: Collector, file: str
) -> None:
    chosen: set[Candidate] = set()
    beaten: dict[tuple[str, str], list[str]] = {}
    uncovered: list[int] = []
    low = min(i.arch.number for i in items)
    high = max(i.arch.number for i in items)
    majors = {i.arch.major for i in items}
    for device in DEVICES:
        result = choose(items, device)
        if result.index is None:
            if low < device and (device < high or device // 10 in majors):
                uncovered.append(device)
            continue
        best = items[result.index]
        chosen.add(best)
        if best.kind == "ptx":
            rivals = [i for i in items if i.kind == "cubin" and accepts(i, device)]
            if rivals:
                pair = (str(best), str(max(rivals, key=lambda i: i.rank)))
                beaten.setdefault(pair, []).append(dotted(device))
    for (winner, loser), devices in beaten.items():
        policy.report(
            into,
            PTX_BEATS_CUBIN,
            file,
            f"{winner} would be preferred to {loser} on {', '.join(devices)}",
        )
    for item in items:
        newest = item.kind == "ptx" and item.arch.number == high
        unknown = item.arch.number not in DEVICES
        if item not in chosen and not newest and not unknown:
            policy.report(into, NEVER_CHOSEN, file, f"no device would choose {item}")
    if uncovered:
        policy.report(
            into,
            UNCOVERED,
            file,
            f"no image runs on {', '.join(dotted(d) for d in uncovered)}",
        )
