"""An imported project as the emitters take it: paths relative to the project's folder."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Script:
    """A build script: root source, edition, dependencies (extern name, key), `links`."""

    source: str
    edition: str
    deps: tuple[tuple[str, str], ...] = ()
    links: str = ""


@dataclass(frozen=True)
class Entry:
    """One crate. ``folder`` is its package's; ``fields`` see ``package_env.py``."""

    key: str
    name: str
    source: str
    folder: str
    edition: str
    features: tuple[str, ...] = ()
    deps: tuple[tuple[str, str], ...] = ()
    proc_macro: bool = False
    opt_level: str = "3"
    debug: str = "0"
    rustc_flags: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    script: Script | None = None
    origin: str = ""  # "registry", "git" or "path", for people


@dataclass(frozen=True)
class Kernels:
    """One kernel target: the crate that holds the kernels, and what the manifest says."""

    name: str
    crate: str
    archs: tuple[str, ...]
    host: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # checks of the packer


@dataclass(frozen=True)
class Import:
    """All of a project."""

    manifest: str  # relative to the project's folder
    entries: tuple[Entry, ...]
    kernels: tuple[Kernels, ...]
    crate_names: dict[str, str] = field(default_factory=dict)  # key -> name in Rust
