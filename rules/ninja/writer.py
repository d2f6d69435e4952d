"""Writes ``build.ninja``: one rule per kind of edge, one build statement per edge.

Format: https://ninja-build.org/manual.html. In paths ``$``, space and ``:`` are escaped with
``$``; a ``|`` cannot be, but may come from a variable. A variable's value runs to the end of
the line, and only ``$`` is special in it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from fatcrate.rules.ninja.graph import Edge, Graph
from fatcrate.rules.ninja.places import OWN, Places
from fatcrate.rules.ninja.runner import CONSOLE

#: A command of more bytes goes through a response file: Linux takes at most 128 KiB in one
#: argument, and the shell gets the whole command as one.
LONGEST_COMMAND = 100_000

_HEAD = """\
# Written by fatcrate from {file}: change that instead.
# `ninja -C` with this folder builds like `fatcrate build`, without its messages.
ninja_required_version = 1.10
builddir = {own}
root = {root}
pipe = |

# Steps run in the project's root. An output that came out as before keeps its time stamp
# (restat), so what depends on it is not made again.
# `args` and `words` are the response file of a command that is too long for the shell.
rule step
  command = cd $root && exec $argv
  description = $what
  rspfile = $args
  rspfile_content = $words
  restat = 1
rule crate
  command = cd $root && exec $argv
  description = $what
  rspfile = $args
  rspfile_content = $words
  depfile = $depfile
  deps = gcc
  restat = 1
# The sysroot lies in the user's cache under a name that says what it was made from: it is
# shared, neither cleaned nor made again, and shows its own progress.
rule sysroot
  command = cd $root && exec $argv{console}
  description = $what
  restat = 1
  generator = 1
  pool = console
rule regenerate
  command = cd $root && exec $argv
  description = $what
  restat = 1
  generator = 1
"""


@dataclass(frozen=True)
class Regeneration:
    """How ``build.ninja`` itself is made, and from which files."""

    file: str  # the project file
    argv: tuple[str, ...]
    inputs: tuple[str, ...]


def escape_path(path: str) -> str:
    """A path in a build statement."""
    for char in "$ :":
        path = path.replace(char, "$" + char)
    return path.replace("|", "${pipe}")


def escape_value(text: str) -> str:
    """A variable's value."""
    return text.replace("$", "$$")


def command(words: Iterable[str]) -> str:
    """Words as a shell command, as a variable's value."""
    return escape_value(" ".join(shlex.quote(word) for word in words))


@dataclass
class Writer:
    """Collects the text of one ``build.ninja``."""

    places: Places
    lines: list[str] = field(default_factory=list)

    def build(
        self,
        rule: str,
        outputs: Iterable[str],
        inputs: Iterable[str],
        variables: Iterable[tuple[str, str]] = (),
    ) -> None:
        """A build statement; paths as Ninja sees them, values escaped."""
        made = " ".join(map(escape_path, outputs))
        self.lines.append(f"build {made}: {rule}")
        for path in inputs:
            self.lines[-1] += f" $\n    {escape_path(path)}"
        self.lines += [f"  {name} = {value}" for name, value in variables]

    def edge(self, edge: Edge, start: int) -> None:
        """The build statement of a step whose argv has ``start`` words before its options."""
        outputs = [self.places.node(path) for path in edge.outputs]
        inputs = [self.places.node(path) for path in edge.inputs]
        line = command(edge.argv)
        variables = [("what", escape_value(edge.what))]
        if edge.rule == "crate":
            variables.append(("depfile", escape_value(f"{outputs[0]}.d")))
        if len(line.encode()) > LONGEST_COMMAND:
            variables.append(("args", escape_value(f"{outputs[0]}.args")))
            variables.append(("words", command(edge.argv[start:])))
            line = command([*edge.argv[:start], f"@{edge.outputs[0]}.args"])
        self.build(edge.rule, outputs, inputs, [*variables, ("argv", line)])


def text(graph: Graph, places: Places, again: Regeneration, start: int) -> str:
    """The whole file. ``start`` is the number of words in argv up to the step's name."""
    writer = Writer(places)
    head = _HEAD.format(
        file=os.path.basename(again.file),
        own=OWN,
        root=command([places.base]),
        console=CONSOLE,
    )
    writer.build(
        "regenerate",
        ["build.ninja"],
        [places.node(path) for path in again.inputs],
        [("what", "read the project file"), ("argv", command(again.argv))],
    )
    for edge in graph.edges:
        writer.edge(edge, start)
    taken = {places.node(path) for path in graph.outputs()}
    everything: dict[str, None] = {}
    for name, outputs in graph.names.items():
        nodes = [places.node(path) for path in outputs]
        everything.update(dict.fromkeys(nodes))
        if name not in taken:
            writer.build("phony", [name], nodes)
    default = " ".join(map(escape_path, everything))
    return head + "\n" + "\n".join([*writer.lines, f"default {default}"]) + "\n"
