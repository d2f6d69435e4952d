"""What a linked module holds, as the manifest and the map tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fatcrate.lto import errors, layout, references, symbols
from fatcrate.lto.debuginfo import DebugInfo, Variable
from fatcrate.lto.engine import Module, Value
from fatcrate.lto.explain import Definition
from fatcrate.lto.resolve import Table
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError, fail
from fatcrate.toolchain.manifest import DeviceStatic, Kernel, Parameter

_HEAD = re.compile(r"^define .*$", re.MULTILINE)


class Describer:
    """Describes one finished module. ``edges`` are needed where it has shared memory."""

    def __init__(
        self, module: Module, table: Table, edges: references.Graph, debug: DebugInfo
    ) -> None:
        self.module, self.table, self.edges, self.debug = module, table, edges, debug
        self.shared = {v.name: _size(v) for v in module.variables() if _address_space(v) == 3}
        self._heads: dict[str, str] = {}  # function -> its line `define …`, once they are asked for

    def kernels(self, exported: Iterable[str]) -> list[Kernel]:
        """The exported kernels, sorted. Raises FC0317 and FC0318, all together."""
        faults, found = Collector(), []
        for name in sorted(exported):
            try:
                found.append(self._kernel(name))
            except FatcrateError as error:
                faults.absorb(error)
        faults.check()
        return found

    def _definition(self, name: str, value: Value | None) -> str:
        crate = self.table.kernels[name]
        if value is None or value.is_declaration:
            fail(errors.LOST_KERNEL, name, f"of crate {crate} is not in the linked module")
        if not self._heads:  # the text of each function with its body takes several times as long
            lines = (m[0] for m in _HEAD.finditer(self.module.text()))
            self._heads = {next(references.names(line)): line for line in lines}
        definition = self._heads[name]
        if " ptx_kernel " not in definition.split("@", 1)[0]:
            fail(errors.LOST_KERNEL, name, f"of crate {crate} lost its calling convention")
        return definition

    def _kernel(self, name: str) -> Kernel:
        value = self.module.find(name)
        definition = self._definition(name, value)
        assert value is not None
        try:
            slots = layout.parameters(definition, self.module.struct_size)
        except layout.LayoutError as error:
            fail(
                errors.BAD_PARAMETER,
                symbols.demangle(name),
                f"has a parameter of type {error}",
                remedy="pass scalars and pointers",
            )
        parameters = self._parameters(definition, slots)
        _check_classes(name, parameters)
        used = references.reachable(self.edges, [name]) if self.edges else []
        source, path = self.debug.function(definition)
        if not path and symbols.demangle(name) != name:
            path = symbols.demangle(name)
        return Kernel(
            name,
            self.table.kernels[name],
            parameters,
            rust_path=path,
            source=source,
            static_shared=sum(self.shared.get(n, 0) for n in used),
            uses_dynamic_shared=f"{names.DYNAMIC_SHARED}.mem" in used,
            max_threads=_max_threads(value),
        )

    def _parameters(self, definition: str, slots: list[layout.Slot]) -> list[Parameter]:
        variables = self.debug.parameters(definition)
        made = []
        for ordinal, (slot, at) in enumerate(zip(slots, layout.offsets(slots), strict=True)):
            known = variables.get(ordinal, Variable("", ""))
            made.append(
                Parameter(ordinal, at, slot.size, slot.align, slot.cls, known.name, known.type)
            )
        return made

    def statics(self, roots: Iterable[str]) -> list[DeviceStatic]:
        """Statics that the host can look up, sorted."""
        found = []
        for name in sorted(roots):
            value = self.module.find(name)
            if value is None or value.is_function or value.is_declaration:
                continue
            text = value.text()
            space = layout.address_space(text)
            if space == 3:
                continue
            size, align = layout.variable(text, self.module.struct_size)
            where = "constant" if space == 4 else "global"
            mutable = not layout.is_constant(text)
            found.append(DeviceStatic(name, self.table.owner(name), size, align, where, mutable))
        return found

    def mutable_statics(self) -> list[str]:
        """Statics of the crates in global memory that device code may change, sorted."""
        return sorted(
            value.name
            for value in self.module.variables()
            if not value.is_declaration
            and value.name not in self.shared
            and self.table.owner(value.name)
            and not layout.is_constant(value.text())
        )

    def definitions(self) -> list[Definition]:
        """Every definition with its kind and size."""
        found = []
        for value in self.module.functions():
            if not value.is_declaration:
                lines = [line for line in value.text().splitlines() if line.startswith("  ")]
                kind = "kernel" if value.name in self.table.kernels else "function"
                found.append(Definition(value.name, kind, len(lines)))
        for value in self.module.variables():
            if not value.is_declaration:
                kind = "shared" if value.name in self.shared else "static"
                found.append(Definition(value.name, kind, _size(value)))
        return found


def _address_space(value: Value) -> int:
    return layout.address_space(value.text()[:400])


def _size(value: Value) -> int:
    try:
        return layout.variable(value.text())[0]
    except layout.LayoutError:
        return 0


def _max_threads(value: Value) -> list[int]:
    """The launch bound in ``"nvvm.maxntid"="x,y,z"``, padded with 1."""
    for attribute in value.attributes():
        if attribute.startswith('"nvvm.maxntid"='):
            numbers = [int(n) for n in attribute.split("=", 1)[1].strip('"').split(",")]
            return [*numbers, 1, 1][:3]
    return []


def _check_classes(kernel: str, parameters: list[Parameter]) -> None:
    """Raises FC0318 for each struct, array or slice that a kernel takes by value.

    Back ends pass those in different ways (a slice is one parameter on NVPTX, two on AMDGPU),
    so that no launch would be right for both.
    """
    faults = Collector()
    for parameter in parameters:
        if parameter.cls == "aggregate":
            which = f"parameter {parameter.ordinal}"
            if parameter.name:
                which += f" ({parameter.name})"
            faults.add(
                Diagnostic(
                    errors.BAD_PARAMETER,
                    symbols.demangle(kernel),
                    f"takes {which} by value: {parameter.size} bytes, neither scalar nor pointer",
                    "pass a slice as pointer and length, a struct field by field or by pointer",
                )
            )
    faults.check()
