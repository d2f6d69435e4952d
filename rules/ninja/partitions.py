"""Reads and checks ``partitions`` of a target: which kernels share a module.

partitions: {image: [blur, sharpen], audio: [fft, synth/echo]}   crates, or single kernels
partitions: [blur, fft]                                          a module for each crate
partitions: auto                                                 by size; or a number: that
                                                                 many modules at most
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fatcrate.rules import errors
from fatcrate.rules.ninja.model import Partition, Project, Target
from fatcrate.rules.ninja.yamlfile import Node, Section, is_list, is_text, suggestion
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Location

#: What ``auto`` allows.
AUTO = 8
MOST = 64

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_NUMBER = re.compile(r"[1-9][0-9]?")
#: Folders of a target's folder that are not a partition's.
_TAKEN = frozenset(("temps",))
_WHOLE = "partitions: auto, a number of modules, or a mapping {image: [blur], audio: [fft]}"


def read(section: Section, crates: int) -> tuple[tuple[Partition, ...], int]:
    """The partitions as written, or the number of those that are chosen by size.

    ``crates``: how many the target names.
    """
    node = section.get("partitions")
    if node is None:
        return (), 0
    if is_text(node):
        return (), _automatic(section, node, crates)
    if is_list(node):
        return tuple(_of_crate(section, item) for item in section.items("partitions")), 0
    reader, subject = section.reader, f"{section.subject}.partitions"
    found = []
    for name, entry in reader.mapping(node, subject).items():
        if not _NAME.fullmatch(name) or name in _TAKEN:
            rule = "a partition's name is made of ASCII letters, digits and _, a digit not first"
            reader.fault(errors.BAD_NAME, subject, f"'{name}' cannot be one", entry.key, rule)
            continue
        items = reader.items(entry.value, f"{subject}.{name}")
        if not items:
            message = "must name at least one crate"
            reader.fault(errors.BAD_VALUE, f"{subject}.{name}", message, entry.value)
        texts = [reader.item(item, f"{subject}.{name}") for item in items]
        places = tuple(reader.location(item) for item in items)
        found.append(Partition(name, tuple(texts), places))
    return tuple(found), 0


def _automatic(section: Section, node: Node, crates: int) -> int:
    text = section.text("partitions")
    if text == "auto":
        return max(1, min(AUTO, crates))
    if _NUMBER.fullmatch(text) and int(text) <= MOST:
        return max(1, min(int(text), crates))
    if text:
        section.fault(errors.BAD_VALUE, "partitions", f"cannot be '{text}'", _WHOLE)
    return 0


def _of_crate(section: Section, item: Node) -> Partition:
    """The partition of an item of a list, named after the crate."""
    key = section.reader.item(item, f"{section.subject}.partitions", "the name of a crate")
    name = re.sub("[^A-Za-z0-9_]", "_", key)
    return Partition(name, (key,), (section.reader.location(item),))


def check(project: Project, target: Target, faults: Collector) -> None:
    """Every crate of the target is in one partition, whole or by kernels; nothing else is."""
    if not target.partitions:
        return
    subject = f"kernels.{target.name}.partitions"
    crates = [dep.crate for dep in target.crates]
    homes: dict[str, str] = {}
    names: set[str] = set()

    def fault(message: str, remedy: str, where: Location | None) -> None:
        faults.add(Diagnostic(errors.BAD_VALUE, subject, message, remedy, where))

    for part, each, where in _items(target):
        crate = each.partition("/")[0]
        if crate not in crates:
            message = f"'{crate}' is not among the target's crates"
            fault(message, suggestion(crate, crates, "crates"), where)
        elif each in homes:
            fault(f"'{each}' is in '{homes[each]}' and in '{part}'", "name it in one", where)
        homes.setdefault(each, part)
        names.add(crate)
    for crate in crates:
        if crate not in names and crate in project.crates:
            message = f"crate '{crate}' is in no partition"
            fault(message, "name it in one of them", target.partitions_at)
    seen: set[str] = set()
    for found in target.partitions:
        if found.name in seen:
            fault(f"two partitions are called '{found.name}'", "use a mapping", found.places[0])
        seen.add(found.name)


def _items(target: Target) -> Iterator[tuple[str, str, Location | None]]:
    for part in target.partitions:
        for each, where in zip(part.kernels_of, part.places, strict=True):
            if each:
                yield part.name, each, where


def leave(target: Target, part: Partition) -> list[str]:
    """Kernels of the partition's whole crates that others take out of these."""
    whole = {each for each in part.kernels_of if "/" not in each}
    found = []
    for other in target.partitions:
        for each in other.kernels_of if other is not part else ():
            crate, slash, kernel = each.partition("/")
            if slash and crate in whole:
                found.append(kernel)
    return found
