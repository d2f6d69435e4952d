"""``fatcrate build``: the Ninja front end's driver, a list of phases."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, NoReturn

from fatcrate.rules import errors
from fatcrate.rules.ninja import plan, session
from fatcrate.rules.ninja.display import Display, document, print_json
from fatcrate.rules.ninja.plan import Plan
from fatcrate.rules.ninja.runner import Outcome
from fatcrate.rules.ninja.session import Session
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, report
from fatcrate.toolchain.discover import discover

if TYPE_CHECKING:
    from fatcrate.rules.ninja.graph import Temps

_EPILOG = """\
TARGET is an entry of `kernels:`, a crate, or an output such as demo.fatbin or
demo/sm_90.cubin; without one everything is built.

examples:
  fatcrate build
  fatcrate build demo --archs sm_90,compute_90
  fatcrate build demo --save-temps      every stage, in fatcrate-out/demo/temps/
  fatcrate build -C examples/saxpy --out /tmp/saxpy demo.fatbin
  ninja -C fatcrate-out            after a first fatcrate build

exit codes: 0; 1 a fault in the project or its sources; 2 wrong usage; 3 a fault of the
environment (missing tool, full disk); 130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """Keeps what is wrong with the command line, for ``--json``."""

    fault = ""

    def error(self, message: str) -> NoReturn:
        self.fault = message
        super().error(message)


def parser() -> _Parser:
    """The command line of ``fatcrate build``."""
    made = _Parser(
        prog="fatcrate build",
        description="Build the targets of fatcrate.yaml with Ninja.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("targets", nargs="*", metavar="TARGET", help="what to build (default: everything)")
    session.add_folders(made)
    add(
        "--archs",
        action="append",
        default=[],
        metavar="LIST",
        help="build for these archs instead of those in the project file: sm_90,compute_90",
    )
    add("--dry-run", action="store_true", help="say what would be done, run no step")
    add("--keep-going", action="store_true", help="go on with what does not need a failed step")
    session.add_running(made)
    add(
        "--save-temps",
        action="store_true",
        help="keep MIR, LLVM IR, PTX, cubins and SASS in numbered files, TARGET/temps/",
    )
    add("--json", action="store_true", help="print the result as JSON on stdout")
    add("--generate", action="store_true", help=argparse.SUPPRESS)
    add("--temps", default="", choices=("", "numbered", "lines"), help=argparse.SUPPRESS)
    return made


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    reader = parser()
    try:
        args = reader.parse_args(argv)
    except SystemExit:
        if reader.fault and "--json" in argv:
            fault = Diagnostic(errors.USAGE, reader.prog, reader.fault)
            print_json(_failed_document(FatcrateError(fault), 0.0))
        raise
    display = Display(quiet=args.quiet, verbose=args.verbose, as_json=args.json)
    if args.generate:
        return _generate(args, display)
    started = time.monotonic()
    try:
        return _main(args, display, started)
    except FatcrateError as error:
        return refused(error, args, started)


def refused(error: FatcrateError, args: argparse.Namespace, started: float) -> int:
    """With ``--json`` tells of faults found before anything ran, in a document too; returns
    the exit code. Raises them otherwise."""
    if not args.json:
        raise error
    report(error.diagnostics)
    print_json(_failed_document(error, time.monotonic() - started))
    return error.exit_code


def _generate(args: argparse.Namespace, display: Display) -> int:
    """Makes ``build.ninja`` again, for plain Ninja; our own runs do that before."""
    places = session.places_of(args, display)
    tools = discover(allow_untested_llvm=args.allow_untested_llvm)
    options = plan.Options(tuple(args.archs), args.allow_untested_llvm, args.temps)
    plan.make(places, session.PROJECT_FILE, tools, options)
    return 0


def _main(args: argparse.Namespace, display: Display, started: float) -> int:
    temps: Temps = "numbered" if args.save_temps else ""
    with session.open_session(args, display, (args.archs, temps)) as opened:
        outputs = _wanted(opened.plan, args.targets)
        flags = [*(["-k", "0"] if args.keep_going else []), *(["-n"] if args.dry_run else [])]
        outcome = opened.run(outputs, *flags)
    return _conclude(opened, outcome, outputs, time.monotonic() - started)


def _wanted(planned: Plan, targets: list[str]) -> list[str]:
    """Outputs that the names stand for; raises FC0120 for names that stand for none."""
    if not targets:
        return [path for paths in planned.names.values() for path in paths]
    made = set(planned.outputs)
    unknown = [name for name in targets if name not in planned.names and name not in made]
    session.unknown_targets(unknown, [*planned.names, *planned.outputs], list(planned.names))
    outputs = [path for name in targets for path in planned.names.get(name, [name])]
    return list(dict.fromkeys(outputs))


def _conclude(opened: Session, outcome: Outcome, outputs: list[str], seconds: float) -> int:
    """Tells what came of it; returns the exit code."""
    args, places, display = opened.args, opened.places, opened.display
    code = session.exit_code(outcome)
    if outcome.interrupted:
        status, text = "interrupted", "interrupted; what was finished stays"
    elif code:
        status, text = "failed", session.failure_text(outcome)
    elif args.dry_run:
        status, text = "planned", f"would run {steps(outcome)}; nothing was run"
    elif not outcome.steps:
        status, text = "up-to-date", f"nothing to do, {places.out} is up to date"
    else:
        status, text = "built", _success_text(opened, outcome, seconds)
    if args.json:
        # After a failure what is there may be of an older build.
        paths = [] if code else [os.path.join(places.folder, path) for path in outputs]
        print_json(document(status, outcome, paths, seconds))
    elif code and not outcome.interrupted:
        print(f"fatcrate: {text}", file=sys.stderr)
    else:
        display.say(text)
    return code


def _success_text(opened: Session, outcome: Outcome, seconds: float) -> str:
    names = ", ".join(opened.args.targets or opened.plan.targets or opened.plan.names)
    return f"built {names} in {opened.places.out}: {steps(outcome)}, {seconds:.1f} s"


def steps(outcome: Outcome) -> str:
    """How many there were, in words."""
    count = len(outcome.steps)
    return f"{count} step{'s' * (count != 1)}"


def _failed_document(error: FatcrateError, seconds: float) -> dict[str, object]:
    found = document("failed", Outcome(error.exit_code, [], []), [], seconds)
    return {**found, "diagnostics": [fault.to_json() for fault in error.diagnostics]}
