"""Symbol resolution from symbol tables alone: kernels, duplicates, which inputs are needed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from fatcrate.lto import errors, lower, symbols
from fatcrate.lto.bitcode import Symbol
from fatcrate.lto.inputs import Unit
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Diagnostic, Kind, Location


class Table:
    """Who defines and who refers to what, over all user crates."""

    def __init__(self) -> None:
        #: name -> (crate, symbol) of every visible definition, in link order.
        self.definitions: dict[str, list[tuple[str, Symbol]]] = {}
        #: name -> crates that refer to it without defining it.
        self.references: dict[str, list[str]] = {}
        #: Every defined name, local ones too -> crate (the first).
        self.owners: dict[str, str] = {}
        #: kernel name -> crate.
        self.kernels: dict[str, str] = {}

    def owner(self, name: str) -> str:
        """The crate that defines ``name``; empty when none does.

        LLVM appends digits to a local symbol whose name another module has, too.
        """
        return self.owners.get(name) or self.owners.get(name.rstrip("0123456789"), "")


def is_kernel(symbol: Symbol) -> bool:
    """Whether the symbol is a kernel that its crate exports."""
    return (
        symbol.kind == "function"
        and symbol.defined
        and symbol.calling_convention == names.CC_PTX_KERNEL
        and symbol.binding not in ("local", "available")
    )


def build(units: Iterable[Unit]) -> Table:
    """The table of the user crates among ``units``."""
    table = Table()
    definitions: dict[str, list[tuple[str, Symbol]]] = defaultdict(list)
    references: dict[str, list[str]] = defaultdict(list)
    for unit in units:
        for member in unit.members:
            for symbol in member.info.symbols:
                if symbol.is_intrinsic:
                    continue
                if symbol.defined and symbol.binding != "available":
                    table.owners.setdefault(symbol.name, unit.name)
                    if symbol.binding != "local":
                        definitions[symbol.name].append((unit.name, symbol))
                elif unit.name not in references[symbol.name]:
                    references[symbol.name].append(unit.name)
                if is_kernel(symbol):
                    table.kernels.setdefault(symbol.name, unit.name)
    table.definitions, table.references = dict(definitions), dict(references)
    return table


def doubled(table: Table) -> list[str]:
    """Names that have more than one strong definition."""
    return [
        name
        for name, found in table.definitions.items()
        if sum(symbol.binding == "strong" for _, symbol in found) > 1
    ]


def check_duplicates(table: Table) -> list[Diagnostic]:
    """A fault for each strong symbol, and each kernel, that is defined twice."""
    faults = []
    for name, found in table.definitions.items():
        strong = [(crate, s) for crate, s in found if s.binding == "strong"]
        kernels = [(crate, s) for crate, s in found if is_kernel(s)]
        if len(kernels) > 1 or (kernels and len(strong) > 1):
            faults.append(_duplicate(errors.DUPLICATE_KERNEL, name, found, "kernel"))
        elif len(strong) > 1:
            what = "function" if strong[0][1].kind == "function" else "static"
            faults.append(_duplicate(errors.DUPLICATE, name, strong, what))
    return faults


def _duplicate(kind: Kind, name: str, found: list[tuple[str, Symbol]], what: str) -> Diagnostic:
    crates = sorted(crate for crate, _ in found)
    remedy = (
        "give one of them another name, or leave one crate out of the target"
        if what == "kernel"
        else "rename one of them, or drop its `#[no_mangle]`"
    )
    where = f"by the crates {symbols.listed(crates)}"
    if len(set(crates)) == 1:
        where = f"more than once in crate {crates[0]}"
        remedy = "give the crate once, and each member of its archive once"
    return Diagnostic(
        kind,
        symbols.demangle(name),
        f"{what} is defined {where}",
        remedy,
        notes=(f"symbol {name}",) if symbols.demangle(name) != name else (),
    )


def check_exports(
    table: Table, exports: Iterable[str], places: Mapping[str, Location]
) -> list[Diagnostic]:
    """A fault for each ``--export`` that names nothing, with the nearest names."""
    faults = []
    known = table.definitions.keys()
    wanted = list(exports)
    if wanted and table.kernels and known >= set(wanted) and not table.kernels.keys() & wanted:
        some = symbols.listed(sorted(table.kernels)[:4], "or")
        message, remedy = "is exported, but no kernel is", f"export {some}, too"
        place = places.get(wanted[0])
        return [Diagnostic(errors.NO_KERNELS, wanted[0], message, remedy, place)]
    for name in wanted:
        if name in table.definitions:
            continue
        near = symbols.nearest(name, table.kernels) or symbols.nearest(name, table.definitions)
        remedy = f"did you mean {symbols.listed(near, 'or')}?" if near else ""
        message = "is exported but no crate defines it"
        faults.append(Diagnostic(errors.UNKNOWN_EXPORT, name, message, remedy, places.get(name)))
    return faults


def check_kernels(table: Table, exported: Iterable[str], target: str) -> list[Diagnostic]:
    """A fault when nothing would be exported, and for kernel names that PTX refuses."""
    if not table.kernels:
        return [
            Diagnostic(
                errors.NO_KERNELS,
                target,
                "no linked crate defines a kernel",
                'declare one as `#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn …`',
            )
        ]
    faults = []
    for name in sorted(set(exported)):
        if not symbols.is_ptx_name(name):
            faults.append(
                Diagnostic(
                    errors.BAD_NAME,
                    name,
                    f"is not a name that PTX allows (crate {table.owner(name)})",
                    f"export it under another name, such as `{symbols.ptx_name(name)}`",
                )
            )
    return faults


_MEMORY = re.compile(r"shared|const|local|global", re.IGNORECASE)


def check_supported(units: Iterable[Unit]) -> list[Diagnostic]:
    """A fault for each definition that device code cannot have."""
    faults = []
    for unit in units:
        for symbol in (s for m in unit.members for s in m.info.symbols if s.defined):
            message = remedy = ""
            if symbol.kind == "ifunc":
                message, remedy = "is an ifunc, which no GPU loader resolves", "call it directly"
            elif symbol.thread_local:
                message = "is thread-local, which device code has not"
                remedy = "use a local variable, or memory indexed by the thread's number"
            elif (
                symbol.kind == "variable"
                and symbol.section not in (*lower.SECTIONS, names.META_SECTION, "llvm.metadata")
                and _MEMORY.search(symbol.section)
            ):
                message = f"asks for section {symbol.section!r}, which names no memory of a GPU"
                known = " or ".join(f"`{s}`" for s in lower.SECTIONS)
                remedy = f"use {known}, or the `shared!` macro of the device library"
            if message:
                faults.append(
                    Diagnostic(
                        errors.UNSUPPORTED,
                        symbols.demangle(symbol.name),
                        f"{message} (crate {unit.name})",
                        remedy,
                    )
                )
    return faults


def check_kept(
    table: Table, keep: Iterable[str], places: Mapping[str, Location]
) -> list[Diagnostic]:
    """A fault for each ``--undefined`` that no crate defines."""
    faults = []
    for name in keep:
        if name in table.definitions:
            continue
        near = symbols.nearest(name, table.definitions)
        remedy = f"did you mean {symbols.listed(near, 'or')}?" if near else ""
        message = "is given with --undefined, but no crate defines it"
        faults.append(Diagnostic(errors.UNDEFINED, name, message, remedy, places.get(name)))
    return faults
