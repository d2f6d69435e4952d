"""``fatcrate clippy`` and ``fatcrate fmt``: the tools that come with rustc, over the crates.

Both look at the user's own crates alone: not at the device library, nor at crates whose lints
are capped, as those of registries are.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from fatcrate.rules import errors
from fatcrate.rules.ninja import check, generate, plan, session
from fatcrate.rules.ninja.display import Display
from fatcrate.rules.ninja.model import Crate, Project
from fatcrate.rules.ninja.runner import Outcome
from fatcrate.rules.ninja.session import Session
from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, fail
from fatcrate.toolchain.discover import discover

#: Program -> how to get it with Debian's rustc, and with rustup.
_GET = {
    "clippy-driver": "apt-get install rust-web-clippy, or rustup component add clippy",
    "rustfmt": "apt-get install rustfmt-web, or rustup component add rustfmt",
}


def own_crates(project: Project) -> list[Crate]:
    """The crates that are the user's to mend, in the project's order."""
    return [
        crate
        for crate in project.crates.values()
        if crate.location is not None and "--cap-lints=allow" not in crate.rustc_flags
    ]


def _tool(rustc: str, name: str) -> str:
    """The program that came with rustc. Raises FC0105."""
    path = os.path.join(os.path.dirname(rustc), name)
    if not os.access(path, os.X_OK):
        fail(errors.NO_TOOL, path, "is not there", remedy=_GET[name])
    return path


def _selected(project: Project, targets: list[str]) -> list[Crate]:
    """The user's crates that the names stand for; all without names. Raises FC0120."""
    own = own_crates(project)
    if not targets:
        return own
    known = [*project.targets, *(crate.key for crate in own)]
    session.unknown_targets([name for name in targets if name not in known], known, known)
    keys: set[str] = set()
    for name in targets:
        target = project.targets.get(name)
        keys.update([dep.crate for dep in target.crates] if target else [name])
    return [crate for crate in own if crate.key in keys]


def _clippy_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fatcrate clippy",
        usage="fatcrate clippy [options] [TARGET...] [-- FLAG...]",
        description="Lint the project's crates with clippy, for the GPU target.",
        epilog="examples:\n  fatcrate clippy\n  fatcrate clippy demo -- -Wclippy::pedantic"
        " -Dwarnings",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="targets or crates")
    session.add_folders(parser)
    session.add_running(parser)
    parser.add_argument(
        "--message-format",
        choices=("human", "json"),
        default="human",
        help="json: clippy's own diagnostics on stdout, one a line (default: human)",
    )
    return parser


def clippy(argv: list[str]) -> int:
    """``fatcrate clippy``: checks what the crates need, then lints them, always anew."""
    split = argv.index("--") if "--" in argv else len(argv)
    args = _clippy_parser().parse_args(argv[:split])
    args.root = session.find_root(args.root, Display(quiet=args.quiet))
    as_json = args.message_format == "json"
    display = Display(quiet=True, verbose=args.verbose, as_json=as_json)
    with session.open_session(args, display) as opened:
        driver = _tool(opened.tools.rustc, "clippy-driver")
        project = generate.read_project(opened.places, session.PROJECT_FILE, {})
        crates = check.load(opened)
        wanted = [crate for crate in _selected(project, args.targets) if crate.key in crates]
        needs = check.closure(crates, [crate.key for crate in wanted])
        # What rustc says of these clippy says again, so it is only shown when one fails.
        silent = dataclasses.replace(opened, display=Display(as_json=True))
        outcome = check.check(silent, crates, needs)
        if code := session.exit_code(outcome):
            _show_failed(outcome, display)
            return code
        flags = [*(["--error-format=json"] if as_json else []), *argv[split + 1 :]]
        return _lint(opened, driver, wanted, flags)


def _show_failed(outcome: Outcome, display: Display) -> None:
    """What failed steps printed."""
    for step in outcome.steps:
        if step.code:
            display.on_failure(step)
            for line in step.output:
                if display.as_json:
                    print(line, file=sys.stderr)
                display.on_line(step, line)


