"""The archs of a target: groups expanded, every one checked against the toolchain."""

from __future__ import annotations

from collections.abc import Iterable

from fatcrate.toolchain import arch
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Collector, FatcrateError, Location
from fatcrate.toolchain.identity import Identity


def group(name: str, identity: Identity) -> list[Arch]:
    """What ``all`` and ``all-major`` stand for: cubins for every base arch (every first of a
    generation) that the toolchain builds, and PTX of the newest of them for GPUs to come.

    With newer PTX, devices that can run the last cubin would translate the PTX instead."""
    base = [a for text in identity.buildable() for a in arch.parse(text) if not a.suffix]
    base.sort()
    if not base:
        return []
    chosen = base
    if name == "all-major":
        first: dict[int, Arch] = {}
        for candidate in base:
            first.setdefault(candidate.major, candidate)
        chosen = list(first.values())
    return [*chosen, Arch("compute", chosen[-1].number)]


def resolve(
    spellings: Iterable[tuple[str, Location | None]], identity: Identity, faults: Collector
) -> list[Arch]:
    """The archs, sorted, each once. Adds FC0210 and FC0211 to ``faults``, with the place."""
    found: set[Arch] = set()
    for text, location in spellings:
        try:
            members = group(text, identity) if text in ("all", "all-major") else arch.parse(text)
            identity.check_archs(members)
            found.update(members)
        except FatcrateError as error:
            for fault in error.diagnostics:
                faults.add(fault._replace(location=location or fault.location))
    return sorted(found)
