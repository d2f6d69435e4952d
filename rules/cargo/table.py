"""The table ``[package.metadata.fatcrate]`` of a manifest, checked like fatcrate.yaml."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fatcrate.rules import errors as rule_errors
from fatcrate.rules.cargo import errors, tomlfile
from fatcrate.rules.cargo.model import Kernels
from fatcrate.rules.ninja import archs, kernels
from fatcrate.rules.ninja.yamlfile import Node, Reader, Section, keys
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Location
from fatcrate.toolchain.identity import Identity

#: The archs of a kernel target when nobody says which.
DEFAULT_ARCHS = ("all-major",)
#: What `all-major` leaves uncovered is what the toolchain cannot build for.
_DEFAULT_ALLOW = ("uncovered-device",)

#: Keys that fatcrate.yaml has for a target as well, and the target's name.
_KEYS = ("archs", "host", "exports", "kernels")
_ELSEWHERE = "after the import, give it to the target in fatcrate.yaml: what stands there is kept"


@dataclass
class Tables:
    """The tables of a workspace. Every fault of all of them goes to ``faults``."""

    identity: Identity
    archs: tuple[str, ...]  # of --archs, which replaces those of tables
    faults: Collector
    _common: dict[str, Any] = field(default_factory=dict)
    _named: dict[str, str] = field(default_factory=dict)

    def workspace(self, manifest: str) -> None:
        """Reads what the packages of a workspace have in common, from its root manifest."""
        self._common = self._read(manifest, "workspace")

    def kernels(self, manifest: str, package: str, crate: str) -> Kernels:
        """The target of a selected package; ``crate`` is the key of its library."""
        own = self._read(manifest, "package")
        found = {**self._common, **own}
        name, where = found.get("kernels") or self._default_name(package, manifest)
        if name in self._named:
            self.faults.add(
                Diagnostic(
                    errors.BAD_METADATA,
                    package,
                    f"the kernel target '{name}' is there twice",
                    "give each package a `kernels` of its own",
                    where,
                    (f"{self._named[name]} has it, too",),
                )
            )
        self._named.setdefault(name, package)
        named = self.archs or found.get("archs", ())
        return Kernels(
            name,
            crate,
            named or DEFAULT_ARCHS,
            found.get("host", ()),
            found.get("exports", ()),
            () if named else _DEFAULT_ALLOW,
        )

    def _default_name(self, package: str, manifest: str) -> tuple[str, Location]:
        reader = Reader(os.path.relpath(manifest), _text(manifest), self.faults)
        node = tomlfile.find(tomlfile.parse(reader.text), "package", "name")
        self._check_name(reader, "package.name", package, node)
        return package, reader.location(node)

    def _check_name(self, reader: Reader, subject: str, name: str, node: Node | None) -> None:
        problem = kernels.name_problem(name)
        if problem is not None:
            what, remedy = problem
            if subject == "package.name":
                remedy += "; give one with `kernels` in [package.metadata.fatcrate]"
            reader.fault(errors.BAD_METADATA, subject, what, node, remedy)

    def _without_others(self, reader: Reader, subject: str, node: Node) -> Node:
        """The table less those keys that only fatcrate.yaml has, which are faults."""
        others = [k for k in keys(node) if k.value in kernels.KEYS and k.value not in _KEYS]
        for key in others:
            reader.fault(
                rule_errors.UNKNOWN_KEY, subject, f"has no key '{key.value}'", key, _ELSEWHERE
            )
        if others:
            node.value = [pair for pair in node.value if pair[0] not in others]
        return node

    def _read(self, manifest: str, kind: str) -> dict[str, Any]:
        """What a table says, by key; ``kind`` is "package" or "workspace"."""
        reader = Reader(os.path.relpath(manifest), _text(manifest), self.faults)
        node = tomlfile.find(tomlfile.parse(reader.text), kind, "metadata", "fatcrate")
        if node is None:
            return {}
        subject = f"{kind}.metadata.fatcrate"
        section = Section(reader, self._without_others(reader, subject, node), subject, _KEYS)
        found: dict[str, Any] = {}
        if "archs" in section.entries:
            spelled = kernels.archs(section)
            archs.resolve(spelled, self.identity, self.faults)
            found["archs"] = tuple(text for text, _ in spelled)
        if "host" in section.entries:
            found["host"] = section.choices("host", names.HOSTS, ())
        if "exports" in section.entries:
            found["exports"] = kernels.exports(section)
        if (named := section.get("kernels")) is not None:
            name = section.text("kernels")
            if name:
                self._check_name(reader, f"{section.subject}.kernels", name, named)
                found["kernels"] = (name, reader.location(named))
        return found


def _text(manifest: str) -> str:
    """A manifest; "" when it is gone since cargo read it."""
    try:
        return Path(manifest).read_text("utf-8", errors="replace")
    except OSError:
        return ""
