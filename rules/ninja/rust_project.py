"""``fatcrate rust-project``: rust-project.json, by which rust-analyzer understands a project
that cargo does not build.

Format: rust-analyzer's manual, "Non-Cargo Based Projects".
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from fatcrate.rules import rustc
from fatcrate.rules.ninja import generate, lint, session
from fatcrate.rules.ninja.graph import closure
from fatcrate.rules.ninja.model import Crate, Project
from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain import atomic, names
from fatcrate.toolchain.discover import Tools, discover

_EPILOG = """\
Editors find the file in the project's folder. Procedural macros work once they are built; for
diagnostics while you type, set in the editor
  "rust-analyzer.check.overrideCommand": ["fatcrate", "check", "--message-format", "json"]

examples:
  fatcrate rust-project
  fatcrate rust-project --output - | less
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fatcrate rust-project",
        description="Write rust-project.json for rust-analyzer.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    session.add_folders(parser)
    parser.add_argument(
        "--output",
        default="rust-project.json",
        metavar="FILE",
        help="relative to the project's folder; '-' for stdout (default: %(default)s)",
    )
    return parser


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    args = _parser().parse_args(argv)
    places = session.places_of(args.root, args.out)
    project = generate.read_project(places, session.PROJECT_FILE, {})
    text = json.dumps(document(project, places, discover()), indent=2) + "\n"
    if args.output == "-":
        sys.stdout.write(text)
    else:
        path = places.absolute(args.output)
        changed = atomic.write_if_changed(path, text.encode("utf-8"))
        verb = "wrote" if changed else "is as it was:"
        print(f"fatcrate: {verb} {os.path.relpath(path)}", file=sys.stderr)
    return 0


def document(project: Project, places: Places, tools: Tools) -> dict[str, Any]:
    """The file's content: each crate after those that it depends on."""
    order = _order(project)
    cfgs = _target_cfgs(tools.rustc)
    number = {key: index for index, key in enumerate(order)}
    own = {crate.key for crate in lint.own_crates(project)}
    return {
        "sysroot": tools.sysroot,
        **({"sysroot_src": tools.rust_src} if tools.rust_src else {}),
        "crates": [
            _crate(project.crates[key], project, places, number, cfgs, key in own) for key in order
        ],
    }


def _order(project: Project) -> list[str]:
    """Keys of all crates, dependencies first, proc macros and what serves them too."""
    order: dict[str, None] = {}

    def add(key: str) -> None:
        for inner in closure(project, [key]):
            for dep in project.crates[inner].deps:
                if project.crates[dep.crate].proc_macro and dep.crate not in order:
                    add(dep.crate)
            order.setdefault(inner)

    for key in project.crates:
        add(key)
    return list(order)


def _target_cfgs(compiler: str) -> list[str]:
    """What `cfg` sees on the GPU."""
    done = subprocess.run(
        [compiler, "--print", "cfg", "--target", names.NVPTX_TRIPLE, "-Copt-level=3"],
        env=rustc.ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\n")[:-1]


def _crate(
    crate: Crate,
    project: Project,
    places: Places,
    number: dict[str, int],
    target_cfgs: list[str],
    own: bool,
) -> dict[str, Any]:
    features = [f'feature="{feature}"' for feature in crate.features]
    root = places.absolute(crate.source)
    found: dict[str, Any] = {
        "display_name": crate.key,
        "root_module": root,
        "edition": crate.edition,
        "deps": [
            {
                "crate": number[dep.crate],
                "name": dep.extern or project.crates[dep.crate].name,
            }
            for dep in crate.deps
        ],
        "cfg": [*([] if crate.proc_macro else target_cfgs), *features, *crate.cfgs],
        "env": dict(crate.env),
        "is_workspace_member": own,
        "is_proc_macro": crate.proc_macro,
        "source": {"include_dirs": [os.path.dirname(root)], "exclude_dirs": []},
    }
    if crate.proc_macro:
        library = f"{places.out}/crates/{crate.key}/lib{crate.name}.so"
        found["proc_macro_dylib_path"] = places.absolute(library)
    else:
        found["target"] = names.NVPTX_TRIPLE
    return found
