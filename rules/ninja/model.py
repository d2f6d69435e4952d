"""What a project consists of, as the graph takes it: crates and targets.

Paths are relative to the project root, or absolute for what lies outside of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Location

#: An argument of a function of the recipe.
Value = str | bool | list[str]


@dataclass(frozen=True)
class Dep:
    """A dependency: crate ``crate`` is called ``extern`` in the code that uses it."""

    extern: str
    crate: str
    location: Location | None = None


@dataclass(frozen=True)
class Script:
    """The build script of a crate's Cargo package: a program for this machine."""

    source: str
    edition: str = "2021"
    deps: tuple[Dep, ...] = ()
    links: str = ""  # the manifest's `links` key


@dataclass(frozen=True)
class Crate:
    """A crate as the recipe takes it."""

    key: str  # its name in the project file, unique
    name: str  # its name in Rust
    source: str  # root source file
    origin: str  # see crate_metadata in recipe.bzl
    edition: str = "2021"
    deps: tuple[Dep, ...] = ()
    features: tuple[str, ...] = ()
    cfgs: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    proc_macro: bool = False
    opt_level: str = "3"
    debug: str = "0"
    rustc_flags: tuple[str, ...] = ()
    remaps: tuple[tuple[str, str], ...] = ()
    location: Location | None = None
    manifest_dir: str = ""  # folder of its Cargo package
    script: Script | None = None

    @property
    def all_deps(self) -> tuple[Dep, ...]:
        """Those of its build script too."""
        return self.deps + (self.script.deps if self.script else ())


@dataclass(frozen=True)
class Partition:
    """A module of its own. ``kernels_of``: "crate" or "crate/kernel", crates by key."""

    name: str
    kernels_of: tuple[str, ...]
    places: tuple[Location, ...]


@dataclass(frozen=True)
class Target:
    """An entry of ``kernels:``: crates that are linked for a list of archs.

    ``code`` holds arguments of ``codegen_argv``, ``questions`` of ``link_argv``, each under
    its name there; both only what the project file says. ``places`` tells where it names a
    kernel or symbol.
    """

    name: str
    crates: tuple[Dep, ...]
    archs: tuple[tuple[str, Location], ...]  # as written
    host: tuple[str, ...]
    exports: tuple[str, ...] = ()
    code: Mapping[str, Value] = field(default_factory=dict)
    questions: Mapping[str, Value] = field(default_factory=dict)
    engine: str = ""
    map: bool = False
    remarks: bool = False
    time_trace: bool = False
    relocatable: bool = False
    partitions: tuple[Partition, ...] = ()
    auto_partitions: int = 0  # modules at most, chosen by size; 0: `partitions` tells
    places: tuple[tuple[str, Location], ...] = ()
    panic: str = names.PANIC_STRATEGIES[0]
    ptxas_options: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()  # as `fatcrate assemble --budget` takes them
    compress: str = "balanced"
    allow: tuple[str, ...] = ()  # checks of PACK that are silenced
    deny: tuple[str, ...] = ()  # checks of PACK whose warnings are errors
    partitions_at: Location | None = None
    engine_at: Location | None = None
    relocatable_at: Location | None = None
    symbol: str = ""  # prefix of the host object's symbols
    location: Location | None = None
    min_driver_at: Location | None = None

    @property
    def min_driver(self) -> str:
        """Driver branch that must load the PTX; "" for the oldest."""
        return str(self.code.get("min_driver", ""))

    @property
    def budgeted(self) -> list[str]:
        """Kernels that have budgets of their own."""
        names = [budget.rpartition(":")[0] for budget in self.budgets]
        return list(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True)
class Project:
    """The whole project. ``crates`` holds the built-in ones too."""

    crates: Mapping[str, Crate]
    targets: Mapping[str, Target]
