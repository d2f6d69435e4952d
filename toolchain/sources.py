"""The digest of fatcrate's own steps: an edit to them rebuilds what they made.

Covers what can change an output: the step packages and the shared modules that they import,
not the commands that only plan or report.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from fatcrate.toolchain.locate import Watch

#: Relative to the folder of the ``fatcrate`` package; a folder stands for all below it.
STEP_SOURCES = (
    "fatbin",
    "lto",
    "rules/build_script.py",
    "rules/cargo/crate_env.py",
    "rules/cargo/directives.py",
    "rules/cargo/script_env.py",
    "rules/compile.py",
    "rules/depfile.py",
    "rules/disassemble.py",
    "rules/private/recipe.bzl",
    "rules/private/recipe_kernels.bzl",
    "rules/recipe.py",
    "rules/rustc.py",
    "rules/sysroot.py",
    "toolchain/arch.py",
    "toolchain/identity.py",
    "toolchain/manifest.py",
    "toolchain/names.py",
    "toolchain/schema.py",
)

#: No part of a step: the CPU runner, and the probe, whose answers are in the identity.
NO_STEP = ("lto/cpu", "lto/probe.py")

_SUFFIXES = (".py", ".ll", ".bzl", ".c", ".h")


def _walk(watch: Watch, path: str) -> Iterator[str]:
    if path.endswith(_SUFFIXES):
        if watch.exists(path):
            yield path
        return
    for name in watch.names(path):
        if name.endswith(_SUFFIXES) or ("." not in name and name != "__pycache__"):
            yield from _walk(watch, f"{path}/{name}")


def digest(watch: Watch) -> str:
    """SHA-256 over names and contents of the step sources; ``watch`` records them."""
    base = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    total = hashlib.sha256()
    outside = tuple(f"{base}/{part}" for part in NO_STEP)
    for part in STEP_SOURCES:
        for path in _walk(watch, f"{base}/{part}"):
            if path.startswith(outside):
                continue
            with open(path, "rb") as stream:
                content = hashlib.file_digest(stream, "sha256").digest()
            total.update(path[len(base) :].encode() + b"\0" + content)
    return total.hexdigest()
