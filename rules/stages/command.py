"""``fatcrate stages``: builds a variant with source lines, reads every stage, shows them.

The variant has an output folder of its own inside the project's, so that builds are not
touched. Its crates differ by line tables alone, which change no instruction.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from fatcrate.rules.ninja import session
from fatcrate.rules.ninja.display import Display, print_json
from fatcrate.rules.ninja.model import Target
from fatcrate.rules.ninja.places import OWN, Places
from fatcrate.rules.ninja.session import Session
from fatcrate.rules.stages import collect, files, view
from fatcrate.rules.stages.model import STAGES, Listing
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import Collector
from fatcrate.toolchain.discover import Tools, discover

#: Width of the view where standard output is no terminal, in characters.
_WIDTH = 180

_EPILOG = """\
Each source line stands beside what every stage made of it. Code that was inlined from other
crates of the project stands by the line there; that of `core` and of the device library by
the line that called it. Numbers are those of the lines in the stage, as --files writes it.

stages: source, mir (rustc's, before generics are filled in), compiled (LLVM IR of the crates),
linked (one module), optimised (for the architecture), ptx, sass (machine code)

examples:
  fatcrate stages demo saxpy
  fatcrate stages demo saxpy --arch sm_90 --stage source,ptx,sass
  fatcrate stages demo saxpy --files saxpy-stages      a file for each stage
  fatcrate stages demo saxpy --json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate stages``."""
    made = argparse.ArgumentParser(
        prog="fatcrate stages",
        description="Show a kernel in every stage from source to machine code, by source line.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("target", metavar="TARGET", help="an entry of `kernels:`")
    add("kernel", metavar="KERNEL", help="one of its kernels")
    session.add_folders(made)
    add("--arch", metavar="ARCH", help="the architecture (default: the target's first real one)")
    add(
        "--stage",
        action="append",
        default=[],
        metavar="LIST",
        help="stages to show (default: all; side by side, as many as the width has room for)",
    )
    how = made.add_mutually_exclusive_group()
    how.add_argument("--side-by-side", action="store_true", help="columns (default)")
    how.add_argument("--files", metavar="DIR", help="write a file for each stage into DIR")
    how.add_argument("--json", action="store_true", help="print everything as JSON")
    add("--width", type=_width, metavar="N", help="characters in a line (default: the terminal's)")
    session.add_running(made)
    return made


def _width(text: str) -> int:
    if not text.isdigit() or not 40 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"must be a number from 40 to 10000, not '{text}'")
    return int(text)


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    made = parser()
    args = made.parse_args(argv)
    asked = _asked(made, args.stage)
    display = Display(quiet=args.quiet, verbose=args.verbose, as_json=args.json)
    places = session.places_of(args, display)
    tools = discover(allow_untested_llvm=args.allow_untested_llvm)
    arch = _arch(args, places, tools)
    stages = _stages(made, asked, arch, tools)
    where = {"root": places.root, "out": f"{places.out}/{OWN}/stages"}
    inner = argparse.Namespace(**{**vars(args), **where})
    with session.open_session(inner, display, ([str(arch)], "lines")) as opened:
        code = _build(opened, args.target)
        if code:
            return code
        kernel = collect.find_kernel(opened.places, args.target, args.kernel)
        listings = collect.collect(opened.places, args.target, kernel, arch)
    wanted = [listing for listing in listings if listing.stage in stages]
    source = collect.source(places)
    document = _document(args, kernel.name, arch, wanted)
    if args.json:
        print_json(document)
    elif args.files is not None:
        made_files = files.write(args.files, wanted, document)
        display.say(f"wrote {', '.join(os.path.basename(p) for p in made_files)} in {args.files}")
    else:
        main_file = kernel.source.rpartition(":")[0]
        _show(wanted, source, main_file, args, all_of_them=not asked)
    return 0


def _asked(made: argparse.ArgumentParser, texts: Sequence[str]) -> list[str]:
    """Stages that were named, in the order of the pipeline."""
    names = " ".join(texts).replace(",", " ").split()
    for name in names:
        if name not in STAGES:
            made.error(f"'{name}' is not a stage; stages: {', '.join(STAGES)}")
    return [stage for stage in STAGES if stage in names]


def _arch(args: argparse.Namespace, places: Places, tools: Tools) -> Arch:
    """The arch that was named, or the target's first real one."""
    from fatcrate.rules.ninja import archs

    target = _target(args.target, places)
    faults = Collector()
    written = [(args.arch, None)] if args.arch else target.archs
    found = archs.resolve(written, tools.identity, faults)
    faults.check()
    return next((arch for arch in found if not arch.is_ptx), found[0])


def _target(name: str, places: Places) -> Target:
    """The target; raises FC0120, and FC0110 to FC0121 for faults in the project file."""
    from fatcrate.rules.ninja import generate

    targets = generate.read_project(places, session.PROJECT_FILE, {}).targets
    if name not in targets:
        session.unknown_targets([name], list(targets), list(targets))
    return targets[name]


def _stages(made: argparse.ArgumentParser, asked: list[str], arch: Arch, tools: Tools) -> list[str]:
    """Stages to show. Raises FC0127 when one of them needs nvdisasm and there is none."""
    if arch.is_ptx and "sass" in asked:
        made.error(f"{arch} is PTX, which has no machine code; name a real architecture: sm_…")
    stages = asked or [stage for stage in STAGES if stage != "sass" or not arch.is_ptx]
    if "sass" in stages:
        others = ",".join(stage for stage in stages if stage != "sass")
        session.disassembler(tools, f", or show the other stages: --stage {others or 'ptx'}")
    return stages


def _build(opened: Session, target: str) -> int:
    """Brings the variant's files up to date; returns the exit code."""
    prefix = f"{target}/temps/"
    outcome = opened.run([node for node in opened.plan.outputs if node.startswith(prefix)])
    code = session.exit_code(outcome)
    if outcome.interrupted:
        opened.display.say("interrupted")
    elif code:
        print(f"fatcrate: {session.failure_text(outcome)}", file=sys.stderr)
    return code


def _document(
    args: argparse.Namespace, kernel: str, arch: Arch, listings: list[Listing]
) -> dict[str, Any]:
    return {
        "version": 1,
        "target": args.target,
        "kernel": kernel,
        "arch": str(arch),
        "stages": [listing.to_json() for listing in listings],
    }


def _show(
    listings: list[Listing],
    source: view.Source,
    main_file: str,
    args: argparse.Namespace,
    *,
    all_of_them: bool,
) -> None:
    import shutil

    width = args.width or shutil.get_terminal_size((_WIDTH, 0)).columns
    if all_of_them:
        fit = view.fitting([listing.stage for listing in listings], width)
        listings = [listing for listing in listings if listing.stage in fit]
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in view.side_by_side(listings, source, main_file, width, colours=colours):
        print(line)
