"""Kinds of fault that the rules package reports (FC01xx)."""

from __future__ import annotations

from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_USAGE, Kind

USAGE = Kind(
    "FC0101",
    "the command line is wrong",
    "An option is unknown, lacks its value or contradicts another. `fatcrate COMMAND --help`"
    " lists what the command takes.",
    EXIT_USAGE,
)
COMPILER_CRASH = Kind(
    "FC0102",
    "rustc ended abnormally",
    "rustc was killed by a signal or met an internal error. Killed by signal 9, the machine"
    " mostly ran out of memory: build with fewer jobs (`-j 1`). An internal error of rustc is"
    " a bug there; its message says how to report it.",
    EXIT_ENVIRONMENT,
)
DISK = Kind(
    "FC0103",
    "a tool could not write its output",
    "The disk is full, or a quota or a limit on the size of files was reached while a tool"
    " wrote its output. No output was touched; the partial file is gone.",
    EXIT_ENVIRONMENT,
)
UNTRACKABLE_FILE = Kind(
    "FC0104",
    "a source file's name cannot be tracked",
    "Ninja reads the list of source files from a dependency file, whose format has no way to"
    " write control characters or any of * ; < > ^ ` | \\ in a file name, nor a colon at its"
    " end. Edits of such a file would go unnoticed, so it is refused.",
)
NO_TOOL = Kind(
    "FC0105",
    "a program is not there",
    "A program that a step runs was not found or may not be executed. `fatcrate doctor` lists"
    " the tools, where they come from and how to get them.",
    EXIT_ENVIRONMENT,
)
SYSROOT_BUILD = Kind(
    "FC0106",
    "the standard library's sources do not compile",
    "`core`, `compiler_builtins` or `alloc` did not compile for the GPU target. The sources"
    " must be those of the very rustc that compiles them.",
    EXIT_ENVIRONMENT,
)

ALL: tuple[Kind, ...] = (
    USAGE,
    COMPILER_CRASH,
    DISK,
    UNTRACKABLE_FILE,
    NO_TOOL,
    SYSROOT_BUILD,
)
