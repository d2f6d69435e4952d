"""``fatcrate build``: the Ninja front end's driver, a list of phases."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from fatcrate.rules import errors
from fatcrate.rules.ninja import plan, runner
from fatcrate.rules.ninja.display import Display, document, print_json
from fatcrate.rules.ninja.places import Places
from fatcrate.rules.ninja.plan import Plan
from fatcrate.rules.ninja.runner import Listener, Outcome
from fatcrate.toolchain.diagnostics import (
    EXIT_ENVIRONMENT,
    EXIT_INTERRUPTED,
    Diagnostic,
    FatcrateError,
    fail,
    report,
)
from fatcrate.toolchain.discover import Tools, discover

PROJECT_FILE = "fatcrate.yaml"
DEFAULT_OUT = "fatcrate-out"

_EPILOG = """\
TARGET is an entry of `kernels:`, a crate, or an output such as demo.fatbin or
demo/sm_90.cubin; without one everything is built.

examples:
  fatcrate build
  fatcrate build demo --archs sm_90,compute_90
  fatcrate build -C examples/saxpy --out /tmp/saxpy demo.fatbin
  ninja -C fatcrate-out            after a first fatcrate build

exit codes: 0; 1 a fault in the project or its sources; 2 wrong usage; 3 a fault of the
environment (missing tool, full disk); 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate build``."""
    made = argparse.ArgumentParser(
        prog="fatcrate build",
        description="Build the targets of fatcrate.yaml with Ninja.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("targets", nargs="*", metavar="TARGET", help="what to build (default: everything)")
    add("-C", dest="root", default=".", metavar="DIR", help="the project's folder (default: .)")
    add("--out", default=DEFAULT_OUT, metavar="DIR", help="output folder (default: %(default)s)")
    add("-j", "--jobs", type=_jobs, metavar="N", help="steps at a time (default: one per CPU)")
    add(
        "--archs",
        action="append",
        default=[],
        metavar="LIST",
        help="build for these archs instead of those in the project file: sm_90,compute_90",
    )
    add("--dry-run", action="store_true", help="say what would be done, run no step")
    add("--keep-going", action="store_true", help="go on with what does not need a failed step")
    add("--verbose", action="store_true", help="show the command of each step")
    add("--quiet", action="store_true", help="show only what goes wrong")
    add("--json", action="store_true", help="print the result as JSON on stdout")
    add(
        "--allow-untested-llvm",
        action="store_true",
        help="accept a pair of rustc and llvmlite that was not tested together",
    )
    add("--generate", action="store_true", help=argparse.SUPPRESS)
    return made


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1, not '{text}'")
    return int(text)


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    args = parser().parse_args(argv)
    display = Display(quiet=args.quiet, verbose=args.verbose, as_json=args.json)
    started = time.monotonic()
    try:
        return _main(args, display, started)
    except FatcrateError as error:
        if not args.json:
            raise
        report(error.diagnostics)
        print_json(_failed_document(error, time.monotonic() - started))
        return error.exit_code


def _main(args: argparse.Namespace, display: Display, started: float) -> int:
    places = _places(args.root, args.out)
    options = plan.Options(tuple(args.archs), args.allow_untested_llvm)
    if args.generate:
        plan.make(places, PROJECT_FILE, _discover(options), options)
        return 0
    with _locked(places, display):
        tools = _discover(options)
        planned = plan.make(places, PROJECT_FILE, tools, options)
        outputs = _wanted(planned, args.targets)
        ninja = runner.find()
        outcome = _run(ninja, places, args, outputs, display)
    display.end()
    return _conclude(outcome, places, args, outputs, planned, display, time.monotonic() - started)


def _places(root: str, out: str) -> Places:
    """Checks both folders; raises FC0118 and FC0122."""
    root = os.path.realpath(root)
    if not os.path.isfile(os.path.join(root, PROJECT_FILE)):
        there = os.path.isdir(root)
        fail(
            errors.NO_PROJECT,
            root,
            f"has no {PROJECT_FILE}" if there else "is not a folder",
            remedy="run it in the project's folder or name that with -C;"
            " `fatcrate build --help` shows how",
        )
    folder = os.path.realpath(os.path.join(root, out))
    for path in (root, folder):
        if any(char in path for char in "\n\r"):
            fail(errors.BAD_OUTPUT_FOLDER, repr(path), "has a line break in its name")
    if root == folder or root.startswith(folder.rstrip("/") + "/"):
        fail(
            errors.BAD_OUTPUT_FOLDER,
            out,
            "holds the project itself",
            remedy="choose a folder of its own for outputs",
        )
    if os.path.exists(folder) and not os.path.isdir(folder):
        fail(errors.BAD_OUTPUT_FOLDER, out, "is not a folder", remedy="choose another")
    return Places(root, folder)


def _discover(options: plan.Options) -> Tools:
    return discover(allow_untested_llvm=options.allow_untested_llvm)


@contextmanager
def _locked(places: Places, display: Display) -> Iterator[None]:
    """One build at a time in an output folder; a second one says that it waits.

    The lock file holds the number of the process that builds. Finding one when nobody holds
    the lock means that the process was killed; what it left behind is removed.
    """
    import fcntl

    own = places.absolute(places.own(""))
    os.makedirs(own, exist_ok=True)
    with open(os.path.join(own, "lock"), "a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(stream)
            by = f" by process {holder}" if holder else ""
            display.say(f"waiting: another build runs in {places.out}{by}")
            fcntl.flock(stream, fcntl.LOCK_EX)
        if _holder(stream):
            from fatcrate.rules.ninja import sweep

            sweep.remove_temporary(places)
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        try:
            yield
        finally:
            stream.truncate(0)


def _holder(stream: TextIO) -> str:
    stream.seek(0)
    return stream.read().strip()


def _wanted(planned: Plan, targets: list[str]) -> list[str]:
    """Outputs that the names stand for; raises FC0120 for names that stand for none."""
    if not targets:
        return [path for paths in planned.names.values() for path in paths]
    outputs: list[str] = []
    faults = []
    for name in targets:
        if name in planned.names:
            outputs += planned.names[name]
        elif name in planned.outputs:
            outputs.append(name)
        else:
            faults.append(_unknown_target(name, planned))
    if faults:
        raise FatcrateError(*faults)
    return list(dict.fromkeys(outputs))


def _unknown_target(name: str, planned: Plan) -> Diagnostic:
    import difflib

    near = difflib.get_close_matches(name, [*planned.names, *planned.outputs], 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return Diagnostic(
        errors.UNKNOWN_TARGET,
        name,
        "there is no such target",
        f"{hint}targets: {', '.join(sorted(planned.names))}",
    )


def _run(
    ninja: str, places: Places, args: argparse.Namespace, outputs: list[str], display: Display
) -> Outcome:
    arguments = ["-j", str(args.jobs or len(os.sched_getaffinity(0)))]
    arguments += ["-k", "0"] if args.keep_going else []
    arguments += ["-n"] if args.dry_run else []
    arguments += ["-v"] if args.verbose else []
    listener = Listener(display.on_step, display.on_failure, display.on_line)
    return runner.run(ninja, places.folder, [*arguments, *outputs], listener)


def _conclude(
    outcome: Outcome,
    places: Places,
    args: argparse.Namespace,
    outputs: list[str],
    planned: Plan,
    display: Display,
    seconds: float,
) -> int:
    """Tells what came of it; returns the exit code."""
    code = _exit_code(outcome)
    idle = not outcome.steps
    if outcome.interrupted:
        status, text = "interrupted", "interrupted; what was finished stays"
    elif code:
        status, text = "failed", _failure_text(outcome)
    elif args.dry_run:
        status, text = "planned", f"would run {len(outcome.steps)} steps; nothing was run"
    elif idle:
        status, text = "up-to-date", f"nothing to do, {places.out} is up to date"
    else:
        status, text = "built", _success_text(outcome, places, args.targets, planned, seconds)
    if args.json:
        paths = [os.path.join(places.folder, path) for path in outputs]
        print_json(document(status, outcome, paths, seconds))
    elif code and not outcome.interrupted:
        print(f"fatcrate: {text}", file=sys.stderr)
    else:
        display.say(text)
    return code


def _exit_code(outcome: Outcome) -> int:
    """A fault of the environment outranks one of the input."""
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if outcome.code == 0:
        return 0
    if codes := [step.code for step in outcome.failures]:
        return EXIT_ENVIRONMENT if EXIT_ENVIRONMENT in codes else 1
    messages = [text for text in outcome.messages if "subcommand failed" not in text]
    fail(
        errors.NINJA_FAILED,
        "ninja",
        "; ".join(messages) or f"ended with exit code {outcome.code}",
        remedy="remove the output folder and build again if this persists",
    )


def _failure_text(outcome: Outcome) -> str:
    failed = [step.what for step in outcome.failures]
    return f"{len(failed)} step{'s' * (len(failed) != 1)} failed: {', '.join(failed)}"


def _success_text(
    outcome: Outcome, places: Places, targets: list[str], planned: Plan, seconds: float
) -> str:
    names = ", ".join(targets or planned.targets or planned.names)
    steps = len(outcome.steps)
    return f"built {names} in {places.out}: {steps} step{'s' * (steps != 1)}, {seconds:.1f} s"


def _failed_document(error: FatcrateError, seconds: float) -> dict[str, object]:
    found = document("failed", Outcome(error.exit_code, [], []), [], seconds)
    return {**found, "diagnostics": [fault.to_json() for fault in error.diagnostics]}
