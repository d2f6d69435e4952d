"""Shared memory that several modules name must be as large as each of them takes it to be.

LLVM keeps one of several weak definitions, whatever the others' sizes; code of the other module
would run past its end.
"""

from __future__ import annotations

from fatcrate.lto import errors, layout, symbols
from fatcrate.lto.engine import Module
from fatcrate.lto.resolve import Table
from fatcrate.toolchain.diagnostics import fail

_SHARED = 3  # address space


class SharedSizes:
    """What each crate takes the size of a common piece of shared memory for."""

    def __init__(self, table: Table) -> None:
        self._common = [
            name
            for name, found in table.definitions.items()
            if found[0][1].address_space == _SHARED
            and (len(found) > 1 or name in table.references)
            and all(symbol.binding != "common" for _, symbol in found)  # the largest is taken
        ]
        self._known: dict[str, tuple[int, str]] = {}

    def check(self, source: Module, crate: str) -> None:
        """Notes the sizes in a crate's module. Raises FC0311 for one that differs."""
        for name in self._common:
            value = source.find(name)
            if value is None:
                continue
            try:
                size, _ = layout.variable(value.text(), source.struct_size)
            except layout.LayoutError:
                continue
            if size == 0 and value.is_declaration:  # an array whose size is told elsewhere
                continue
            known, first = self._known.setdefault(name, (size, crate))
            if known != size:
                fail(
                    errors.DUPLICATE,
                    symbols.demangle(name),
                    f"shared memory is {known} bytes in crate {first} and {size} bytes in"
                    f" crate {crate}",
                    remedy="rename one of them, or give both the same size",
                )