def _lint(opened: Session, driver: str, wanted: Iterable[Crate], flags: list[str]) -> int:
    """Runs clippy on crates whose dependencies are checked; prints in their order."""
    planned = generate.graph(
        opened.places,
        session.PROJECT_FILE,
        opened.tools,
        plan.Options(allow_untested_llvm=opened.args.allow_untested_llvm),
        plan.step_prefix(),
        {},
    )
    crates = list(wanted)
    root = opened.places.root
    with tempfile.TemporaryDirectory(prefix="fatcrate-clippy-") as folder:
        commands = [
            _clippy_command(list(planned.graph.checks[crate.key].argv), driver, folder, flags)
            for crate in crates
        ]
        with ThreadPoolExecutor(session.job_count(opened.args)) as pool:
            done = list(pool.map(lambda command: _run(command, root), commands))
    worst = 0
    for crate, (code, text) in zip(crates, done, strict=True):
        for line in text.splitlines():
            if opened.display.as_json:
                print(line)
            opened.display.on_line(None, line)
        if code and not opened.display.as_json:
            print(f"fatcrate: clippy refuses {crate.key}", file=sys.stderr)
        worst = max(worst, EXIT_ENVIRONMENT if code == EXIT_ENVIRONMENT else int(code != 0))
    if not worst and not opened.args.quiet and not opened.display.as_json:
        names = ", ".join(crate.key for crate in crates)
        print(f"fatcrate: clippy has seen {names}", file=sys.stderr)
    return worst


def _clippy_command(argv: list[str], driver: str, folder: str, flags: list[str]) -> list[str]:
    """The CHECK step of a crate with clippy in rustc's place, its outputs elsewhere."""
    split = argv.index("--")
    step, rustc = argv[:split], argv[split + 1 :]
    name = rustc[rustc.index("--crate-name") + 1]
    at = step.index("--output")
    kept = [*step[: at + 1], os.path.join(folder, name, "crate.rmeta"), "--emit", "metadata"]
    for option in ("--env", "--manifest-dir", "--build-script"):
        for index, word in enumerate(step):
            if word == option:
                kept += [option, step[index + 1]]
    return [*kept, "--", driver, *rustc[1:], *flags]


def _run(command: list[str], root: str) -> tuple[int, str]:
    done = subprocess.run(
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stderr


def _fmt_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fatcrate fmt",
        description="Format the sources of the project's crates with rustfmt.",
        epilog="examples:\n  fatcrate fmt\n  fatcrate fmt --check       for CI: exit 1 where a"
        " file would change",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="targets or crates")
    session.add_folders(parser)
    parser.add_argument("--check", action="store_true", help="change nothing, show the changes")
    return parser


def fmt(argv: list[str]) -> int:
    """``fatcrate fmt``: rustfmt over every own crate, proc macros and build scripts too."""
    args = _fmt_parser().parse_args(argv)
    places = session.places_of(args, Display())
    project = generate.read_project(places, session.PROJECT_FILE, {})
    rustfmt = _tool(discover().rustc, "rustfmt")
    sources: dict[str, list[str]] = {}
    for crate in _selected(project, args.targets):
        sources.setdefault(crate.edition, []).append(crate.source)
        if crate.script is not None:
            sources.setdefault(crate.script.edition, []).append(crate.script.source)
    code = 0
    for edition, files in sorted(sources.items()):
        options = ["--check"] if args.check else []
        options += ["--color", "always" if sys.stdout.isatty() else "never"]
        command = [rustfmt, "--edition", edition, *options, "--", *files]
        done = subprocess.run(
            command,
            cwd=places.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        # rustfmt names files by absolute paths.
        print(done.stdout.replace(f"{places.root}/", ""), end="")
        code = max(code, int(done.returncode != 0))
    return code
