"""Writes BUILD files for an imported project: one for each folder with a package.

Packages in the vendor folder share the BUILD file of that folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

from fatcrate.rules.cargo import errors
from fatcrate.rules.cargo.emit_yaml import MARK
from fatcrate.rules.cargo.model import Entry, Import, Kernels
from fatcrate.toolchain.diagnostics import Collector, Diagnostic

FILE = "BUILD.bazel"

#: Where the rules come from, in a workspace that has fatcrate as an external repository.
RULES = "@fatcrate//rules:defs.bzl"

Attribute = str | bool | list[str] | dict[str, str] | None


class _Glob:
    """A `glob` of the files of a package."""

    def __init__(self, include: list[str], exclude: Iterable[str] = ()) -> None:
        self.include = include
        self.exclude = list(exclude)

    def __str__(self) -> str:
        if not self.exclude:
            return f"glob({json.dumps(self.include)})"
        return (
            "\n".join(
                [
                    "glob(",
                    f"        {json.dumps(self.include)},",
                    *_many("    exclude", "[]", [json.dumps(item) for item in self.exclude]),
                    "    )",
                ]
            )
            .replace('\n        "', '\n            "')
            .replace("\n    ],", "\n        ],")
        )


def documents(project: Import, folder: str, vendor: str, rules: str = RULES) -> dict[str, str]:
    """Path relative to ``folder`` -> text, for every BUILD file of the project.

    ``vendor`` is the vendor folder, relative like all paths. Raises FC0158 for packages
    outside of the folder.
    """
    _check_inside(project)
    emitter = _Emitter(project, _prefix(folder), vendor, rules)
    bodies: dict[str, list[str]] = {}
    for entry in project.entries:
        bodies.setdefault(emitter.home(entry), []).extend(emitter.crate(entry))
    for kernels in project.kernels:
        bodies.setdefault("", []).append(emitter.kernels(kernels))
    return {
        os.path.normpath(os.path.join(home, FILE)): _document(body, rules)
        for home, body in sorted(bodies.items())
    }


def _check_inside(project: Import) -> None:
    faults = Collector()
    for entry in project.entries:
        if entry.folder.startswith("..") or os.path.isabs(entry.folder):
            faults.add(
                Diagnostic(
                    errors.OUTSIDE,
                    entry.key,
                    f"lies in {entry.folder}, outside of the project, where Bazel sees no files",
                    "import the Cargo workspace whose folder holds it (--output names the place)",
                )
            )
    faults.check()


def _prefix(folder: str) -> str:
    """The project's folder relative to Bazel's workspace, "" when they are one."""
    place = os.path.abspath(folder)
    while True:
        if any(
            os.path.exists(os.path.join(place, name))
            for name in ("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel")
        ):
            inside = os.path.relpath(folder, place)
            return "" if inside == "." else inside
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above


def _document(body: list[str], rules: str) -> str:
    used = sorted({line.partition("(")[0] for line in body if not line.startswith("#")})
    names = ", ".join(json.dumps(name) for name in used)
    head = [
        MARK,
        f'load("{rules}", {names})',
        'package(default_visibility = ["//visibility:public"])',
    ]
    return "\n\n".join([*head, *body]) + "\n"


def _call(rule: str, attributes: Mapping[str, Attribute | _Glob]) -> str:
    """One target; attributes without a value are left out."""
    lines = [f"{rule}("]
    order = {"name": 0, "srcs": 1, "deps": 3}  # as buildifier has it; all others by name
    for name, value in sorted(attributes.items(), key=lambda a: (order.get(a[0], 2), a[0])):
        if isinstance(value, _Glob):
            lines.append(f"    {name} = {value},")
        elif value is True:
            lines.append(f"    {name} = True,")
        elif isinstance(value, str) and value:
            lines.append(f"    {name} = {json.dumps(value, ensure_ascii=False)},")
        elif isinstance(value, list) and value:
            if name.endswith("deps"):
                value = sorted(value, key=lambda label: (label.startswith("@"), label))
            lines += _many(name, "[]", [json.dumps(item, ensure_ascii=False) for item in value])
        elif isinstance(value, dict) and value:
            items = [
                f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()
            ]
            lines += _many(name, "{}", items)
    return "\n".join([*lines, ")"])


def _many(name: str, brackets: str, items: list[str]) -> list[str]:
    if len(items) == 1 and brackets == "[]":
        return [f"    {name} = [{items[0]}],"]
    inner = [f"        {item}," for item in items]
    return [f"    {name} = {brackets[0]}", *inner, f"    {brackets[1]},"]


class _Emitter:
    def __init__(self, project: Import, prefix: str, vendor: str, rules: str) -> None:
        self.entries = {entry.key: entry for entry in project.entries}
        self.names = project.crate_names
        self.prefix = prefix
        self.repository = rules.partition("//")[0]
        self.vendor = os.path.normpath(vendor)
        self.taken = {kernels.name for kernels in project.kernels}
        self.host_only = self._host_only(project)

    def _host_only(self, project: Import) -> set[str]:
        """The crates that no kernel needs: those of proc macros and build scripts alone."""
        device: set[str] = set()
        todo = [kernels.crate for kernels in project.kernels]
        while todo:
            key = todo.pop()
            if key in device or key not in self.entries or self.entries[key].proc_macro:
                continue
            device.add(key)
            todo += [dep for _, dep in self.entries[key].deps]
        return set(self.entries) - device

    def home(self, entry: Entry) -> str:
        """The folder of the BUILD file that holds the crate, relative to the project's."""
        inside = entry.folder == self.vendor or entry.folder.startswith(self.vendor + "/")
        return self.vendor if inside else "" if entry.folder == "." else entry.folder

    def name(self, entry: Entry) -> str:
        """Its target's name; kernel targets have the first choice in the top folder."""
        clash = entry.key in self.taken and self.home(entry) == ""
        return f"{entry.key}.crate" if clash else entry.key

    def label(self, key: str) -> str:
        """The label of a crate's target."""
        entry = self.entries.get(key)
        if entry is None:  # the device library
            return f"{self.repository}//toolchain/device/gpu"
        package = os.path.normpath(os.path.join(self.prefix, self.home(entry)))
        package = "" if package == "." else package
        name = self.name(entry)
        short = package and name == os.path.basename(package)
        return f"//{package}" if short else f"//{package}:{name}"

    def script_label(self, key: str) -> str:
        """The label of the build script of a crate."""
        label = self.label(key)
        if ":" not in label:
            label += f":{self.name(self.entries[key])}"
        return f"{label}.script"

    def kernels(self, kernels: Kernels) -> str:
        """The target of the kernels."""
        return _call(
            "gpu_kernels",
            {
                "name": kernels.name,
                "allow": list(kernels.allow),
                "archs": list(kernels.archs),
                "crates": [self.label(kernels.crate)],
                "exports": list(kernels.exports),
                "hosts": list(kernels.host),
            },
        )

    def crate(self, entry: Entry) -> list[str]:
        """The targets of a crate: its build script, if any, and itself."""
        inside = os.path.relpath(entry.folder, self.home(entry) or ".")
        below = "" if inside == "." else f"{inside}/"
        found = []
        if entry.script is not None:
            found.append(self._script(entry, inside, below))
        libraries = [(e, d) for e, d in entry.deps if not self._is_macro(d)]
        macros = [(e, d) for e, d in entry.deps if self._is_macro(d)]
        # Only proc macros and build scripts use it: the GPU may not be able to have it.
        for_host = not entry.proc_macro and entry.key in self.host_only
        attributes: dict[str, Attribute | _Glob] = {
            "name": self.name(entry),
            "srcs": _Glob([f"{below}**/*.rs"], self._excluded(below, not self.home(entry))),
            "crate_name": entry.name,
            "crate_root": self._local(entry, entry.source),
            "aliases": self._aliases(entry.deps),
            "build_script": f":{self._script_name(entry)}" if entry.script else None,
            "compile_data": _Glob(
                [f"{below}**"], [f"{below}**/*.rs", *self._excluded(below, not self.home(entry))]
            ),
            "crate_features": list(entry.features),
            "debug": entry.debug if entry.debug != "0" and not entry.proc_macro else None,
            "edition": entry.edition,
            "host_only": for_host,
            "manifest_dir": inside,
            "opt_level": entry.opt_level
            if entry.opt_level != "3" and not entry.proc_macro
            else None,
            "package": entry.fields,
            "proc_macro_deps": [self.label(d) for _, d in macros],
            "rustc_flags": list(entry.rustc_flags),
            "deps": [self.label(d) for _, d in libraries],
        }
        rule = "gpu_rust_proc_macro" if entry.proc_macro else "gpu_rust_library"
        found.append(_call(rule, attributes))
        return found

    def _script(self, entry: Entry, inside: str, below: str) -> str:
        script = entry.script
        assert script is not None
        linked = [
            self.script_label(dep)
            for _, dep in entry.deps
            if (other := self.entries.get(dep)) and other.script and other.script.links
        ]
        return _call(
            "gpu_rust_build_script",
            {
                "name": self._script_name(entry),
                "srcs": _Glob([f"{below}**/*.rs"], self._excluded(below, not self.home(entry))),
                "crate_name": entry.name,
                "crate_root": self._local(entry, script.source),
                "aliases": self._aliases(script.deps),
                "crate_features": list(entry.features),
                "data": _Glob([f"{below}**"], self._excluded(below, not self.home(entry))),
                "debug": entry.debug if entry.debug != "0" else None,
                "edition": script.edition,
                "link_deps": linked,
                "links": script.links,
                "manifest_dir": inside,
                "opt_level": entry.opt_level if entry.opt_level != "3" else None,
                "package": entry.fields,
                "proc_macro_deps": [self.label(d) for _, d in script.deps if self._is_macro(d)],
                "rustc_flags": [f for f in entry.rustc_flags if f.startswith("--cap-lints")],
                "deps": [self.label(d) for _, d in script.deps if not self._is_macro(d)],
            },
        )

    def _script_name(self, entry: Entry) -> str:
        return f"{self.name(entry)}.script"

    def _excluded(self, below: str, at_top: bool) -> list[str]:
        """Files of a package that are none of its sources."""
        if below:
            return []
        outputs = [f"{name}/**" for name in ("fatcrate-out", "target", self.vendor)]
        return [FILE, *(outputs if at_top else [])]

    def _local(self, entry: Entry, path: str) -> str:
        return os.path.relpath(path, self.home(entry) or ".")

    def _is_macro(self, key: str) -> bool:
        return key in self.entries and self.entries[key].proc_macro

    def _aliases(self, deps: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Label -> name, for the dependencies that the crate calls by another name."""
        return {self.label(key): extern for extern, key in deps if self.names[key] != extern}
