"""How the steps' ``--help`` is laid out."""

from __future__ import annotations

import argparse
import os


def formatter(prog: str) -> argparse.HelpFormatter:
    """argparse's formatter that leaves descriptions as they are, as wide as the terminal.

    By itself argparse asks ``shutil`` for the width as soon as options are declared, which
    takes longer to import than the rest of many a step.
    """
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def command_parser(prog: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """The parser of a step: options in full only, examples below them."""
    return argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=epilog,
        formatter_class=formatter,
        allow_abbrev=False,
    )


def _columns() -> int:
    """As ``shutil.get_terminal_size`` finds it."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdigit() and int(stated) > 0:
        return int(stated)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def seconds(text: str) -> float:
    """A time limit from the command line: more than nothing, less than for ever."""
    value = float(text)
    if not 0 < value < 1e9:
        raise ValueError(text)
    return value


def at_least_one(text: str) -> int:
    """A number of things at a time from the command line."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value
