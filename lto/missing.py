"""The error for symbols that are needed and defined nowhere: who, where, what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from fatcrate.lto import errors, internalize, references, runtime, symbols
from fatcrate.lto.debuginfo import DebugInfo
from fatcrate.lto.engine import Module
from fatcrate.lto.inputs import Unit
from fatcrate.lto.resolve import Table
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError

_SHOWN = 4  # referrers and places that a message names


def check(
    module: Module, table: Table, libraries: list[Unit], primitives: str, debug: DebugInfo
) -> None:
    """Raises FC0310 for every symbol that is still undefined, all together."""
    allowed = runtime.OPEN_SYMBOLS | runtime.DRIVER_SYMBOLS | {f"{names.DYNAMIC_SHARED}.mem"}
    missing = [name for name in internalize.undefined(module) if name not in allowed]
    if not missing:
        return
    edges = references.graph(module)
    known = {*table.definitions}
    for unit in libraries:
        for member in unit.members:
            known.update(s.name for s in member.info.defined() if not s.name.startswith("_"))
    known.update(re.findall(r"^define [^\n]*?@(\w+)\(", primitives, re.MULTILINE))
    faults = Collector()
    for name in missing:
        faults.add(_undefined(name, edges, table, known, debug))
    faults.check()


def besides(error: FatcrateError, merging: Callable[[], object]) -> FatcrateError:
    """The faults of a link that cannot be, and the symbols that ``merging`` finds undefined."""
    faults = Collector()
    faults.absorb(error)
    if all(fault.kind != errors.UNSUPPORTED for fault in error.diagnostics):
        try:
            merging()
        except FatcrateError as found:
            for fault in found.diagnostics:
                if fault.kind == errors.UNDEFINED:
                    faults.add(fault)
    return FatcrateError(*faults.errors)


def _undefined(
    name: str, edges: references.Graph, table: Table, known: set[str], debug: DebugInfo
) -> Diagnostic:
    users = references.referrers(edges, name)
    crates = sorted({table.owner(user) for user in users} - {""})
    crates = crates or sorted(table.references.get(name, []))
    notes = [f"referred to by {symbols.describe(user)}" for user in users[:_SHOWN]]
    if len(users) > _SHOWN:
        notes.append(f"and by {len(users) - _SHOWN} more")
    notes += [f"at {place}" for place in debug.uses(name)[:_SHOWN]]
    near = symbols.nearest(name, known)
    if name.startswith(names.SHARED_PREFIX):
        remedy = "declare shared memory with the `shared!` macro of the device library"
    elif near:
        remedy = f"did you mean {symbols.listed((f'`{n}`' for n in near), 'or')}?"
    else:
        remedy = "add the crate that defines it to the target, or remove the declaration"
    where = "a library"
    if crates:
        where = f"{'crate' if len(crates) == 1 else 'the crates'} {symbols.listed(crates)}"
    plain = symbols.demangle(name)
    return Diagnostic(
        errors.UNDEFINED,
        plain,
        f"is needed by {where} but defined nowhere",
        remedy,
        notes=((f"symbol {name}",) if plain != name else ()) + tuple(notes),
    )
