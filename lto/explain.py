"""Answers about a link: why a symbol is there, what was dropped, who defines what, the map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fatcrate.lto import errors, policy, references, symbols
from fatcrate.lto.inputs import Unit
from fatcrate.lto.resolve import Table
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Diagnostic
from fatcrate.toolchain.manifest import Kernel


class Definition(NamedTuple):
    """One definition in the linked module. ``size``: bytes, or a function's instructions."""

    name: str
    kind: str  # "kernel", "function", "static", "shared"
    size: int


def matching(wanted: str, candidates: Iterable[str]) -> list[str]:
    """Candidates that ``wanted`` means: a symbol, or a demangled path with or without its
    generic arguments."""
    found = []
    for name in candidates:
        plain = symbols.demangle(name)
        if wanted in (name, plain, plain.split("::<")[0]):
            found.append(name)
    return sorted(found)


def unknown(wanted: str, table: Table, option: str) -> Diagnostic:
    """The fault for an option that names no symbol."""
    near = symbols.nearest(wanted, table.owners)
    remedy = f"did you mean {symbols.listed(near, 'or')}?" if near else ""
    return Diagnostic(
        errors.UNKNOWN_SYMBOL, wanted, f"is given with {option}, but no input has it", remedy
    )


def why(
    wanted: str, edges: references.Graph, roots: list[str], table: Table, kept: set[str]
) -> list[str]:
    """Lines that tell what keeps ``wanted``; empty when no input knows the symbol."""
    lines: list[str] = []
    for name in matching(wanted, {*kept, *table.owners}):
        shown = symbols.describe(name)
        crate = table.owner(name)
        if name not in kept:
            lines.append(f"{shown} of crate {crate} is dropped: nothing that is kept refers to it")
            continue
        path = references.chain(edges, roots, name)
        lines.append(f"{shown} is kept:")
        for depth, step in enumerate(path):
            role = _role(step, table) if depth == 0 else "refers to"
            owner = f" (crate {table.owner(step)})" if table.owner(step) else ""
            lines.append(f"  {role} {symbols.describe(step)}{owner}")
    return lines


def _role(name: str, table: Table) -> str:
    if name in table.kernels:
        return "kernel"
    return "root"


def garbage(units: Iterable[Unit], kept: set[str]) -> list[str]:
    """One line per dropped definition of a user crate: ``crate: name``."""
    lines = []
    for unit in units:
        for name in dropped(unit, kept):
            lines.append(f"{unit.name}: dropped {symbols.describe(name)}")
    return lines


def dropped(unit: Unit, kept: set[str]) -> list[str]:
    """Symbols that the crate defines and the linked module lacks, sorted."""
    return sorted(
        {
            s.name
            for m in unit.members
            for s in m.info.symbols
            if s.defined
            and not s.is_intrinsic
            and s.section != names.META_SECTION
            and s.name not in kept
        }
    )


def trace(wanted: str, crates: Iterable[Unit], libraries: Iterable[Unit]) -> list[str]:
    """One line per input that defines or refers to the symbol, in link order."""
    lines = []
    for unit in (*crates, *libraries):
        lazy = "" if unit.kind == "crate" else "lazy "
        for member in unit.members:
            for name in matching(wanted, {s.name for s in member.info.symbols}):
                symbol = next(s for s in member.info.symbols if s.name == name)
                what = f"{lazy}definition" if symbol.defined else "reference"
                shown = f"{symbol.binding} {symbol.kind}" if symbol.defined else symbol.kind
                lines.append(f"{unit.name}: {what} of {symbols.describe(name)} ({shown})")
    return lines


def link_map(
    name: str,
    definitions: Iterable[Definition],
    table: Table,
    libraries: Iterable[Unit],
) -> str:
    """The map file: every definition of the linked module under the input it came from."""
    origin = {
        symbol.name: unit.name
        for unit in libraries
        for member in unit.members
        for symbol in member.info.symbols
        if symbol.defined
    }
    groups: dict[str, list[Definition]] = {}
    for each in definitions:
        base = each.name.rstrip("0123456789")
        owner = table.owner(each.name) or origin.get(each.name) or origin.get(base) or "runtime"
        groups.setdefault(owner, []).append(each)
    lines = [f"map of {name}", "size: bytes of statics, LLVM instructions of functions", ""]
    for owner in sorted(groups):
        lines.append(owner)
        for each in sorted(groups[owner], key=lambda d: (d.kind, d.name)):
            lines.append(f"  {each.kind:<8} {each.size:>8}  {symbols.demangle(each.name)}")
    return "\n".join(lines) + "\n"


def without_debug_info(
    crates: Iterable[Unit], kernels: Iterable[Kernel], target: str
) -> list[Diagnostic]:
    """A warning when crates that hold kernels were compiled without debug information."""
    holding = {kernel.crate for kernel in kernels}
    bare = [
        unit.name
        for unit in crates
        if unit.name in holding and not any(policy.has_debug_info(m.data) for m in unit.members)
    ]
    if not bare:
        return []
    what = f"crate {bare[0]} has" if len(bare) == 1 else f"the crates {symbols.listed(bare)} have"
    message = f"is to keep all debug information, but {what} none"
    remedy = "compile with `debug: 2`, for all crates under `defaults:` in fatcrate.yaml"
    return [Diagnostic(errors.NO_DEBUG_INFO, target, message, remedy)]
