"""Writes `fatcrate.yaml` for an imported project."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from fatcrate.rules.cargo.model import Entry, Import, Kernels, Script

#: The first line of every file that an import makes; what lacks it is never replaced.
MARK = "# Made by `fatcrate import`; run that again after a change of Cargo.toml."

#: Below this line a later import leaves everything as it is.
KEPT = "# What stands below this line is yours; a later import keeps it."

#: Why a target that nobody gave architectures allows `uncovered-device`.
ALLOWED = "The toolchain builds nothing for some devices, such as 10.7: `fatcrate explain FC0442`."

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./@+-]*")
#: Words that YAML reads as something else than text.
_WORDS = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])
#: Characters that YAML takes only as an escape, beside those that JSON escapes as well.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def text(value: str) -> str:
    """A scalar, quoted where YAML would read it otherwise."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS and not value.startswith("."):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _list(values: Iterable[str]) -> str:
    return "[" + ", ".join(values) + "]"


def _deps(deps: Iterable[tuple[str, str]], names: dict[str, str]) -> str:
    return _list(
        text(key) if names.get(key) == extern else "{" + f"{extern}: {text(key)}" + "}"
        for extern, key in deps
    )


def document(project: Import, old: str) -> str:
    """The file's text. ``old`` is that of the file there is, "" for none: its own part stays."""
    lines = [MARK, "version: 1", "crates:"]
    for entry in project.entries:
        lines += _entry(entry, project.crate_names)
    own = kept(old)
    lines.append(KEPT)
    if own is not None:
        return "\n".join(lines) + "\n" + own
    lines.append("kernels:")
    for kernels in project.kernels:
        lines += _kernels(kernels)
    return "\n".join(lines) + "\n"


def kept(text: str) -> str | None:
    """The user's part of a file: what is below the line, or, where someone took that out, from
    the targets on; None when there is neither."""
    _, line, own = text.partition(KEPT + "\n")
    if line:
        return own
    found = re.search(r"^kernels[ \t]*:", text, re.MULTILINE)
    return text[found.start() :] if found else None


def _entry(entry: Entry, names: dict[str, str]) -> list[str]:
    lines = [f"  {text(entry.key)}:", f"    path: {text(entry.source)}"]

    def add(key: str, value: str) -> None:
        lines.append(f"    {key}: {value}")

    if entry.name != entry.key.replace("-", "_"):
        add("name", entry.name)
    if entry.proc_macro:
        add("proc_macro", "true")
    add("edition", entry.edition)
    if entry.features:
        add("features", _list(map(text, entry.features)))
    if entry.deps:
        add("deps", _deps(entry.deps, names))
    if entry.opt_level != "3":
        add("opt_level", text(entry.opt_level))
    if entry.debug != "0":
        add("debug", text(entry.debug))
    if entry.rustc_flags:
        add("rustc_flags", _list(map(text, entry.rustc_flags)))
    fields = {"dir": entry.folder, **entry.fields}
    add("package", "{" + ", ".join(f"{k}: {text(v)}" for k, v in fields.items()) + "}")
    if entry.script:
        add("build_script", _script(entry.script, names))
    return lines


def _script(script: Script, names: dict[str, str]) -> str:
    parts = [f"path: {text(script.source)}", f"edition: {script.edition}"]
    if script.deps:
        parts.append(f"deps: {_deps(script.deps, names)}")
    if script.links:
        parts.append(f"links: {text(script.links)}")
    return "{" + ", ".join(parts) + "}"


def _kernels(kernels: Kernels) -> list[str]:
    lines = [f"  {text(kernels.name)}:", f"    crates: [{text(kernels.crate)}]"]
    lines.append(f"    archs: {_list(map(text, kernels.archs))}")
    if kernels.allow:
        lines.append(f"    # {ALLOWED}")
        lines.append(f"    allow: {_list(map(text, kernels.allow))}")
    if kernels.host:
        lines.append(f"    host: {_list(map(text, kernels.host))}")
    if kernels.exports:
        lines.append(f"    exports: {_list(map(text, kernels.exports))}")
    return lines
