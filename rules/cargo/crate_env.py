"""What a crate of a Cargo package is compiled with: its build script's results, its folder.

The other half of ``rules/build_script.py``; used by ``fatcrate compile``.
"""

from __future__ import annotations

import json
import os

from fatcrate.rules.build_script import FLAGS, HERE, OUT

#: What stands for OUT_DIR in panic messages and debug information, before the crate's name.
OUT_NAME = "/fatcrate/out/"


def portable(path: str) -> str:
    """``path`` as an absolute one that reads alike in every checkout; absolute ones stay."""
    return path if os.path.isabs(path) else f"{HERE}/{os.path.normpath(path)}"


def local(path: str) -> str:
    """The inverse of :func:`portable`: relative to the execution root where it lies there."""
    return path.removeprefix(HERE + "/")


def flags(crate: str, manifest_dir: str, script_dir: str) -> tuple[list[str], dict[str, str]]:
    """Further arguments and environment for the rustc run of ``crate``.

    ``manifest_dir`` is its package's folder, ``script_dir`` the output folder of the BUILD
    SCRIPT step; "" for what there is not.
    """
    argv: list[str] = []
    env: dict[str, str] = {}
    if manifest_dir:
        env["CARGO_MANIFEST_DIR"] = portable(manifest_dir)
        env["CARGO_MANIFEST_PATH"] = portable(os.path.join(manifest_dir, "Cargo.toml"))
        argv.append(f"--remap-path-prefix={HERE}=.")
    if script_dir:
        out = portable(os.path.join(script_dir, OUT))
        with open(os.path.join(script_dir, FLAGS), encoding="utf-8") as stream:
            found = json.load(stream)
        for cfg in found["cfgs"]:
            argv += ["--cfg", cfg]
        for cfg in found["check_cfgs"]:
            argv += ["--check-cfg", cfg]
        env |= dict(found["env"])
        env["OUT_DIR"] = out
        argv.append(f"--remap-path-prefix={out}={OUT_NAME}{crate}")
    return argv, env
