"""Plans an import: asks cargo, refuses what cannot work, brings sources, names crates."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fatcrate.rules.cargo import errors, graph, lints, package_env, refusal, vendor
from fatcrate.rules.cargo.graph import Crate, Graph, Package
from fatcrate.rules.cargo.invoke import Cargo, Selection
from fatcrate.rules.cargo.model import Entry, Import, Kernels, Script
from fatcrate.rules.cargo.table import Tables
from fatcrate.rules.ninja import archs
from fatcrate.toolchain.diagnostics import Collector, FatcrateError, fail
from fatcrate.toolchain.identity import Identity


@dataclass(frozen=True)
class Options:
    """``folder`` is the project's, absolute; ``vendor_dir`` is relative to it."""

    folder: str
    vendor_dir: str
    identity: Identity
    archs: tuple[str, ...] = ()


def plan(cargo: Cargo, selection: Selection, options: Options) -> Import:
    """The imported project; its sources are in place. Raises FC0150 to FC0159."""
    metadata = cargo.metadata()
    known = graph.packages(metadata)
    if not selection.packages:
        selection = _with_packages(selection, metadata, known)
    unit_graph = cargo.unit_graph(selection)
    if any(unit["pkg_id"] not in known for unit in unit_graph["units"]):
        known = graph.packages(cargo.metadata(all_features=True))  # of optional dependencies
    units = graph.read(unit_graph, known)
    crates, of_unit = graph.crates(units, is_device_library)
    faults = Collector()
    refusal.check(units, cargo.cfgs(), faults)
    kernels = _kernels(units, of_unit, metadata, options, faults)
    faults.check()
    folders = _folders(crates, metadata, options)
    workspace = metadata["workspace_root"]
    builtin = {key for key, crate in crates.items() if is_device_library(crate.package)}
    for root in units.roots:
        crates[of_unit[root]] = _with_device_library(crates[of_unit[root]])
    entries = tuple(
        _entry(crate, folders[crate.package.id], options, workspace)
        for key, crate in crates.items()
        if key not in builtin
    )
    return Import(
        os.path.relpath(cargo.manifest, options.folder),
        entries,
        kernels,
        {graph.DEVICE_LIBRARY: graph.DEVICE_LIBRARY}
        | {key: crate.name for key, crate in crates.items()},
    )


def _with_device_library(crate: Crate) -> Crate:
    """A crate of kernels may use the device library without naming it."""
    name = graph.DEVICE_LIBRARY
    if any(extern == name for extern, _ in crate.deps):
        return crate
    deps = sorted([*crate.deps, (name, name)], key=lambda pair: (pair[1], pair[0]))
    return dataclasses.replace(crate, deps=tuple(deps))


def is_device_library(package: Package) -> bool:
    """Whether this is fatcrate's own crate `gpu`, whose source is always there."""
    import fatcrate.toolchain

    ours = Path(fatcrate.toolchain.__file__).resolve().parent / "device" / "gpu"
    return package.name == graph.DEVICE_LIBRARY and Path(package.folder).resolve() == ours


def _with_packages(
    selection: Selection, metadata: dict[str, Any], known: dict[str, Package]
) -> Selection:
    """The packages with a `fatcrate` table, or else the default members with a library."""
    members = [known[i] for i in metadata["workspace_members"]]
    default = set(metadata.get("workspace_default_members", metadata["workspace_members"]))
    chosen = [p for p in members if _has_table(p)]
    if not chosen:
        chosen = [
            p
            for p in members
            if p.id in default and any(_is_library(t) for t in p.manifest["targets"])
        ]
    if not chosen:
        fail(
            errors.NOTHING_TO_BUILD,
            os.path.relpath(os.path.join(metadata["workspace_root"], "Cargo.toml")),
            "no package has a library",
            remedy="put the kernels into src/lib.rs of a package",
        )
    names = tuple(package.name for package in chosen)
    return Selection(
        names,
        selection.features,
        selection.all_features,
        selection.no_default_features,
        selection.profile,
    )


