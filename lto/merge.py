"""The part of LINK that runs on LLVM: merge, supply what is missing, internalise, prune.

User crates are merged whole; then, in rounds, whatever is still undefined is taken from what
LINK supplies (``runtime.py``), the primitives, the sysroot and libdevice, until nothing more
can be found. Rounds make the result independent of the libraries' order: a symbol that one
library needs of another is asked for in the next round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fatcrate.lto import (
    describe,
    errors,
    inputs,
    internalize,
    layout,
    lower,
    mathmap,
    missing,
    policy,
    references,
    runtime,
    symbols,
)
from fatcrate.lto.bitcode import Symbol
from fatcrate.lto.debuginfo import DebugInfo
from fatcrate.lto.engine import Engine, EngineError, Module
from fatcrate.lto.explain import Definition
from fatcrate.lto.inputs import Member, Unit
from fatcrate.lto.resolve import Table
from fatcrate.lto.sharedsizes import SharedSizes
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.manifest import DeviceStatic, Kernel


class Request(NamedTuple):
    """What to link."""

    target: str  # name, for messages
    crates: list[Unit]
    libraries: list[Unit]  # sysroot and libdevice, used as needed
    primitives: str  # textual IR
    exports: list[str]  # kernels and other symbols to export
    table: Table
    keep: Sequence[str] = ()  # further roots
    own: frozenset[str] | None = None  # of a partition: the crates that are in it whole
    doubled: Sequence[str] = ()  # defined more than once: the first counts, for further faults


class Merged(NamedTuple):
    """What came out."""

    bitcode: bytes
    kernels: list[Kernel]
    statics: list[DeviceStatic]
    mutable_statics: list[str]
    kept: list[str]  # names of all definitions in the module
    supplied: dict[str, list[str]]  # library -> symbols taken because something needed them
    roots: list[str]
    edges: references.Graph | None = None  # filled when asked for
    definitions: Sequence[Definition] = ()  # filled when asked for


def run(engine: Engine, request: Request, *, want_graph: bool = False) -> Merged:
    """Links. Raises :class:`FatcrateError`."""
    link = _Link(engine, request)
    link.merge_crates()
    roots = link.choose_roots()
    link.first_prune(roots)
    link.supply()
    while link.lower():
        link.supply()
    internalize.internalize(link.module, roots)
    internalize.collect(engine, link.module)
    roots.update(dict.fromkeys(link.show_statics()))
    link.check_undefined()
    try:
        link.module.verify()
    except EngineError as error:
        fail(errors.LINK_FAILED, request.target, f"the merged module is malformed: {error}")
    return link.result(roots, want_graph)


class _Link:
    """State of one link: the growing module and what was learnt on the way."""

    def __init__(self, engine: Engine, request: Request) -> None:
        self.engine = engine
        self.request = request
        self.table = request.table
        self.module: Module = engine.parse_text(
            f'target datalayout = "{runtime.DATA_LAYOUT}"\ntarget triple = "{names.NVPTX_TRIPLE}"\n'
        )
        self.records: dict[str, tuple[runtime.SharedRecord, str]] = {}
        self.used: list[str] = []
        self.supplied: dict[str, list[str]] = {}

    # --- user crates -------------------------------------------------------------------

    def merge_crates(self) -> None:
        """All crates into one module, whole; the records of ``shared!`` read and dropped."""
        sizes = SharedSizes(self.table)
        seen: set[str] = set()
        for unit in self.request.crates:
            for member in unit.members:
                source = self._parse(member)
                sizes.check(source, unit.name)
                self._hide_doubled(source, seen)
                dropped = self._read_records(source, member, unit)
                if self._is_ours(unit.name):
                    self.used += [n for n in internalize.used_symbols(source) if n not in dropped]
                internalize.drop_used(source)
                self._link_in(source, unit.name)
        for record, _ in self.records.values():
            self._link_in(self.engine.parse_text(runtime.shared_definition(record)), "shared!")

    def _parse(self, member: Member, lazy: bool = False) -> Module:
        try:
            module = self.engine.parse_bitcode(member.data, lazy)
        except EngineError as error:
            fail(errors.BAD_BITCODE, member.name, f"LLVM cannot read it: {error}")
        module.set_target(names.NVPTX_TRIPLE, runtime.DATA_LAYOUT)
        return module

    def _hide_doubled(self, source: Module, seen: set[str]) -> None:
        for name in self.request.doubled:
            value = source.find(name)
            if value is not None and not value.is_declaration:
                if name in seen:
                    value.linkage = "internal"
                seen.add(name)

    def _link_in(self, source: Module, name: str) -> None:
        try:
            self.module.link_in(source)
        except EngineError as error:
            fail(errors.LINK_FAILED, name, f"cannot be merged with the other crates: {error}")

    def _read_records(self, source: Module, member: Member, unit: Unit) -> set[str]:
        dropped = set()
        for symbol in member.info.symbols:
            if symbol.section != names.META_SECTION or not symbol.defined:
                continue
            value = source.find(symbol.name)
            if value is None:
                continue
            record = runtime.shared_record(value.text(), unit.name)
            known = self.records.setdefault(record.symbol, (record, unit.name))
            if known[0] != record:
                fail(
                    errors.BAD_RECORD,
                    symbols.demangle(record.symbol),
                    f"shared memory is {known[0].size} bytes in crate {known[1]} and"
                    f" {record.size} bytes in crate {unit.name}",
                    remedy="give each shared array a symbol of its own",
                )
            dropped.add(symbol.name)
            value.linkage = "internal"
        return dropped

    # --- roots -------------------------------------------------------------------------

    def choose_roots(self) -> dict[str, None]:
        """Kernels, host-visible statics and ``#[used]`` statics, in link order.

        A partition has the roots of its own crates only.
        """
        roots = dict.fromkeys([*self.request.exports, *self.request.keep])
        for name, crate in self._host_visible().items():
            if self._is_ours(crate):
                roots[name] = None
        roots.update(dict.fromkeys(self.used))
        return roots

    def _is_ours(self, crate: str) -> bool:
        return self.request.own is None or crate in self.request.own

    def _host_visible(self) -> dict[str, str]:
        """Host-visible statics of all crates -> the crate."""
        return {
            name: found[0][0]
            for name, found in self.table.definitions.items()
            if any(is_host_visible(symbol) for _, symbol in found)
        }

    def show_statics(self) -> list[str]:
        """Gives host-visible statics of other crates that are still there their linkage back."""
        shown = []
        for name in self._host_visible():
            value = self.module.find(name)
            if value is not None and not value.is_declaration and value.linkage == "internal":
                value.linkage = "external"
                shown.append(name)
        return shown

    def first_prune(self, roots: Iterable[str]) -> None:
        """Drops unneeded user code before libraries are asked for what it would need.

        Symbols that a library may refer to (a panic handler, an allocator) stay for now.
        """
        held = {
            name
            for name in self.table.definitions
            if name in runtime.LIBRARY_INTERFACE or symbols.internal_name(name) != name
        }
        internalize.internalize(self.module, {*roots, *held})
        internalize.collect(self.engine, self.module)

    # --- what is missing ---------------------------------------------------------------

    def supply(self) -> None:
        """Rounds of taking what is undefined from the libraries until nothing changes."""
        while True:
            self._map_math()
            wanted = set(internalize.undefined(self.module)) - runtime.OPEN_SYMBOLS
            progress = self._supply_runtime(wanted) | self._supply_primitives(wanted)
            progress |= self._supply_libraries(wanted)
            if not progress:
                return
            internalize.collect(self.engine, self.module)

    def _supply_libraries(self, wanted: set[str]) -> bool:
        """Takes from sysroot and libdevice; looks into them only where that can help."""
        math = {name for name in wanted if name.startswith("__nv_")}
        other = wanted - math - runtime.DRIVER_SYMBOLS
        other = {n for n in other if not n.startswith(names.PRIMITIVE_PREFIX)}
        progress = False
        for unit in self.request.libraries:
            asked = math if unit.kind == "libdevice" else other
            if not asked:
                continue
            inputs.check_targets([unit], names.NVPTX_TRIPLE, self.engine.version)
            for member in unit.members:
                library, needed = self._needed(member, asked, old=unit.kind == "libdevice")
                if library is not None:
                    self._take(library, needed, f"{unit.kind}:{unit.name}")
                    progress = True
        return progress

    def _needed(
        self, member: Member, asked: set[str], *, old: bool
    ) -> tuple[Module | None, set[str]]:
        """A library's module and what it defines of the names asked for; None for nothing.

        An ``old`` module has a symbol table that LLVM reads much faster than ``bitcode.py``.
        """
        library = self._parse(member, lazy=True) if old else None
        if library is not None:
            found = {name: library.find(name) for name in asked}
            needed = {name for name, value in found.items() if value and not value.is_declaration}
        else:
            needed = asked & {s.name for s in member.info.defined()}
        if not needed:
            return None, needed
        return library or self._parse(member, lazy=True), needed

    def _take(self, library: Module, needed: set[str], label: str) -> None:
        internalize.drop_used(library)
        internalize.demote(library, needed)
        self._link_in(library, label)
        self.supplied.setdefault(label, []).extend(sorted(needed))

    def _supply_runtime(self, wanted: set[str]) -> bool:
        texts = {name: runtime.shim(name) for name in sorted(wanted)}
        for name, text in texts.items():
            if text:
                self._take(self.engine.parse_text(text), {name}, "runtime")
        return any(texts.values())

    def _supply_primitives(self, wanted: set[str]) -> bool:
        if not any(name.startswith(names.PRIMITIVE_PREFIX) for name in wanted):
            return False
        library = self.engine.parse_text(self.request.primitives)
        defined = {v.name for v in library.functions() if not v.is_declaration}
        needed = wanted & defined
        if needed:
            self._take(library, needed, "primitives")
        return bool(needed)

    def _map_math(self) -> None:
        """Renames intrinsics to the library functions that implement them.

        Where the function is in the module already, or operands are vectors or 16 bits wide,
        the intrinsic becomes a small function that calls it.
        """
        for value in self.module.functions():
            name = value.name
            if not name.startswith("llvm.") or not value.is_declaration:
                continue
            callee = mathmap.libdevice_name(name) or lower.INTRINSICS.get(name)
            if callee and self.module.find(callee) is None:
                value.name = callee
                continue
            replacement = f"fc.math.{name.removeprefix('llvm.')}"
            if callee:
                text: str | None = mathmap.forwarder(value.text(), replacement, callee)
            else:
                text = mathmap.wrapper(name, replacement) or lower.wrapper(name, replacement)
            if text:
                value.name = replacement
                self._take(self.engine.parse_text(text), {replacement}, "runtime")

    def lower(self) -> bool:
        """Replaces what NVPTX cannot generate; says whether there was anything to replace."""
        try:
            text = lower.rewrite(self.module.text())
        except lower.InitialisedShared as fault:
            name = str(fault)
            fail(
                errors.UNSUPPORTED,
                symbols.demangle(name),
                f"is in shared memory but has an initial value (crate {self.table.owner(name)})",
                remedy="use the `shared!` macro, or a `MaybeUninit` without a value",
            )
        if text is None:
            return False
        self.module = self.engine.parse_text(text)
        return True

    # --- checks and results ------------------------------------------------------------

    def debug_info(self) -> DebugInfo:
        """The module's debug information; empty when the crates have none."""
        has = any(policy.has_debug_info(m.data) for u in self.request.crates for m in u.members)
        return DebugInfo(self.module.text() if has else "")

    def check_undefined(self) -> None:
        """Raises FC0310 for every symbol that is still undefined."""
        missing.check(
            self.module,
            self.table,
            self.request.libraries,
            self.request.primitives,
            self.debug_info(),
        )

    def result(self, roots: Iterable[str], want_graph: bool) -> Merged:
        """Describes the finished module. Raises FC0317 when a kernel is not in it."""
        shared = any(layout.address_space(v.text()[:400]) == 3 for v in self.module.variables())
        edges = references.graph(self.module) if shared or want_graph else {}
        describer = describe.Describer(self.module, self.table, edges, self.debug_info())
        return Merged(
            self.module.bitcode(),
            describer.kernels(n for n in roots if n in self.table.kernels),
            describer.statics(roots),
            describer.mutable_statics(),
            sorted(
                v.name
                for v in (*self.module.functions(), *self.module.variables())
                if not v.is_declaration
            ),
            {label: sorted(set(taken)) for label, taken in sorted(self.supplied.items())},
            list(roots),
            edges if want_graph else None,
            describer.definitions() if want_graph else [],
        )


def is_host_visible(symbol: Symbol) -> bool:
    """Whether a static keeps its name for the host: one with an unmangled name."""
    return (
        symbol.kind == "variable"
        and symbol.defined
        and symbol.binding in ("strong", "weak", "common")
        and symbol.address_space in (0, 1, 4)
        and symbol.section not in (names.META_SECTION, ".shared")
        and not symbol.name.startswith(("_R", "_ZN", "__fc_", "llvm.", "anon.", ".", "__rust_"))
    )
