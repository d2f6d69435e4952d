"""The reference of the Bazel rules, made from their sources: ``docs/bazel_rules.md``.

A `.bzl` file is also Python as far as its top level goes, so it is run with stand-ins for
Bazel's built-ins that keep what they are given.

    python tests/support/stardoc.py > docs/bazel_rules.md
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent

_TYPES = {
    "bool": "boolean",
    "label": "label",
    "label_keyed_string_dict": "dict of label to string",
    "label_list": "list of labels",
    "string": "string",
    "int": "number",
    "string_dict": "dict of strings",
    "string_list": "list of strings",
    "string_list_dict": "dict of lists of strings",
}
_NO_DEFAULT = {"bool": "`False`", "label": "none", "string": "none"}

_HEAD = """\
# Bazel rules: reference

<!-- Made by tests/support/stardoc.py from the rules' own documentation; a test compares. -->

How to set a workspace up, and what the rules are for, is told in [Bazel](bazel.md).
`name`, `tags`, `visibility` and the other attributes that every rule has are left out.
"""


@dataclass
class Attribute:
    """One attribute of a rule."""

    kind: str
    doc: str = ""
    default: object = None
    mandatory: bool = False
    values: list[str] = field(default_factory=list)

    def default_text(self) -> str:
        if self.mandatory:
            return "required"
        if self.default in (None, "", False, []):
            return _NO_DEFAULT.get(self.kind, "empty")
        return f"`{self.default}`"

    def text(self) -> str:
        doc = self.doc
        if self.values:
            doc += " One of " + ", ".join(f"`{value}`" for value in self.values) + "."
        return doc.replace("|", "\\|")


@dataclass
class Documented:
    """A rule or a provider."""

    doc: str
    members: dict[str, Any]


class Loader:
    """Runs `.bzl` files of the checkout, each once."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, Any]] = {}

    def file(self, label: str, package: str) -> dict[str, Any]:
        """The globals of the file with that label; empty names for other repositories."""
        folder, _, name = label.removeprefix("//").partition(":")
        path = f"{folder if label.startswith('//') else package}/{name}"
        if path not in self._files:
            scope = self._files[path] = _builtins()
            here = path.rpartition("/")[0]

            def load(label: str, *names: str, **renamed: str) -> None:
                external = label.startswith("@")
                found = {} if external else self.file(label, here)
                for new, old in (dict(zip(names, names, strict=True)) | renamed).items():
                    scope[new] = found.get(old, _anything) if external else found[old]

            scope["load"] = load
            source = (CHECKOUT / path).read_text(encoding="utf-8")
            exec(compile(source, path, "exec"), scope)
        return self._files[path]


def _anything(*_args: object, **_named: object) -> list[object]:
    """Stands for what is loaded from other repositories."""
    return []


def _attribute(kind: str) -> Any:
    def make(**named: Any) -> Attribute:
        known = {k: named[k] for k in ("doc", "default", "mandatory", "values") if k in named}
        return Attribute(kind, **known)

    return make


def _builtins() -> dict[str, Any]:
    def rule(doc: str = "", attrs: dict[str, Attribute] | None = None, **_: object) -> Documented:
        shown = {k: v for k, v in (attrs or {}).items() if not k.startswith("_")}
        return Documented(doc, dict(sorted(shown.items())))

    def provider(doc: str = "", fields: dict[str, str] | None = None) -> Documented:
        return Documented(doc, fields or {})

    return {
        "Label": str,
        "attr": SimpleNamespace(**{kind: _attribute(kind) for kind in _TYPES}),
        "config": SimpleNamespace(string=lambda **_: None),
        "fail": _anything,
        "native": SimpleNamespace(),
        "platform_common": SimpleNamespace(ToolchainInfo=None),
        "provider": provider,
        "rule": rule,
        "struct": SimpleNamespace,
        "transition": lambda **_: None,
    }


def _rule(name: str, rule: Documented) -> list[str]:
    lines = [
        f"## {name}",
        "",
        rule.doc,
        "",
        "| attribute | type | default | |",
        "|---|---|---|---|",
    ]
    for key, attribute in rule.members.items():
        kind = _TYPES[attribute.kind]
        lines.append(f"| `{key}` | {kind} | {attribute.default_text()} | {attribute.text()} |")
    return [*lines, ""]


def _provider(name: str, provider: Documented) -> list[str]:
    lines = [f"## {name}", "", provider.doc, "", "| field | |", "|---|---|"]
    lines += [f"| `{key}` | {doc} |" for key, doc in sorted(provider.members.items())]
    return [*lines, ""]


def render() -> str:
    """The whole page."""
    loader = Loader()
    public = loader.file("//rules:defs.bzl", "")
    shown = {k: v for k, v in public.items() if isinstance(v, Documented) and k[0] != "_"}
    lines = [_HEAD]
    for name in sorted(n for n in shown if n.startswith("gpu_")):
        lines += _rule(name, shown[name])
    providers = loader.file("//rules:providers.bzl", "")
    for name in sorted(n for n, v in providers.items() if isinstance(v, Documented)):
        lines += _provider(name, providers[name])
    toolchain = loader.file("//toolchain:toolchain.bzl", "")
    lines += _rule("gpu_toolchain", toolchain["gpu_toolchain"])
    lines += _provider("GpuToolchainInfo", toolchain["GpuToolchainInfo"])
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
