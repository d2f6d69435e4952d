"""The kernel targets of a project file that was there before an import, which keeps them."""

from __future__ import annotations

from fatcrate.rules.cargo import errors
from fatcrate.rules.cargo.model import Import
from fatcrate.rules.ninja.yamlfile import Reader, is_text, keys
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, report


def kept(project: Import, text: str, file: str) -> list[str]:
    """Names of the targets in ``text``, the new project file. Warns (FC0162) of those that name
    crates which are not there any more, and of imported kernels that no target holds."""
    reader = Reader(file, text)
    try:
        top = reader.parse()
        entries = reader.mapping(top, file) if top is not None else {}
        found = reader.mapping(entries["kernels"].value, "kernels") if "kernels" in entries else {}
    except FatcrateError:
        return []  # a build says what is wrong with it
    held: set[str] = set()
    for name, entry in found.items():
        inner = {key.value: value for key, value in entry.value.value} if keys(entry.value) else {}
        crates = reader.items(inner["crates"], name) if "crates" in inner else []
        for crate in (item for item in crates if is_text(item)):
            held.add(crate.value)
            if crate.value not in project.crate_names:
                message = f"names the crate '{crate.value}', which is not there"
                remedy = "name another crate, or take the target out"
                reader.fault(errors.KEPT, f"kernels.{name}", message, crate, remedy)
    for kernels in project.kernels:
        if kernels.crate not in held:
            remedy = f"write one below the line: {kernels.name}: {{crates: [{kernels.crate}], …}}"
            fault = Diagnostic(errors.KEPT, kernels.crate, f"is in no target of {file}", remedy)
            reader.faults.add(fault)
    report(reader.faults.warnings)
    return list(found)
