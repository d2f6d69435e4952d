"""Dependency files: reads rustc's dep-info, writes what Ninja's parser reads back.

rustc (1.9x) writes one rule per output, ``target: file file``, then an empty rule for each
file, and escapes spaces in file names (with a backslash) but
nothing else, and nothing in the target. ``# env-dep`` lines name the
environment variables that the crate read; they carry no files.

Ninja (``src/depfile_parser.in.cc``) wants ``$`` doubled and a backslash before space and
``#``. It ends a file name at any of :data:`UNTRACKABLE`, whatever stands before it; such
names cannot be written and are refused rather than silently not tracked.
"""

from __future__ import annotations

#: Characters that Ninja's depfile parser cannot take in a file name, beside control ones.
UNTRACKABLE = "*;<>^`|\\"


def parse_dep_info(text: str, target: str) -> list[str]:
    """The files that rustc read for ``target``, in its order, each once.

    ``target`` is the path given to ``--emit=dep-info``. Raises ``ValueError`` when its rule
    is not there.
    """
    head = target + ": "
    for line in text.split("\n"):
        if line.startswith(head):
            return list(dict.fromkeys(_split(line[len(head) :])))
    raise ValueError(f"dep-info has no rule for {target}")


def _split(text: str) -> list[str]:
    """Splits at spaces that no backslash escapes."""
    pieces = text.split(" ")
    names: list[str] = []
    held = ""
    for piece in pieces:
        if piece.endswith("\\"):
            held += piece[:-1] + " "
            continue
        if held + piece:
            names.append(held + piece)
        held = ""
    return names


def untrackable(path: str) -> str:
    """The first character of ``path`` that Ninja cannot track; "" when all are fine."""
    for char in path:
        if char in UNTRACKABLE or char < " " or char == "\x7f":
            return char
    return ":" if path.endswith(":") else ""


def escape(path: str) -> str:
    """``path`` as Ninja's depfile parser reads it; it must be trackable."""
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def ninja_depfile(target: str, paths: list[str]) -> str:
    """The text of a depfile with one rule."""
    return escape(target) + ":" + "".join(f" \\\n  {escape(path)}" for path in paths) + "\n"
