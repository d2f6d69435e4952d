"""``fatcrate try-crate``: does a registry crate work in device code, and if not, why.

Makes a project of one kernel crate that depends on it, imports and builds that, and reports.
That shows whether it and its dependencies compile for the GPU and link; machine code is made
of what a kernel calls, so a kernel of one's own is the last word.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from typing import NoReturn

from fatcrate.rules.cargo import emit_yaml
from fatcrate.rules.cargo.importer import discovered
from fatcrate.rules.cargo.invoke import Selection
from fatcrate.rules.cargo.plan import Options, plan
from fatcrate.toolchain.diagnostics import FatcrateError, fail

_EPILOG = """\
examples:
  fatcrate try-crate libm
  fatcrate try-crate hashbrown@0.16 --features default-hasher
  fatcrate try-crate serde --default-features     fails, and says what pulls in std

Default features are off, since most crates have `std` among them.

exit codes: 0 it works, 1 it does not, 2 wrong usage, 3 no cargo
"""

_MANIFEST = """\
[package]
name = "trial"
version = "0.0.0"
edition = "2024"

[lib]
path = "lib.rs"

[dependencies]
{dependency}

[workspace]
"""

_SOURCE = """\
#![no_std]
#![allow(unused_extern_crates)]
extern crate {crate} as _;

#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn trial() {{}}
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="fatcrate try-crate",
        description="Try whether a crate of the registry works in device code.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("crate", metavar="NAME[@VERSION]", help="the package, and a version as in Cargo.toml")
    add("--features", default="", metavar="LIST", help="enable these features")
    add("--default-features", action="store_true", help="enable the default features")
    add("--archs", default="sm_75,sm_90", metavar="LIST", help="archs (default: sm_75,sm_90)")
    add("--offline", action="store_true", help="use no network")
    add("--json", action="store_true", help="print the result as JSON")
    add("--keep", metavar="DIR", help="make the project in this folder and leave it there")
    return made


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    made = parser()
    args = made.parse_args(argv)
    name, _, version = args.crate.partition("@")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        made.error(f"'{name}' cannot be the name of a package")
    if not re.fullmatch(r"[0-9A-Za-z.+*^~<>=, -]*", version):
        made.error(f"'{version}' is no version")
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
        return _try(args, name, version, os.path.abspath(args.keep))
    with tempfile.TemporaryDirectory(prefix="fatcrate-try-") as folder:
        return _try(args, name, version, folder)


def _dependency(name: str, version: str, features: list[str], default: bool) -> str:
    """The line of Cargo.toml."""
    parts = [f"version = {json.dumps(version or '*')}"]
    if not default:
        parts.append("default-features = false")
    if features:
        parts.append(f"features = {json.dumps(features)}")
    return f"{name} = {{ {', '.join(parts)} }}"


def _try(args: argparse.Namespace, name: str, version: str, folder: str) -> int:
    features = args.features.replace(",", " ").split()
    dependency = _dependency(name, version, features, args.default_features)
    _write(folder, "Cargo.toml", _MANIFEST.format(dependency=dependency))
    _write(folder, "lib.rs", _SOURCE.format(crate="core"))
    result: dict[str, object] = {"crate": name, "dependency": dependency}
    try:
        result |= _steps(args, name, folder)
    except FatcrateError as error:
        if error.exit_code != 1:
            raise
        result |= {"works": False, "stage": "import", "reason": str(error)}
    _report(result, args.json)
    return 0 if result["works"] else 1


def _steps(args: argparse.Namespace, name: str, folder: str) -> dict[str, object]:
    """Imports and builds the project."""
    mode = ("--offline",) if args.offline else ()
    archs = tuple(args.archs.replace(",", " ").split())
    cargo, identity = discovered(os.path.join(folder, "Cargo.toml"), mode)
    project = plan(cargo, Selection(), Options(folder, "vendor", identity, archs))
    root = next(entry for entry in project.entries if entry.key == "trial")
    chosen = next((dep for dep in root.deps if dep[1] in _keys(project.crate_names, name)), None)
    if chosen is None:
        fail_no_library(name)
    _write(folder, "lib.rs", _SOURCE.format(crate=chosen[0]))
    _write(folder, "fatcrate.yaml", emit_yaml.document(project, ""))
    entry = next(e for e in project.entries if e.key == chosen[1])
    found: dict[str, object] = {
        "version": entry.fields["version"],
        "features": list(entry.features),
        "crates": len(project.entries) - 1,
        "archs": list(archs),
    }
    done = subprocess.run(
        [sys.executable, "-m", "fatcrate", "build", "--quiet", "--keep-going", "-C", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return found | {"works": True}
    return found | {
        "works": False,
        "stage": "build",
        "reason": (done.stderr or done.stdout).strip(),
    }


def _keys(names: dict[str, str], name: str) -> set[str]:
    """The keys that the package may have: its name, or that and a version."""
    return {key for key in names if key == name or key.startswith(f"{name}-")}


def fail_no_library(name: str) -> NoReturn:
    """Raises FC0157 for a package that is a program or a macro for other targets only."""
    from fatcrate.rules.cargo import errors

    fail(
        errors.NOTHING_TO_BUILD,
        name,
        "has no library for the GPU",
        remedy="try the library that it is made from",
    )


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
        stream.write(text)


def _report(result: dict[str, object], as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, indent=1))
        return
    what = str(result["crate"])
    if "version" in result:
        what += f" {result['version']}"
    if result["works"]:
        archs = result["archs"]
        assert isinstance(archs, list)
        print(f"{what} works in device code: {result['dependency']}")
        count = result["crates"]
        with_it = "1 crate" if count == 1 else f"{count} crates, with those that it depends on"
        print(f"built and linked for {', '.join(archs)}: {with_it}")
    else:
        print(f"{what} does not work in device code ({result['stage']}): {result['dependency']}")
        print(result["reason"])
