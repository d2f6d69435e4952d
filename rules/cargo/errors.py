"""Kinds of fault of imports from Cargo and of build scripts (FC015x)."""

from __future__ import annotations

from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_USAGE, Kind

NO_CARGO = Kind(
    "FC0150",
    "cargo is not there",
    "`fatcrate import` asks cargo for the dependencies of a project. Only the import needs it;"
    " builds do not.",
    EXIT_ENVIRONMENT,
)
CARGO_FAILED = Kind(
    "FC0151",
    "cargo reported an error",
    "cargo could not read the manifest, resolve the dependencies or fetch a package. Its own"
    " message is shown. With `--offline`, packages must have been fetched before.",
)
NEEDS_STD = Kind(
    "FC0152",
    "a crate needs the standard library",
    "GPU code has `core` and `alloc`, but no `std`: there is no operating system below it. Most"
    " crates that use `std` have a feature, mostly named `std` and mostly on by default, that"
    " turns it off.",
)
NATIVE_LINK = Kind(
    "FC0153",
    "a crate links a native library",
    "The build script of a crate asks for a library of machine code, or the crate is there for"
    " one, as packages named `-sys` are. Such a library is made for"
    " a CPU and cannot be part of a GPU program; for crates that run in the compiler it would"
    " make the build depend on the machine.",
)
SCRIPT_FAILED = Kind(
    "FC0154",
    "a build script failed",
    "The build script of a crate ended with an error, or asked for something that does not"
    " exist. Its own output is shown.",
)
BAD_SOURCE = Kind(
    "FC0155",
    "a package's source is not what the lock file says",
    "The archive of a package in cargo's cache does not have the SHA-256 that Cargo.lock pins,"
    " or holds entries that no package has.",
)
NOT_GENERATED = Kind(
    "FC0156",
    "a file that an import would replace was written by hand",
    "`fatcrate import` only replaces files that it made itself; their first line says so.",
    EXIT_USAGE,
)
NOTHING_TO_BUILD = Kind(
    "FC0157",
    "the Cargo project has no crate for the GPU",
    "Kernels live in library packages. An import takes the packages that have a"
    " `[package.metadata.fatcrate]` table, or else every library of the workspace's default"
    " members.",
)
OUTSIDE = Kind(
    "FC0158",
    "a package lies outside of the project",
    "Bazel only sees files below the workspace's folder.",
)
BAD_METADATA = Kind(
    "FC0159",
    "a `[package.metadata.fatcrate]` table is wrong",
    "The table may give `archs`, `host` and `exports`, which mean what they mean in fatcrate.yaml"
    " and follow the same rules, and `kernels`, the name of the kernel target. Each target has a"
    " name of its own, by default that of its package.",
)
OUT_OF_DATE = Kind(
    "FC0160",
    "an imported file is out of date",
    "With `--check`, `fatcrate import` changes nothing and fails when a file that it would"
    " write differs from the one that is there.",
)
CONFIG = Kind(
    "FC0161",
    "a key of Cargo's configuration is not taken over",
    "`.cargo/config.toml` changes what Cargo builds: `rustflags` of `build` or of a target, and"
    " `env`. An import reads the packages alone; fatcrate.yaml has"
    " keys of its own for flags and variables. Sources and registries that the file names do"
    " count, since Cargo itself fetches the packages.",
    severity="warning",
)

KEPT = Kind(
    "FC0162",
    "the kernel targets that an import keeps do not fit its crates",
    "`fatcrate import` leaves the kernel targets of fatcrate.yaml as they are. When packages"
    " come, go or get another name, a target may name a crate that is gone, or no target may"
    " hold a new package's kernels.",
    severity="warning",
)

ALL: tuple[Kind, ...] = (
    NO_CARGO,
    CARGO_FAILED,
    NEEDS_STD,
    NATIVE_LINK,
    SCRIPT_FAILED,
    BAD_SOURCE,
    NOT_GENERATED,
    NOTHING_TO_BUILD,
    OUTSIDE,
    BAD_METADATA,
    OUT_OF_DATE,
    CONFIG,
    KEPT,
)
