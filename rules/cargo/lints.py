"""A package's `[lints.rust]` table, which cargo turns into flags of rustc."""

from __future__ import annotations

import os
import tomllib
from typing import Any


def flags(folder: str, workspace: str) -> list[str]:
    """The flags for the package in ``folder``; ``workspace`` is the workspace's folder.

    Lints are sorted by priority, then name, as cargo does, lowest first.
    """
    table = _table(folder).get("lints", {})
    if table.get("workspace") is True:
        table = _table(workspace).get("workspace", {}).get("lints", {})
    found: list[tuple[int, str, str, list[str]]] = []
    for name, value in table.get("rust", {}).items():
        entry = value if isinstance(value, dict) else {"level": value}
        checks = [f"--check-cfg={cfg}" for cfg in entry.get("check-cfg", [])]
        found.append((entry.get("priority", 0), name, str(entry["level"]), checks))
    found.sort(key=lambda item: (item[0], item[1]))
    argv = []
    for _, name, level, checks in found:
        argv += [f"--{level}={name.replace('-', '_')}", *checks]
    return argv


def _table(folder: str) -> dict[str, Any]:
    try:
        with open(os.path.join(folder, "Cargo.toml"), "rb") as stream:
            return tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError):
        return {}
