"""Runs the named checks on images: what NVIDIA's packer lets through."""

from __future__ import annotations

from collections.abc import Sequence

from fatcrate.fatbin import cubin, errors
from fatcrate.fatbin.checks import (
    CUT_OFF,
    DUPLICATE,
    MISSING_COMPAT,
    NEVER_CHOSEN,
    PTX_BEATS_CUBIN,
    PTX_VERSION,
    RELOCATABLE,
    SM_MISMATCH,
    SUFFIX_MISMATCH,
    TARGET_MISMATCH,
    UNCOVERED,
    WRONG_KIND,
)
from fatcrate.fatbin.policy import Policy
from fatcrate.fatbin.select import DEVICES, Candidate, accepts, choose, dotted
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Collector, FatcrateError


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
        else:
            _check_ltoir(arch, source, policy, into)
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
    from fatcrate.fatbin import ptx  # its expressions take a while to compile

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


def _check_ltoir(arch: Arch, source: Source, policy: Policy, into: Collector) -> None:
    from fatcrate.fatbin import ltoir

    found = ltoir.target(source)
    specific = arch.suffix == "a"
    if found and (found.number, found.suffix == "a") != (arch.number, specific):
        policy.report(
            into, TARGET_MISMATCH, source.name, f"is LTO-IR for {found}, but is packed for {arch}"
        )


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
    refused: dict[Candidate, list[int]] = {}  # a cubin that ranks first -> who cannot run it
    low = min(i.arch.number for i in items)
    high = max(i.arch.number for i in items)
    majors = {i.arch.major for i in items}
    for device in DEVICES:
        result = choose(items, device)
        if result.unusable is not None:
            refused.setdefault(items[result.unusable], []).append(device)
            continue
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
    for item, refusing in refused.items():
        who = ", ".join(dotted(d) for d in refusing)
        policy.report(
            into,
            UNCOVERED,
            file,
            f"no image runs on {who}: {item} ranks first there, but cannot run, and PTX of its SM"
            " or an older one is not fallen back to",
            f"add a cubin or PTX for an SM above {item.arch.number} that {who} accepts, where your"
            " ptxas has one, or leave the cubin out",
        )
