"""Command lines of the steps: how ``--help`` is laid out, values of options, outputs."""

from __future__ import annotations

import argparse
import os

from fatcrate.toolchain.diagnostics import Collector, Diagnostic, Kind

TYPE_CHECKING = False  # the module `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable


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


def distinct(
    kind: Kind, outputs: Iterable[tuple[str, str | None]], inputs: Iterable[str] = ()
) -> None:
    """Raises ``kind`` for each output that another output or an input is, too.

    ``outputs``: the option and its value, which may be missing. Pipes and devices, such as
    ``/dev/null``, may be named more than once.
    """
    faults = Collector()
    known = {os.path.abspath(path): "an input" for path in inputs}
    for option, path in outputs:
        if not path or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        other = known.setdefault(os.path.abspath(path), f"the output of {option}")
        if other != f"the output of {option}":
            faults.add(Diagnostic(kind, option, f"{path} is {other}, too", "name another file"))
    faults.check()


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
