"""The crates that a Cargo project consists of, from cargo's unit graph.

A unit is one crate compiled for the GPU or for this machine with given features. Units that
differ only in the machine become one :class:`Crate`: the build compiles it for whichever
needs it. Otherwise the one for this machine gets a name of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

#: cargo's kinds of target that are libraries; for the GPU all of them are rlibs.
LIBRARIES = frozenset({"lib", "rlib", "dylib", "cdylib", "staticlib"})


@dataclass(frozen=True)
class Package:
    """One package. ``folder`` is absolute; ``source`` is "" for a path package."""

    id: str
    name: str
    version: str
    folder: str
    source: str
    manifest: dict[str, Any] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Script:
    """A build script: absolute root source, its edition and its own dependencies."""

    source: str
    edition: str
    deps: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Crate:
    """One crate of the project. ``deps`` are (extern name, key) in the order of the keys."""

    key: str
    package: Package
    name: str
    source: str
    edition: str
    features: tuple[str, ...]
    deps: tuple[tuple[str, str], ...]
    proc_macro: bool
    script: Script | None
    profile: dict[str, Any] | None = field(compare=False)  # of the GPU's unit


@dataclass
class Unit:
    """A library or proc macro of the unit graph. Dependencies are indices of units."""

    index: int
    package: Package
    raw: dict[str, Any]
    deps: list[tuple[str, int]]
    script: int | None  # index of the unit that runs the build script

    @property
    def device(self) -> bool:
        return self.raw["platform"] is not None

    @property
    def features(self) -> list[str]:
        return list(self.raw["features"])

    @property
    def proc_macro(self) -> bool:
        return "proc-macro" in self.raw["target"]["kind"]


@dataclass
class Graph:
    """The units, and for each its package; roots are the selected libraries."""

    units: dict[int, Unit]
    roots: list[int]
    raw: list[dict[str, Any]]
    packages: dict[str, Package]

    def dependents(self) -> dict[int, list[int]]:
        """For each library unit the library units that depend on it, in order."""
        found: dict[int, list[int]] = {index: [] for index in self.units}
        for unit in self.units.values():
            for _, dep in unit.deps:
                found[dep].append(unit.index)
        return found


def packages(metadata: dict[str, Any]) -> dict[str, Package]:
    """The packages of ``cargo metadata`` by id."""
    return {
        raw["id"]: Package(
            raw["id"],
            raw["name"],
            raw["version"],
            os.path.dirname(raw["manifest_path"]),
            raw["source"] or "",
            raw,
        )
        for raw in metadata["packages"]
    }


def read(unit_graph: dict[str, Any], known: dict[str, Package]) -> Graph:
    """The graph of cargo's ``--unit-graph``."""
    raw = unit_graph["units"]
    units: dict[int, Unit] = {}
    for index, item in enumerate(raw):
        kinds = set(item["target"]["kind"])
        if item["mode"] != "build" or not kinds & (LIBRARIES | {"proc-macro"}):
            continue
        deps, script = [], None
        for dep in item["dependencies"]:
            if raw[dep["index"]]["mode"] == "run-custom-build":
                script = dep["index"]
            else:
                deps.append((dep["extern_crate_name"], dep["index"]))
        units[index] = Unit(index, known[item["pkg_id"]], item, deps, script)
    return Graph(units, [r for r in unit_graph["roots"] if r in units], raw, known)


@dataclass(frozen=True)
class _Signature:
    """What a crate is made of; equal signatures are one crate."""

    package: str
    target: str
    features: tuple[str, ...]
    deps: tuple[tuple[str, int], ...]  # numbers of signatures
    script: tuple[tuple[str, int], ...] | None


