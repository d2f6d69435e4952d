"""What a build script prints for cargo.

Lines that begin with ``cargo::`` or, in the older form, ``cargo:`` (The Cargo Book, "Build
Scripts"); all others are talk. Native libraries are refused (FC0153). Linker arguments are
accepted and dropped: cargo hands them to programs, never to libraries.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from fatcrate.rules.cargo import errors
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError

#: Directives without effect on a library: search paths of libraries that nothing links, and
#: arguments for the linker of programs.
_DROPPED = frozenset(
    {
        "rustc-link-search",
        "rustc-link-arg",
        "rustc-link-arg-bin",
        "rustc-link-arg-bins",
        "rustc-link-arg-cdylib",
        "rustc-cdylib-link-arg",
        "rustc-link-arg-tests",
        "rustc-link-arg-examples",
        "rustc-link-arg-benches",
        "rerun-if-env-changed",  # scripts see no environment but what the step gives them
    }
)


@dataclass
class Directives:
    """The directives of one run, in the order printed."""

    cfgs: list[str] = field(default_factory=list)
    check_cfgs: list[str] = field(default_factory=list)
    env: list[tuple[str, str]] = field(default_factory=list)
    metadata: list[tuple[str, str]] = field(default_factory=list)
    rerun: list[str] = field(default_factory=list)  # paths, relative to the package's folder
    reruns_given: bool = False  # any `rerun-if-` directive: then no other file counts
    warnings: list[str] = field(default_factory=list)


def parse(output: str, package: str) -> Directives:
    """Reads the standard output of ``package``'s build script.

    Raises FC0153 for native libraries and FC0154 for ``cargo::error`` and for directives that
    do not exist, all of them together.
    """
    found = Directives()
    faults: list[Diagnostic] = []
    for line in output.splitlines():
        old = not line.startswith("cargo::")
        if not line.startswith("cargo:"):
            continue
        key, equals, value = line.removeprefix("cargo:" if old else "cargo::").partition("=")
        try:
            _take(found, key, value if equals else None, old, package)
        except FatcrateError as error:
            faults.extend(error.diagnostics)
    if faults:
        raise FatcrateError(*faults)
    return found


def _fault(package: str, message: str, remedy: str = "") -> FatcrateError:
    return FatcrateError(Diagnostic(errors.SCRIPT_FAILED, package, message, remedy=remedy))


def _take(found: Directives, key: str, value: str | None, old: bool, package: str) -> None:
    """Records one directive."""
    if value is None:
        if old:
            return  # older cargo ignored what had no '='
        raise _fault(package, f"its build script printed 'cargo::{key}' without a value")
    if key == "rustc-cfg":
        found.cfgs.append(value)
    elif key == "rustc-check-cfg":
        found.check_cfgs.append(value)
    elif key == "rustc-env":
        name, _, text = value.partition("=")
        found.env.append((name, text))
    elif key == "rustc-flags":
        _rustc_flags(value, package)
    elif key == "rustc-link-lib":
        _refuse(package, value)
    elif key == "rerun-if-changed":
        found.reruns_given = True
        found.rerun.append(value)
    elif key == "warning":
        found.warnings.append(value)
    elif key == "error" and not old:
        raise _fault(package, f"its build script says: {value}")
    elif key in _DROPPED:
        found.reruns_given = found.reruns_given or key.startswith("rerun-if-")
    elif key == "metadata" and not old:
        name, _, text = value.partition("=")
        found.metadata.append((name, text))
    elif old:
        found.metadata.append((key, value))
    else:
        raise _fault(package, f"its build script printed the unknown directive 'cargo::{key}'")


def _rustc_flags(value: str, package: str) -> None:
    """``rustc-flags`` takes ``-l`` and ``-L`` alone; libraries are refused, paths dropped."""
    words = iter(shlex.split(value))
    for word in words:
        name = word[2:] or next(words, "")
        if word.startswith("-l"):
            _refuse(package, name)
        elif not word.startswith("-L"):
            raise _fault(package, f"its build script gives rustc the flag '{word}'; only -l and -L")


def _refuse(package: str, library: str) -> None:
    name = library.rpartition("=")[2]
    raise FatcrateError(
        Diagnostic(
            errors.NATIVE_LINK,
            package,
            f"its build script links the native library '{name}'",
            remedy="turn off the feature that needs the library, or use a crate in pure Rust",
        )
    )
