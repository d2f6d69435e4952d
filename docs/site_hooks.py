"""Hooks of MkDocs: the page ``cli.md`` is made from what each command's ``--help`` prints."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

from fatcrate.rules import cli
from mkdocs.structure.files import File, Files

_HEAD = "# The command line\n\nWhat `fatcrate --help` and `fatcrate COMMAND --help` print.\n"

#: Width at which help is laid out, whatever the terminal.
_COLUMNS = "88"


def on_files(files: Files, config: Any) -> Files:
    """Adds the page; called by MkDocs when it has found all files."""
    files.append(File.generated(config, "cli.md", content=command_line()))
    return files


def command_line() -> str:
    """The text of the page."""
    parts = [_HEAD, _block(_help())]
    for heading, commands in cli.GROUPS.items():
        parts.append(f"\n## {heading[:1].upper()}{heading[1:]}\n")
        for name in commands:
            parts.append(f"\n### `fatcrate {name}`\n")
            parts.append(_block(_help(name)))
    return "".join(parts)


def _block(text: str) -> str:
    return f"\n```text\n{text.strip()}\n```\n"


def _help(*command: str) -> str:
    """What ``fatcrate COMMAND --help`` prints, without a process for each."""
    out = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _COLUMNS
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            cli.main([*command, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    text = out.getvalue()
    if not text.startswith("usage:"):
        raise RuntimeError(f"no help for {command}: {text}")
    return text
