"""Refuses crates that the GPU cannot have, with what pulled them in and what turns them off."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from fatcrate.rules.cargo import cfgexpr, errors, nostd, why
from fatcrate.rules.cargo.graph import Graph, Unit
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Kind


def check(graph: Graph, printed_cfgs: str, faults: Collector) -> None:
    """Adds FC0152 for each crate for the GPU that needs `std`, FC0153 for those of them whose
    point is a native library."""
    cfgs = cfgexpr.printed_cfgs(printed_cfgs)
    found = []
    for unit in graph.units.values():
        if not unit.device:
            continue
        try:
            source = Path(unit.raw["target"]["src_path"]).read_text("utf-8", errors="replace")
        except OSError:
            continue  # rustc will say that the source is missing
        need = nostd.need(source, cfgs, set(unit.features))
        if need is not None:
            found.append((unit, need, _causes(graph, unit, need)))
    hopeless = {u.index for u, need, causes in found if not need.features and not causes}
    kept = _without(graph, hopeless)
    for unit, need, causes in found:
        if unit.index in kept:
            native = None if need.features else _native_library(unit)
            what = _native(native) if native else _std(graph, unit, need)
            faults.add(_refusal(graph, unit, what, causes))


def _without(graph: Graph, hopeless: set[int]) -> set[int]:
    """The units that are there whatever becomes of those that are beyond help: the others go
    when these go, and are no faults of their own. The hopeless ones are among them."""
    found: set[int] = set()
    todo = list(graph.roots)
    while todo:
        index = todo.pop()
        if index not in found:
            found.add(index)
            if index not in hopeless or index in graph.roots:
                todo += [dep for _, dep in graph.units[index].deps]
    return found


def _causes(graph: Graph, unit: Unit, need: nostd.Need) -> list[why.Cause]:
    """What the user can do: for each remedy the shortest chain, own manifests first."""
    if need.features:
        causes = [c for feature in need.features for c in why.causes(graph, unit.index, feature)]
    else:
        causes = why.presence(graph, unit.index)
    causes.sort(key=lambda cause: (not cause.own, len(cause.chain)))
    first: dict[str, why.Cause] = {}
    for cause in causes:
        first.setdefault(cause.remedy, cause)
    return list(first.values())


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


class _Fault(NamedTuple):
    """What is wrong, and the remedy where nothing better is known."""

    kind: Kind
    text: str
    remedy: str


def _native(library: str) -> _Fault:
    text = f"is there for the native library '{library}', machine code for a CPU"
    return _Fault(errors.NATIVE_LINK, text, "use a crate in pure Rust")


def _std(graph: Graph, unit: Unit, need: nostd.Need) -> _Fault:
    text = f"needs `std`: {need.reason}"
    if need.features:
        features = " or ".join(f"`{feature}`" for feature in need.features)
        text += f" while its feature {features} is on"
        # Reached only when no dependency of a crate for the GPU asks for it: see why.causes.
        remedy = (
            'write `resolver = "2"` into the [workspace] or [package] of the root Cargo.toml:'
            " then features that only procedural macros, build scripts or tests ask for do not"
            " count here"
        )
    elif unit.index in graph.roots:
        remedy = (
            f"begin {os.path.relpath(unit.raw['target']['src_path'])} with #![no_std]; when it is"
            " code of the host, name the packages with kernels by -p or give them a"
            " [package.metadata.fatcrate] table"
        )
    else:
        remedy = f"{unit.package.name} has no feature that turns `std` off: use another crate"
    return _Fault(errors.NEEDS_STD, text, remedy)


#: More chains than that are of no help.
_MOST_CHAINS = 4


def _refusal(graph: Graph, unit: Unit, what: _Fault, causes: list[why.Cause]) -> Diagnostic:
    chains = [cause.note() for cause in causes] or [" -> ".join(why.chain(graph, unit.index))]
    notes = [f"pulled in by {chain}" for chain in chains[:_MOST_CHAINS]]
    if len(chains) > _MOST_CHAINS:
        notes.append(f"and in {len(chains) - _MOST_CHAINS} more ways")
    remedy = "; and ".join(cause.remedy for cause in causes) or what.remedy
    return Diagnostic(what.kind, str(unit.package), what.text, remedy, notes=tuple(notes))