def _has_table(package: Package) -> bool:
    metadata = package.manifest["metadata"]
    return isinstance(metadata, dict) and "fatcrate" in metadata


def _is_library(target: dict[str, Any]) -> bool:
    return bool(graph.LIBRARIES & set(target["kind"]))


def _folders(
    crates: dict[str, Crate], metadata: dict[str, Any], options: Options
) -> dict[str, str]:
    """Package id -> its folder relative to the project's; brings sources from elsewhere."""
    lock = Path(metadata["workspace_root"], "Cargo.lock")
    sums = vendor.checksums(lock.read_text("utf-8")) if lock.exists() else {}
    found: dict[str, str] = {}
    faults = Collector()
    for crate in crates.values():
        package = crate.package
        if package.id in found:
            continue
        inside = os.path.relpath(os.path.realpath(package.folder), os.path.realpath(options.folder))
        if not package.source or not inside.startswith(".."):
            found[package.id] = inside
            continue
        place = f"{options.vendor_dir}/{vendor.folder_name(package)}"
        found[package.id] = place
        checksum = sums.get((package.name, package.version, package.source), "")
        try:
            vendor.bring(package, checksum, os.path.join(options.folder, place))
        except FatcrateError as error:
            faults.absorb(error)
    faults.check()
    return found


def _entry(crate: Crate, folder: str, options: Options, workspace: str) -> Entry:
    package = crate.package

    def moved(path: str) -> str:
        return os.path.normpath(os.path.join(folder, os.path.relpath(path, package.folder)))

    place = os.path.join(options.folder, folder)
    script = crate.script
    opt_level, debug, flags = _profile(crate.profile)
    local = not package.source
    flags += lints.flags(package.folder, workspace) if local else ["--cap-lints=allow"]
    flags += _check_cfg(package) if local else []
    return Entry(
        crate.key,
        crate.name,
        moved(crate.source),
        folder,
        crate.edition,
        crate.features,
        crate.deps,
        crate.proc_macro,
        opt_level,
        debug,
        tuple(flags),
        package_env.fields(package.manifest, place),
        None
        if script is None
        else Script(
            moved(script.source), script.edition, script.deps, package.manifest["links"] or ""
        ),
        package.source.partition("+")[0] or "path",
    )


def _profile(profile: dict[str, Any] | None) -> tuple[str, str, list[str]]:
    """opt-level, debuginfo and flags of cargo's profile; None for a crate of this machine."""
    if profile is None:
        return "3", "0", []
    flags = []
    if profile["overflow_checks"] != profile["debug_assertions"]:
        flags.append(f"-Coverflow-checks={'on' if profile['overflow_checks'] else 'off'}")
    if profile["debug_assertions"]:
        flags.append("-Cdebug-assertions=on")
    return str(profile["opt_level"]), str(profile["debuginfo"] or 0), flags


def _check_cfg(package: Package) -> list[str]:
    """Tells rustc the names of all features, as cargo does, for its lint of unknown cfgs."""
    names = ", ".join(f'"{name}"' for name in sorted(package.manifest["features"]))
    return ["--check-cfg", f"cfg(feature, values({names}))"]


def _kernels(
    units: Graph,
    of_unit: dict[int, str],
    metadata: dict[str, Any],
    options: Options,
    faults: Collector,
) -> tuple[Kernels, ...]:
    """A kernel target for each selected library; adds every fault of their tables."""
    archs.resolve([(text, None) for text in options.archs], options.identity, faults)
    tables = Tables(options.identity, options.archs, faults)
    tables.workspace(os.path.join(metadata["workspace_root"], "Cargo.toml"))
    found = []
    for root in sorted(units.roots, key=lambda index: of_unit[index]):
        package = units.units[root].package
        manifest = str(package.manifest["manifest_path"])
        found.append(tables.kernels(manifest, package.name, of_unit[root]))
    return tuple(found)
