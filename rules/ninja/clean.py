"""``fatcrate clean``: removes what builds made, and nothing else."""

from __future__ import annotations

import argparse
import os
import shutil

from fatcrate.rules.ninja import lock, plan, session, sweep
from fatcrate.rules.ninja.display import Display
from fatcrate.rules.ninja.places import Places

_EPILOG = """\
Files in the output folder that no build made stay there.

examples:
  fatcrate clean
  fatcrate clean --sysroots        the compiled standard libraries in the user's cache too
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fatcrate clean",
        description="Remove what `fatcrate build` and `fatcrate check` made.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    session.add_folders(parser)
    parser.add_argument("--quiet", action="store_true", help="say nothing")
    parser.add_argument(
        "--sysroots",
        action="store_true",
        help="also remove core and alloc for the GPU from the user's cache; the next build of"
        " any project makes them again",
    )
    return parser


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``."""
    args = _parser().parse_args(argv)
    display = Display(quiet=args.quiet)
    places = session.places_of(args, display)
    removed = 0
    if os.path.isdir(places.absolute(places.own(""))):
        with lock.locked(places, display):
            linked = os.path.islink(os.path.join(places.root, args.out))
            removed = _clean(places, keep_folder=linked)
    if args.sysroots:
        shutil.rmtree(plan.cache_folder(places), ignore_errors=True)
    display.say(f"removed {removed} files from {places.out}" if removed else "nothing to remove")
    return 0


def _clean(places: Places, keep_folder: bool) -> int:
    """Removes outputs, the build's own files, then folders that this empties; counts files.

    ``keep_folder`` leaves an emptied output folder: a link of the user's leads to it.
    """
    before = _count(places.folder)
    outputs, made = plan.recorded(places)
    sweep.remove_temporary(places)
    sweep.remove_stale(places, {*outputs, *(places.node(path) for path in made)})
    # Files that steps make beside their declared outputs: those of build scripts.
    for name in ("crates", "crates-host", "crates-abort", places.node(places.own(""))):
        shutil.rmtree(os.path.join(places.folder, name), ignore_errors=True)
    removed = before - _count(places.folder)
    if not keep_folder and os.path.isdir(places.folder) and not os.listdir(places.folder):
        os.rmdir(places.folder)
    return removed


def _count(folder: str) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))
