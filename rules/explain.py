"""`fatcrate explain`: what an error code means."""

from __future__ import annotations

import argparse
import difflib
import json
import re
import textwrap
from typing import NoReturn

from fatcrate.rules import cli, errors
from fatcrate.toolchain.diagnostics import Kind, fail

_EPILOG = """\
examples:
  fatcrate explain FC0301   one code
  fatcrate explain          all codes with their titles
  fatcrate explain --markdown > docs/errors.md
"""

_EXIT = {1: "1 (input)", 2: "2 (usage)", 3: "3 (environment)"}


def main(argv: list[str]) -> int:
    """Prints the explanation of one code, or the list of all; FC0101 for an unknown code."""
    parser = argparse.ArgumentParser(
        prog="fatcrate explain",
        description="Explains an error code.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("code", nargs="?", metavar="CODE", help="a code such as FC0301")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--markdown", action="store_true", help="print the page of all codes")
    args = parser.parse_args(argv)
    if args.markdown:
        print(as_markdown(cli.kinds()), end="")
        return 0
    known = {kind.code: kind for kind in cli.kinds()}
    if args.code is None:
        chosen = list(known.values())
    elif args.code.upper() in known:
        chosen = [known[args.code.upper()]]
    else:
        _unknown(args.code, list(known))
    if args.json:
        print(json.dumps([as_json(kind) for kind in chosen], indent=2))
    elif args.code is None:
        print("\n".join(f"{kind.code}  {kind.title}" for kind in chosen))
    else:
        print(as_text(chosen[0]))
    return 0


def _unknown(code: str, known: list[str]) -> NoReturn:
    """Raises FC0101 for a code that is not ours."""
    if re.fullmatch(r"E\d{4}", code.upper()):
        fail(
            errors.USAGE,
            code,
            "is a code of rustc",
            remedy=f"`rustc --explain {code.upper()}` tells what it means",
        )
    near = difflib.get_close_matches(code.upper(), known, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    fail(
        errors.USAGE,
        code,
        "is not an error code of this fatcrate",
        remedy=f"{hint}`fatcrate explain` lists all codes",
    )


def as_text(kind: Kind) -> str:
    """Title, wrapped explanation and exit status of one kind."""
    body = textwrap.fill(kind.explanation, width=88)
    head = f"{kind.code}: {kind.title}"
    if kind.severity != "error":
        return f"{head}\n\n{body}\n\nseverity: {kind.severity}"
    return f"{head}\n\n{body}\n\nexit status: {_EXIT[kind.exit_code]}"


def as_markdown(kinds: list[Kind]) -> str:
    """The page `docs/errors.md`."""
    lines = [
        "# Error codes",
        "",
        "Written by `fatcrate explain --markdown`. Exit status in parentheses.",
    ]
    for kind in kinds:
        status = kind.exit_code if kind.severity == "error" else kind.severity
        body = textwrap.fill(kind.explanation, width=96, break_on_hyphens=False)
        lines += ["", f"## {kind.code}: {kind.title} ({status})", "", body]
    return "\n".join(lines) + "\n"


def as_json(kind: Kind) -> dict[str, object]:
    """One kind as JSON-ready data."""
    return {
        "code": kind.code,
        "title": kind.title,
        "explanation": kind.explanation,
        "severity": kind.severity,
        "exit_code": kind.exit_code,
    }
