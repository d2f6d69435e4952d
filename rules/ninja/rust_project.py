"""``fatcrate rust-project``: rust-project.json, by which rust-analyzer understands a project
that cargo does not build.

Format: rust-analyzer's manual, "Non-Cargo Based Projects".
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
from typing import Any

from fatcrate.rules import rustc
from fatcrate.rules.ninja import generate, lint, session
from fatcrate.rules.ninja.display import Display
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
  fatcrate rust-project --bazel //kernels/...
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
    parser.add_argument(
        "--bazel",
        nargs="?",
        const="//...",
        metavar="PATTERN",
        help="describe crates of a Bazel workspace: those that targets need (all of //...)",
    )
    parser.add_argument(
        "--bazel-program",
        default="bazel",
        metavar="COMMAND",
        help="Bazel, with its startup options (default: %(default)s)",
    )
    return parser


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    args = _parser().parse_args(argv)
    if args.bazel:
        root, found = _of_bazel(args)
    else:
        places = session.places_of(args, Display())
        project = generate.read_project(places, session.PROJECT_FILE, {})
        root, found = places.root, document(project, places, discover())
    text = json.dumps(found, indent=2) + "\n"
    if args.output == "-":
        sys.stdout.write(text)
    else:
        path = os.path.join(root, args.output)
        changed = atomic.write_if_changed(path, text.encode("utf-8"))
        verb = "wrote" if changed else "is as it was:"
        print(f"fatcrate: {verb} {os.path.relpath(path)}", file=sys.stderr)
    return 0


def _of_bazel(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The workspace's folder, and the content for its crates."""
    from fatcrate.rules import bazel_crates

    workspace = bazel_crates.load(args.root or ".", args.bazel, args.bazel_program)
    number = {crate.key: index for index, crate in enumerate(workspace.crates)}
    entries = []
    for crate in workspace.crates:
        made = bazel_crates.entry(crate, workspace, number)
        library = None
        if crate.kind == "proc-macro":
            library = os.path.join(workspace.execution_root, crate.library)
        entries.append(_for_target(made, workspace.rustc, library))
    return workspace.root, {**_sysroot(discover()), "crates": entries}


def _sysroot(tools: Tools) -> dict[str, str]:
    source = {"sysroot_src": tools.rust_src} if tools.rust_src else {}
    return {"sysroot": tools.sysroot, **source}


def document(project: Project, places: Places, tools: Tools) -> dict[str, Any]:
    """The file's content: each crate after those that it depends on."""
    order = _order(project)
    number = {key: index for index, key in enumerate(order)}
    own = {crate.key for crate in lint.own_crates(project)}
    entries = []
    for key in order:
        crate = project.crates[key]
        made = _crate(crate, project, places, number, key in own)
        library = None
        if crate.proc_macro:
            library = places.absolute(f"{places.out}/crates/{key}/lib{crate.name}.so")
        entries.append(_for_target(made, tools.rustc, library))
    return {**_sysroot(tools), "crates": entries}


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


def _for_target(made: dict[str, Any], compiler: str, library: str | None) -> dict[str, Any]:
    """Adds what depends on whether the crate is for the GPU, or a proc macro in ``library``."""
    if library is not None:
        return {**made, "proc_macro_dylib_path": library}
    cfgs = [*_target_cfgs(compiler), *made["cfg"]]
    return {**made, "cfg": cfgs, "target": names.NVPTX_TRIPLE}


@functools.cache
def _target_cfgs(compiler: str) -> tuple[str, ...]:
    """What `cfg` sees on the GPU."""
    done = subprocess.run(
        [compiler, "--print", "cfg", "--target", names.NVPTX_TRIPLE, "-Copt-level=3"],
        env=rustc.ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(done.stdout.splitlines())


def _crate(
    crate: Crate, project: Project, places: Places, number: dict[str, int], own: bool
) -> dict[str, Any]:
    root = places.absolute(crate.source)
    return {
        "display_name": crate.key,
        "root_module": root,
        "edition": crate.edition,
        "deps": [
            {"crate": number[dep.crate], "name": dep.extern or project.crates[dep.crate].name}
            for dep in crate.deps
        ],
        "cfg": [*(f'feature="{feature}"' for feature in crate.features), *crate.cfgs],
        "env": dict(crate.env),
        "is_workspace_member": own,
        "is_proc_macro": crate.proc_macro,
        "source": {"include_dirs": [os.path.dirname(root)], "exclude_dirs": []},
    }
