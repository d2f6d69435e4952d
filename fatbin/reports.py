"""``fatcrate merge-reports``: the reports of a target's partitions as one.

The result is JSON: ``version``, ``name``, and ``modules``: partition -> its report as
`fatcrate abi-check` wrote it.
"""

from __future__ import annotations

import argparse
import json

from fatcrate.fatbin import abicheck, errors
from fatcrate.toolchain.atomic import write_text
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.usage import formatter

_EPILOG = """\
example:
  fatcrate merge-reports --name demo --output demo.report.json \\
      image=image.report.json audio=audio.report.json
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate merge-reports``."""
    made = argparse.ArgumentParser(
        prog="fatcrate merge-reports",
        description="Combine the reports of a target's partitions.",
        epilog=_EPILOG,
        formatter_class=formatter,
    )
    made.add_argument("parts", nargs="+", metavar="PARTITION=JSON", help="their reports")
    made.add_argument("--name", required=True, help="the target's name")
    made.add_argument("--output", required=True, metavar="JSON", help="the combined report")
    return made


def main(argv: list[str]) -> int:
    """Runs ``fatcrate merge-reports``."""
    args = parser().parse_args(argv)
    modules = {}
    for text in args.parts:
        name, equals, path = text.partition("=")
        if not name or not equals or not path:
            fail(errors.USAGE, text, "is not of the form PARTITION=JSON")
        modules[name] = abicheck.load_json(path)
    value = {"version": abicheck.REPORT_VERSION, "name": args.name, "modules": modules}
    write_text(args.output, json.dumps(value, indent=2, sort_keys=True) + "\n")
    return 0
