"""What ``fatcrate run`` builds before it runs a kernel: the target's linked module, no image.

The runner calls this; see ``Front`` in ``lto/cpu/run.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from fatcrate.rules.ninja import session
from fatcrate.rules.ninja.build import refused
from fatcrate.rules.ninja.display import Display, document, print_json
from fatcrate.rules.ninja.plan import Plan
from fatcrate.toolchain.diagnostics import FatcrateError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds ``-C``, ``--out`` and the options of commands that run steps."""
    session.add_folders(parser)
    parser.add_argument(
        "--no-build", action="store_true", help="run what is there, even if sources changed"
    )
    session.add_running(parser)


def build(args: argparse.Namespace) -> int:
    """Brings the module of target ``args.names[0]`` up to date; returns the exit code.

    Leaves the output folder's path in ``args.out``. A folder without a project file may hold
    outputs; there is nothing to build them from. Raises what ``open_session`` does, FC0120 for
    a target that is not there.
    """
    display = Display(quiet=args.quiet, verbose=args.verbose, as_json=args.json)
    root = session.find_root(args.root, display)
    folder = os.path.join(root, args.out)
    there = os.path.lexists(os.path.join(root, session.PROJECT_FILE))
    if args.no_build or not there:
        args.out = os.path.normpath(folder)
        return 0
    started = time.monotonic()
    args.root = root
    try:
        with session.open_session(args, display) as opened:
            outcome = opened.run(needed(opened.plan, args.names[0]))
        code = session.exit_code(outcome)
    except FatcrateError as error:
        return refused(error, args, started)
    if outcome.interrupted:
        display.say("interrupted")
    elif code and not args.json:
        print(f"fatcrate: {session.failure_text(outcome)}", file=sys.stderr)
    if code and args.json:
        status = "interrupted" if outcome.interrupted else "failed"
        print_json(document(status, outcome, [], time.monotonic() - started))
    args.out = os.path.relpath(opened.places.folder)
    return code


def needed(plan: Plan, target: str) -> list[str]:
    """The outputs that a run reads: a linked module, or one for each partition, and the
    manifest. Raises FC0120."""
    if target not in plan.targets:
        session.unknown_targets([target], plan.targets, plan.targets)
    manifest, folder = f"{target}.manifest.json", f"{target}/"
    return [
        node
        for node in plan.outputs
        if node == manifest or (node.startswith(folder) and node.endswith("/linked.bc"))
    ]
