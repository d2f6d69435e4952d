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

#: Field of the project file's `package` mapping -> variable. All are text.
FIELDS = {
    "name": "CARGO_PKG_NAME",
    "version": "CARGO_PKG_VERSION",
    "authors": "CARGO_PKG_AUTHORS",
    "description": "CARGO_PKG_DESCRIPTION",
    "homepage": "CARGO_PKG_HOMEPAGE",
    "repository": "CARGO_PKG_REPOSITORY",
    "license": "CARGO_PKG_LICENSE",
    "license_file": "CARGO_PKG_LICENSE_FILE",
    "rust_version": "CARGO_PKG_RUST_VERSION",
    "readme": "CARGO_PKG_README",
}

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


def variables(package: Mapping[str, str]) -> dict[str, str]:
    """All documented variables of a package, from its fields; "" for what is not kept."""
    core, _, pre = package.get("version", "").partition("+")[0].partition("-")
    numbers = [*core.split("."), "", "", ""]
    found = {variable: package.get(field, "") for field, variable in FIELDS.items()}
    found["CARGO_PKG_VERSION_MAJOR"] = numbers[0]
    found["CARGO_PKG_VERSION_MINOR"] = numbers[1]
    found["CARGO_PKG_VERSION_PATCH"] = numbers[2]
    found["CARGO_PKG_VERSION_PRE"] = pre
    return found


def of_crate(package: Mapping[str, str], crate: str) -> dict[str, str]:
    """What a crate of the package is compiled with; ``crate`` is its name in Rust."""
    return variables(package) | {"CARGO_CRATE_NAME": crate}
