"""``fatcrate check``: rustc's diagnostics of the crates, without generating code.

Crates that did not change are not checked again; what rustc said of them is kept and shown
again, so that each run tells everything.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from fatcrate.rules.ninja import plan, session
from fatcrate.rules.ninja.display import Display
from fatcrate.rules.ninja.runner import Outcome
from fatcrate.rules.ninja.session import Session

_EPILOG = """\
TARGET is an entry of `kernels:` or a crate; without one every crate is checked. Faults that
only show when code is generated, or at the link, are found by `fatcrate build` alone.

examples:
  fatcrate check
  fatcrate check demo
  fatcrate check --message-format json     for editors: rustc's JSON, a diagnostic a line
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate check``."""
    made = argparse.ArgumentParser(
        prog="fatcrate check",
        description="Report rustc's errors and warnings, quickly.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("targets", nargs="*", metavar="TARGET", help="what to check")
    session.add_folders(made)
    session.add_running(made)
    made.add_argument(
        "--message-format",
        choices=("human", "json"),
        default="human",
        help="json: rustc's own diagnostics on stdout, one a line (default: human)",
    )
    return made


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    args = parser().parse_args(argv)
    as_json = args.message_format == "json"
    display = Display(quiet=args.quiet, verbose=args.verbose, as_json=as_json)
    started = time.monotonic()
    with session.open_session(args, display) as opened:
        crates = load(opened)
        wanted = closure(crates, chosen(opened, crates, args.targets))
        outcome = check(opened, crates, wanted)
        replayed = _replay(opened, crates, wanted, outcome)
    return _conclude(opened, outcome, wanted, replayed, time.monotonic() - started)


def load(opened: Session) -> dict[str, dict[str, Any]]:
    """What ``plan`` wrote for us: crates by key."""
    with open(_file(opened), encoding="utf-8") as stream:
        crates: dict[str, dict[str, Any]] = json.load(stream)["crates"]
    return crates


def _file(opened: Session) -> str:
    return opened.places.absolute(opened.places.own(plan.CHECKS))


def chosen(opened: Session, crates: dict[str, dict[str, Any]], targets: list[str]) -> list[str]:
    """Keys of the crates that the names stand for; raises FC0120 for names that stand for none."""
    if not targets:
        return list(crates)
    with open(_file(opened), encoding="utf-8") as stream:
        of_target: dict[str, list[str]] = json.load(stream)["targets"]
    known = [*of_target, *crates]
    session.unknown_targets([name for name in targets if name not in known], known, known)
    return [key for name in targets for key in of_target.get(name, [name])]


def closure(crates: dict[str, dict[str, Any]], keys: Iterable[str]) -> list[str]:
    """The crates and those that they need, which come first. Proc macros stay out."""
    order: dict[str, None] = {}
    for key in keys:
        order.update(dict.fromkeys(need for need in crates[key]["needs"] if need in crates))
        order[key] = None
    return list(order)


def check(opened: Session, crates: dict[str, dict[str, Any]], wanted: list[str]) -> Outcome:
    """Checks crates that changed, all of them even where one has faults."""
    return opened.run([crates[key]["metadata"] for key in wanted], "-k", "0")


def _replay(
    opened: Session, crates: dict[str, dict[str, Any]], wanted: list[str], outcome: Outcome
) -> int:
    """Shows what rustc said of crates that were not checked now, in JSON of all; returns how
    many crates that were."""
    done = {step.what for step in outcome.steps}
    shown = 0
    for key in wanted:
        fresh = f"check {key}" in done
        if fresh and not opened.display.as_json:
            continue  # Ninja's output had it
        path = opened.places.absolute(crates[key]["diagnostics"])
        if not os.path.exists(path):
            continue  # a dependency has faults
        with open(path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        shown += bool(lines)
        for line in lines:
            _show(opened.display, line)
    opened.display.end()
    return shown


def _show(display: Display, line: str) -> None:
    if display.as_json:
        print(line)
        return
    for text in (json.loads(line).get("rendered") or "").splitlines():
        display.on_line(None, text)


def _conclude(
    opened: Session, outcome: Outcome, wanted: list[str], replayed: int, seconds: float
) -> int:
    code = session.exit_code(outcome)
    if outcome.interrupted:
        opened.display.say("interrupted")
    elif code and not opened.display.as_json:
        print(f"fatcrate: {session.failure_text(outcome)}", file=sys.stderr)
    elif outcome.steps:
        opened.display.say(f"checked {', '.join(wanted)}: {seconds:.1f} s")
    else:
        kept = "; what rustc said before is above" if replayed else ""
        opened.display.say(f"nothing changed since the last check{kept}")
    return code
