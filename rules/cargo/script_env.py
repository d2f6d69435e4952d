"""The environment of a build script, as The Cargo Book documents it.

("Environment variables cargo sets for build scripts".) A script sees these, a fixed PATH and
what the user set for it, nothing of the user's own environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from typing import NoReturn

from fatcrate.rules.rustc import ENVIRONMENT

#: What tries of the script get as flags, between which cargo puts this character.
_SEPARATOR = "\x1f"

_HERE = "/proc/self/cwd"


def assignments(items: list[str]) -> dict[str, str]:
    """``NAME=VALUE`` strings as a dict."""
    pairs = (item.partition("=") for item in items)
    return {name: value for name, _, value in pairs}


def upper(name: str) -> str:
    """A feature's, cfg's or library's name as it stands in a variable's."""
    return name.upper().replace("-", "_")


def environment(args: argparse.Namespace, out: str) -> dict[str, str]:
    """All variables for the script. ``args``: of the step; ``out``: absolute OUT_DIR."""
    host = _ask(args.rustc, "-vV").partition("host: ")[2].partition("\n")[0]
    target = args.target or host
    manifest = os.path.abspath(args.manifest_dir)
    variables = {
        "PATH": ENVIRONMENT["PATH"],
        "LC_ALL": ENVIRONMENT["LC_ALL"],
        "TMPDIR": os.path.dirname(out),
        "CARGO_MANIFEST_DIR": manifest,
        "CARGO_MANIFEST_PATH": f"{manifest}/Cargo.toml",
        "OUT_DIR": out,
        "TARGET": target,
        "HOST": host,
        "NUM_JOBS": "1",
        "OPT_LEVEL": args.opt_level,
        "DEBUG": "false" if args.debug in ("0", "none") else "true",
        "PROFILE": "debug" if args.opt_level == "0" else "release",
        "RUSTC": os.path.abspath(args.rustc),
        "RUSTDOC": os.path.join(os.path.dirname(os.path.abspath(args.rustc)), "rustdoc"),
        "CARGO_ENCODED_RUSTFLAGS": "",
    }
    sysroot = os.path.abspath(args.sysroot) if args.sysroot else ""
    if sysroot:
        variables["CARGO_ENCODED_RUSTFLAGS"] = _SEPARATOR.join(["--sysroot", sysroot])
    if args.cargo:
        variables["CARGO"] = args.cargo
    if args.links:
        variables["CARGO_MANIFEST_LINKS"] = args.links
    variables |= {f"CARGO_FEATURE_{upper(feature)}": "1" for feature in args.feature}
    variables |= cfg_variables(_print_cfg(args.rustc, args.target), args.feature)
    for links, folder in (item.split("=", 1) for item in args.dep):
        variables |= _metadata(links, folder)
    return variables | assignments(args.package_env)


def _ask(rustc: str, *arguments: str) -> str:
    """What rustc prints. Raises FC0105 when it cannot be run."""
    try:
        return subprocess.run(
            [rustc, *arguments],
            env={"LC_ALL": "C.UTF-8", "PATH": ENVIRONMENT["PATH"]},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except OSError as error:
        _broken(rustc, error.strerror or "cannot be started")
    except subprocess.CalledProcessError as error:
        _broken(rustc, str(error.stderr).strip())


def _broken(rustc: str, text: str) -> NoReturn:
    from fatcrate.rules import errors
    from fatcrate.toolchain.diagnostics import fail

    fail(errors.NO_TOOL, rustc, text, remedy="run `fatcrate doctor`")


def _print_cfg(rustc: str, target: str | None) -> str:
    return _ask(rustc, "--print", "cfg", *(["--target", target] if target else []))


def cfg_variables(printed: str, features: list[str]) -> dict[str, str]:
    """``CARGO_CFG_*`` from the output of ``rustc --print cfg``; values of one name joined."""
    values: dict[str, list[str]] = {}
    for line in printed.splitlines():
        name, equals, value = line.partition("=")
        if name == "debug_assertions" or not name:
            continue  # cargo leaves it out: it depends on the profile
        values.setdefault(name, []).extend([value.strip('"')] if equals else [])
    if features:
        values["feature"] = sorted(features)
    return {f"CARGO_CFG_{upper(name)}": ",".join(found) for name, found in values.items()}


def _metadata(links: str, folder: str) -> dict[str, str]:
    """``DEP_LINKS_KEY`` from what the build script of a dependency printed."""
    with open(os.path.join(folder, "flags.json"), encoding="utf-8") as stream:
        flags = json.load(stream)
    here = os.getcwd()
    return {
        f"DEP_{upper(links)}_{upper(name)}": value.replace(_HERE, here)
        for name, value in flags["metadata"]
    }
