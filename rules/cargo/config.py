"""Cargo's configuration files: what they say that an import does not take over.

Where Cargo looks, and the keys: "The Cargo Book", Configuration.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from typing import Any

from fatcrate.rules.cargo import errors
from fatcrate.toolchain.diagnostics import Diagnostic

_REMEDY = {
    "rustflags": "put the flags that device code needs into `defaults: {rustc_flags: […]}` or a"
    " crate's `rustc_flags` in fatcrate.yaml",
    "env": "put variables that `env!` needs into `env` of a crate in fatcrate.yaml",
}


def ignored(manifest: str, environ: dict[str, str]) -> list[Diagnostic]:
    """A warning for each key that changes what Cargo builds and nothing that fatcrate does."""
    found = []
    for path in _files(os.path.dirname(os.path.abspath(manifest)), environ):
        try:
            with open(path, "rb") as stream:
                settings = tomllib.load(stream)
        except (OSError, ValueError):
            continue  # cargo reads it too, and says what is wrong
        for key, remedy in _keys(settings):
            subject = os.path.relpath(path)
            found.append(Diagnostic(errors.CONFIG, subject, f"`{key}` is not taken over", remedy))
    return found


def _files(folder: str, environ: dict[str, str]) -> Iterator[str]:
    """Those of a folder and the folders above it, then the user's own."""
    seen = set()
    folders = [os.path.join(folder, ".cargo")]
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        folders.append(os.path.join(folder, ".cargo"))
    home = environ.get("HOME", "")
    user = environ.get("CARGO_HOME", "") or (f"{home}/.cargo" if home else "")
    for place in [*folders, *([user] if user else [])]:
        for name in ("config", "config.toml"):  # the first is preferred where both are
            path = f"{place}/{name}"
            if os.path.isfile(path):
                if os.path.realpath(path) not in seen:
                    seen.add(os.path.realpath(path))
                    yield path
                break


def _keys(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, remedy) of what is set."""
    build = settings.get("build")
    if isinstance(build, dict) and build.get("rustflags"):
        yield "build.rustflags", _REMEDY["rustflags"]
    targets = settings.get("target")
    for name, target in sorted(targets.items()) if isinstance(targets, dict) else ():
        if isinstance(target, dict) and target.get("rustflags"):
            yield f"target.{name}.rustflags", _REMEDY["rustflags"]
    if settings.get("env"):
        yield "env", _REMEDY["env"]
