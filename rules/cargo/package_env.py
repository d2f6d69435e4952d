"""The variables that describe a package: `CARGO_PKG_NAME` and so on.

As in The Cargo Book, "Environment variables cargo sets for crates". The project file holds the
fields of the manifest that the package's sources mention; the variables are made from them
where a crate is compiled or its build script run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from fatcrate.rules import recipe

#: Field of the project file's `package` mapping -> variable. All are text.
FIELDS: dict[str, str] = recipe.load().PACKAGE_FIELDS

_MENTION = re.compile(rb"CARGO_PKG_[A-Z_]*")


def fields(manifest: Mapping[str, Any], folder: str) -> dict[str, str]:
    """The fields to keep of a package of ``cargo metadata`` whose sources lie in ``folder``.

    Name and version always; the others where a source mentions their variable.
    """
    mentioned = _mentions(folder)
    found = {"name": manifest["name"], "version": manifest["version"]}
    for field, variable in FIELDS.items():
        value = manifest.get(field)
        if field not in found and value and variable in mentioned:
            text = ":".join(value) if isinstance(value, list) else str(value)
            found[field] = " ".join(text.splitlines())  # argv and Ninja files have no line breaks
    return found


def _mentions(folder: str) -> set[str]:
    """The variables that the Rust sources below ``folder`` mention."""
    found: set[str] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {"target", ".git", "fatcrate-out"})
        for name in names:
            if name.endswith(".rs"):
                with open(os.path.join(place, name), "rb") as stream:
                    found |= {match.decode() for match in _MENTION.findall(stream.read())}
    # A bare prefix means that names are put together: then all may be asked for.
    return set(FIELDS.values()) if "CARGO_PKG_" in found else found


def of_crate(package: Mapping[str, str], crate: str) -> dict[str, str]:
    """What a crate of the package is compiled with; ``crate`` is its name in Rust."""
    found: dict[str, str] = recipe.load().package_env(package, crate)
    return found
