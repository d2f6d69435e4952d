"""What a project consists of, as the graph takes it: crates and targets.

Paths are relative to the project root, or absolute for what lies outside of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Location


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
class Target:
    """An entry of ``kernels:``: crates that are linked for a list of archs."""

    name: str
    crates: tuple[Dep, ...]
    archs: tuple[tuple[str, Location], ...]  # as written
    host: tuple[str, ...]
    exports: tuple[str, ...] = ()
    opt_level: str = "3"
    panic: str = names.PANIC_STRATEGIES[0]
    min_driver: str = ""  # driver branch that must load the PTX; "" for the oldest
    ptxas_options: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()  # as `fatcrate assemble --budget` takes them
    compress: str = "balanced"
    symbol: str = ""  # prefix of the host object's symbols
    location: Location | None = None
    min_driver_at: Location | None = None


@dataclass(frozen=True)
class Project:
    """The whole project. ``crates`` holds the built-in ones too."""

    crates: Mapping[str, Crate]
    targets: Mapping[str, Target]
