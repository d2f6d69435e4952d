"""Refuses crates that the GPU cannot have, with what pulled them in and what turns them off."""

from __future__ import annotations

from pathlib import Path

from fatcrate.rules.cargo import cfgexpr, errors, nostd, why
from fatcrate.rules.cargo.graph import Graph, Unit
from fatcrate.toolchain.diagnostics import Collector, Diagnostic


def check(graph: Graph, printed_cfgs: str, faults: Collector) -> None:
    """Adds FC0152 for each crate for the GPU that needs `std`."""
    cfgs = cfgexpr.printed_cfgs(printed_cfgs)
    for unit in graph.units.values():
        if not unit.device:
            continue
        try:
            source = Path(unit.raw["target"]["src_path"]).read_text("utf-8", errors="replace")
        except OSError:
            continue  # rustc will say that the source is missing
        need = nostd.need(source, cfgs, set(unit.features))
        if need is not None:
            faults.add(_refusal(graph, unit, need))


def _refusal(graph: Graph, unit: Unit, need: nostd.Need) -> Diagnostic:
    causes = [c for feature in need.features for c in why.causes(graph, unit.index, feature)]
    # What the user can edit comes first; of chains to the same remedy the first is enough.
    causes = sorted(causes, key=lambda cause: not cause.own)
    remedies = list(dict.fromkeys(cause.remedy for cause in causes))
    if causes:
        notes = [f"pulled in by {note}" for note in dict.fromkeys(c.note() for c in causes)]
        remedy = "; and ".join(remedies)
    else:
        notes = [f"pulled in by {' -> '.join(why.chain(graph, unit.index))}"]
        remedy = (
            f"turn off feature {' or '.join(f'`{f}`' for f in need.features)} of it"
            if need.features
            else f"{unit.package.name} has no feature that turns `std` off: use another crate"
        )
        if unit.index in graph.roots and not need.features:
            remedy = f"begin {unit.raw['target']['src_path']} with #![no_std]"
    text = f"needs `std`: {need.reason}"
    if need.features:
        text += f" while its feature {' or '.join(f'`{f}`' for f in need.features)} is on"
    return Diagnostic(errors.NEEDS_STD, str(unit.package), text, remedy, notes=tuple(notes))