@dataclass
class _Merger:
    graph: Graph
    numbers: dict[_Signature, int] = field(default_factory=dict)
    members: list[list[int]] = field(default_factory=list)  # number -> unit indices
    of_unit: dict[int, int] = field(default_factory=dict)

    def script_deps(self, unit: Unit) -> tuple[dict[str, Any], list[tuple[str, int]]] | None:
        """The unit that compiles the build script, and its dependencies."""
        if unit.script is None:
            return None
        for dep in self.graph.raw[unit.script]["dependencies"]:
            built = self.graph.raw[dep["index"]]
            if built["mode"] == "build" and "custom-build" in built["target"]["kind"]:
                return built, [(d["extern_crate_name"], d["index"]) for d in built["dependencies"]]
        return None

    def number(self, index: int) -> int:
        """The number of the crate that a unit belongs to."""
        if index in self.of_unit:
            return self.of_unit[index]
        unit = self.graph.units[index]
        script = self.script_deps(unit)
        signature = _Signature(
            unit.package.id,
            unit.raw["target"]["name"],
            tuple(unit.features),
            self._numbers(unit.deps),
            None if script is None else self._numbers(script[1]),
        )
        number = self.numbers.setdefault(signature, len(self.numbers))
        if number == len(self.members):
            self.members.append([])
        self.members[number].append(index)
        self.of_unit[index] = number
        return number

    def _numbers(self, deps: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
        return tuple(sorted((extern, self.number(dep)) for extern, dep in deps))


#: The key of fatcrate's own device library, which every project has.
DEVICE_LIBRARY = "gpu"


def crates(
    graph: Graph, is_device_library: Callable[[Package], bool]
) -> tuple[dict[str, Crate], dict[int, str]]:
    """All crates by key, sorted, and the key of each unit."""
    merger = _Merger(graph)
    for index in graph.units:
        merger.number(index)
    groups = [[graph.units[i] for i in members] for members in merger.members]
    keys = _keys(groups, is_device_library)
    found = {}
    for number, members in enumerate(merger.members):
        key = keys[number]
        found[key] = _crate(key, [graph.units[i] for i in members], merger, keys)
    of_unit = {index: keys[number] for index, number in merger.of_unit.items()}
    return dict(sorted(found.items())), of_unit


def _keys(groups: list[list[Unit]], is_device_library: Callable[[Package], bool]) -> list[str]:
    """A name for each crate: the package's, with version or `.host` where that is not enough."""
    versions: dict[str, set[str]] = {DEVICE_LIBRARY: {""}}  # that name is taken
    for units in groups:
        versions.setdefault(units[0].package.name, set()).add(units[0].package.version)
    names = [""] * len(groups)
    taken: set[str] = set()
    # Crates of the GPU have the first choice, then in the order of cargo's graph.
    order = sorted(range(len(groups)), key=lambda n: (not any(u.device for u in groups[n]), n))
    for number in order:
        package = groups[number][0].package
        if is_device_library(package):
            names[number] = DEVICE_LIBRARY
            continue
        several = len(versions[package.name]) > 1
        name = f"{package.name}-{package.version}" if several else package.name
        if name in taken:
            name += ".host"
        base, count = name, 2
        while name in taken:
            name, count = f"{base}{count}", count + 1
        taken.add(name)
        names[number] = name
    return names


def _crate(key: str, units: list[Unit], merger: _Merger, keys: list[str]) -> Crate:
    unit = next((u for u in units if u.device), units[0])

    def named(deps: Iterable[tuple[str, int]]) -> tuple[tuple[str, str], ...]:
        pairs = ((extern, keys[merger.of_unit[dep]]) for extern, dep in deps)
        return tuple(sorted(pairs, key=lambda pair: (pair[1], pair[0])))

    script = merger.script_deps(unit)
    target = unit.raw["target"]
    return Crate(
        key,
        unit.package,
        target["name"].replace("-", "_"),
        target["src_path"],
        target["edition"],
        tuple(unit.features),
        named(unit.deps),
        unit.proc_macro,
        None
        if script is None
        else Script(
            script[0]["target"]["src_path"], script[0]["target"]["edition"], named(script[1])
        ),
        unit.raw["profile"] if unit.device else None,
    )
