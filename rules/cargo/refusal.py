"""Refuses crates that the GPU cannot have, with what pulled them in and what turns them off."""

from __future__ import annotations

from pathlib import Path

from fatcrate.rules.cargo import cfgexpr, errors, nostd, why
from fatcrate.rules.cargo.graph import Graph, Unit
from fatcrate.toolchain.diagnostics import Collector, Diagnostic


def check(graph: Graph, printed_cfgs: str, faults: Collector) -> None:
    """Adds FC0152 for each crate for the GPU that needs `std`, FC0153 for those of them whose
    point is a native library."""
    cfgs = cfgexpr.printed_cfgs(printed_cfgs)
    for unit in graph.units.values():
        if not unit.device:
            continue
        try:
            source = Path(unit.raw["target"]["src_path"]).read_text("utf-8", errors="replace")
        except OSError:
            continue  # rustc will say that the source is missing
        need = nostd.need(source, cfgs, set(unit.features))
        if need is None:
            continue
        native = None if need.features else _native_library(unit)
        faults.add(_native(graph, unit, native) if native else _refusal(graph, unit, need))


#: Packages that build scripts use to make or to find libraries of machine code.
_NATIVE_TOOLS = frozenset(
    ("autotools", "bindgen", "cc", "cmake", "nasm-rs", "pkg-config", "system-deps", "vcpkg")
)


def _native_library(unit: Unit) -> str | None:
    """The native library of a package that says so: a `links` key (which alone may only claim a
    name), and a name or a tool of the build script as such packages have them."""
    manifest = unit.package.manifest
    tools = {spec["name"] for spec in manifest["dependencies"] if spec["kind"] == "build"}
    named = unit.package.name.endswith("-sys") or tools & _NATIVE_TOOLS
    return str(manifest["links"]) if manifest["links"] and named else None


def _native(graph: Graph, unit: Unit, library: str) -> Diagnostic:
    chain = " -> ".join(why.chain(graph, unit.index))
    return Diagnostic(
        errors.NATIVE_LINK,
        str(unit.package),
        f"is there for the native library '{library}', machine code for a CPU",
        "turn off the feature that needs the library, or use a crate in pure Rust",
        notes=(f"pulled in by {chain}",),
    )


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
