"""What every command on a project shares: its folders, the lock, the plan, the Ninja run."""

from __future__ import annotations

import argparse
import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fatcrate.rules import errors
from fatcrate.rules.ninja import client, damage, lock, plan, runner, server, times
from fatcrate.rules.ninja.display import Display
from fatcrate.rules.ninja.places import Places
from fatcrate.rules.ninja.plan import Plan
from fatcrate.rules.ninja.runner import Listener, Outcome
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, fail
from fatcrate.toolchain.discover import Tools, discover
from fatcrate.toolchain.errors import from_os_error

if TYPE_CHECKING:
    from fatcrate.rules.ninja.graph import Temps

PROJECT_FILE = "fatcrate.yaml"
DEFAULT_OUT = "fatcrate-out"
FOLDER_HELP = (
    f"the project's folder (default: the nearest with a {PROJECT_FILE}, from here upwards)"
)


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Adds ``-C`` and ``--out``."""
    add = parser.add_argument
    add("-C", dest="root", metavar="DIR", help=FOLDER_HELP)
    add("--out", default=DEFAULT_OUT, metavar="DIR", help="output folder (default: %(default)s)")


def add_running(parser: argparse.ArgumentParser) -> None:
    """Adds the options of commands that run steps."""
    add = parser.add_argument
    add("-j", "--jobs", type=_jobs, metavar="N", help="steps at a time (default: one per CPU)")
    add("--verbose", action="store_true", help="show the command of each step")
    add("--quiet", action="store_true", help="show only what goes wrong")
    add(
        "--allow-untested-llvm",
        action="store_true",
        help="accept a pair of rustc and llvmlite that was not tested together",
    )


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1, not '{text}'")
    return int(text)


def job_count(args: argparse.Namespace) -> int:
    """Steps at a time."""
    return args.jobs or len(os.sched_getaffinity(0))


def find_root(root: str | None, display: Display) -> str:
    """The project's folder: ``root`` if it was told, else the nearest that holds a project
    file, which is said when it is not the present one."""
    if root is not None:
        return root
    here = folder = os.getcwd()
    while not os.path.lexists(os.path.join(folder, PROJECT_FILE)):
        if (above := os.path.dirname(folder)) == folder:
            return "."
        folder = above
    if folder == here:
        return "."
    found = os.path.relpath(folder, here)
    display.say(f"using {os.path.join(found, PROJECT_FILE)}")
    return found


def places_of(args: argparse.Namespace, display: Display) -> Places:
    """The folders that :func:`add_folders` asks for, both checked; raises FC0101, FC0118 and
    FC0122."""
    out: str = args.out
    root = os.path.realpath(find_root(args.root, display))
    if not os.path.isdir(root):
        fail(errors.USAGE, "-C", f"{root} is not a folder", remedy="check the path")
    if not os.path.isfile(os.path.join(root, PROJECT_FILE)):
        fail(
            errors.NO_PROJECT,
            root,
            _why_no_file(os.path.join(root, PROJECT_FILE)),
            remedy=_instead(root),
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


_BAZEL = ("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel")


def _instead(root: str) -> str:
    """What helps someone in a folder without a project file."""
    here = "run it in the project's folder, in one below it, or name it with -C;"
    folder = root
    while True:
        if any(os.path.isfile(os.path.join(folder, name)) for name in _BAZEL):
            return "this is a Bazel workspace: run `bazel build //...`, or add a fatcrate.yaml"
        if os.path.isfile(os.path.join(root, "Cargo.toml")):
            return f"{here} `fatcrate import Cargo.toml` makes one of this Cargo package"
        if (above := os.path.dirname(folder)) == folder:
            return f"{here} `fatcrate new` starts a project"
        folder = above


def _why_no_file(path: str) -> str:
    """What is wrong with a project file that cannot be read as one."""
    if os.path.isdir(path):
        return f"its {PROJECT_FILE} is a folder"
    if os.path.exists(path):
        return f"its {PROJECT_FILE} is not a regular file"
    if os.path.islink(path):
        return f"its {PROJECT_FILE} is a link to {os.readlink(path)}, which is not there"
    return f"has no {PROJECT_FILE}"


@dataclass(frozen=True)
class Session:
    """A project whose output folder is ours for now, with an up-to-date plan."""

    places: Places
    tools: Tools
    plan: Plan
    args: argparse.Namespace
    display: Display
    lock: int  # the descriptor of the output folder's lock

    def run(self, outputs: Sequence[str], *flags: str) -> Outcome:
        """Runs Ninja for outputs as it names them. Raises what :func:`refused` does."""
        flags = (*flags, *(["-v"] if self.args.verbose else []))
        arguments = ["-j", str(job_count(self.args)), *flags, *outputs]
        display = self.display
        listener = Listener(display.on_step, display.on_failure, display.on_line)
        ninja = runner.find()
        planned = () if "-n" in flags else self.plan.outputs
        if changed := damage.remove_changed(self.places, planned):
            display.say(f"made again, since something changed them: {', '.join(changed)}")
        if planned and (older := times.remove_outdated(self.places)):
            display.say(f"changed, though not newer: {', '.join(older)}")
        with server.serving() as host:
            variables = {client.VARIABLE: host.name}
            outcome = runner.run(
                *(ninja, self.places.folder, arguments, listener, variables, host.start),
                keep=(self.lock,),
            )
        display.end()
        if outcome.interrupted:
            from fatcrate.rules.ninja import sweep

            sweep.remove_temporary(self.places)  # of steps that Ctrl-C met in an awkward place
        if planned:
            damage.record(self.places, planned)
        future: list[str] = []
        if planned and (outcome.steps or not times.is_current(self.places)):
            future = times.record(self.places, ninja)
        if future:
            display.say(f"with a time in the future, so built each time: {', '.join(future)}")
        if outcome.code and not outcome.interrupted and not outcome.failures:
            refused(outcome, plan.cache_folder(self.places))
        return outcome


@contextmanager
def open_session(
    args: argparse.Namespace, display: Display, told: tuple[Sequence[str], Temps] | None = None
) -> Iterator[Session]:
    """Locks the output folder, finds the tools and brings the plan up to date.

    ``told`` are the archs and the stages to keep; without it they stay those of the last build,
    whose outputs a command that builds nothing of that kind leaves alone. Raises what discovery
    and ``plan.make`` raise.
    """
    places = places_of(args, display)
    with lock.locked(places, display) as held:
        tools = discover(allow_untested_llvm=args.allow_untested_llvm)
        if told and told[1] == "numbered":
            disassembler(tools)
        made = _planned(places, tools, told, args.allow_untested_llvm)
        yield Session(places, tools, made, args, display, held)


def _planned(
    places: Places, tools: Tools, told: tuple[Sequence[str], Temps] | None, untested: bool
) -> Plan:
    """The plan as told, or as the last build was told, or if that is impossible by now, as the
    project file says."""
    archs, temps = told or plan.last_told(places)
    options = plan.Options(tuple(archs), untested, temps)
    plain = plan.Options((), untested)
    try:
        return plan.make(places, PROJECT_FILE, tools, options)
    except FatcrateError:
        if told or options == plain:
            raise
    return plan.make(places, PROJECT_FILE, tools, plain)


def disassembler(tools: Tools, hint: str = "") -> str:
    """Path of nvdisasm; raises FC0127, with ``hint`` at the end of the remedy."""
    if not tools.nvdisasm:
        from fatcrate.toolchain.survey import GET_NVDISASM

        fail(
            errors.NO_DISASSEMBLER,
            "nvdisasm",
            "is not installed; it shows machine code as text",
            remedy=GET_NVDISASM + hint,
        )
    return tools.nvdisasm


def unknown_targets(names: Sequence[str], known: Sequence[str], shown: Sequence[str]) -> None:
    """Raises FC0120 for each of ``names``. ``known`` is what is looked at for the nearest,
    ``shown`` what is listed."""
    import difflib

    faults = []
    for name in names:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        faults.append(
            Diagnostic(
                errors.UNKNOWN_TARGET,
                name,
                "there is no such target",
                f"{hint}targets: {', '.join(sorted(shown))}",
            )
        )
    if faults:
        raise FatcrateError(*faults)


#: The faults of the operating system that Ninja itself meets.
_REFUSALS = {
    os.strerror(number): number
    for number in (
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EIO),
    )
}
#: ``error: mkdir(PATH): REASON``, ``error: opening PATH: REASON`` and the like.
_REFUSED = re.compile(r"error: (?:\w+\((.*)\)|.*?([^ ]+)): ([^:]+)")


def refused(outcome: Outcome, sysroots: str) -> None:
    """Raises FC0201, or FC0129 below folder ``sysroots``, for a file that Ninja itself could
    not make, read or write."""
    for message in outcome.messages:
        match = _REFUSED.fullmatch(message)
        number = _REFUSALS.get(match[3]) if match else None
        if match is None or number is None:
            continue
        path = match[1] or match[2]
        if f"{path}/".startswith(f"{sysroots}/") or sysroots.startswith(f"{path}/"):
            from fatcrate.rules import sysroot

            sysroot.cannot_write(sysroots, match[3])
        raise FatcrateError(from_os_error(OSError(number, match[3], path)))


def exit_code(outcome: Outcome) -> int:
    """A fault of the environment outranks one of the input. Raises FC0124 for Ninja's own."""
    from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_INTERRUPTED

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


def failure_text(outcome: Outcome) -> str:
    """Which steps failed, in words."""
    failed = [step.what for step in outcome.failures]
    return f"{len(failed)} step{'s' * (len(failed) != 1)} failed: {', '.join(failed)}"
