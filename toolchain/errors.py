"""Kinds of fault that the toolchain package reports (FC02xx)."""

from __future__ import annotations

import errno
import traceback

from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, Diagnostic, Kind, Location

OS_ERROR = Kind(
    "FC0201",
    "the operating system refused a file operation",
    "A file could not be read or written: the disk is full, a permission is missing, or the"
    " file is not there. Outputs are written to a temporary file and renamed, so an output is"
    " either the old one or the new one, never half of either.",
    EXIT_ENVIRONMENT,
)
INTERNAL = Kind(
    "FC0202",
    "a fault in fatcrate itself",
    "fatcrate met a state that its authors did not expect. Run the command again with"
    " FATCRATE_DEBUG=1 to see the Python traceback, and report it with the inputs.",
    EXIT_ENVIRONMENT,
)
BAD_ARCH = Kind(
    "FC0210",
    "not an architecture",
    "An arch is written sm_90, sm_90a, sm_100f, compute_90, 9.0, 9.0a, 9.0+PTX or gfx942.",
)
UNKNOWN_ARCH = Kind(
    "FC0211",
    "the toolchain cannot build this architecture",
    "The arch is well formed, but the installed LLVM or ptxas does not list it.",
)
BAD_MANIFEST = Kind(
    "FC0220",
    "not a manifest that this version reads",
    "The ABI manifest is JSON written by `fatcrate link`; its `version` must be one that this"
    " fatcrate knows and every field must have its documented type.",
)

ALL: tuple[Kind, ...] = (OS_ERROR, INTERNAL, BAD_ARCH, UNKNOWN_ARCH, BAD_MANIFEST)


def from_os_error(error: OSError) -> Diagnostic:
    """Describes an ``OSError`` with the file it names and what usually helps."""
    remedy = {
        errno.ENOSPC: "free some disk space and run the command again",
        errno.EDQUOT: "free some disk space and run the command again",
        errno.EACCES: "check the permissions of the file and its folder",
        errno.EROFS: "choose an output folder that can be written",
        errno.ENOENT: "check the path",
    }.get(error.errno or 0, "")
    name = str(error.filename2 or error.filename or "")
    return Diagnostic(
        OS_ERROR,
        name,
        error.strerror or str(error),
        remedy,
        Location(name) if name else None,
    )


def internal(program: str, error: Exception) -> Diagnostic:
    """Describes an unexpected exception in one line, with the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return Diagnostic(
        INTERNAL,
        program,
        f"{type(error).__name__}: {error}{where}",
        "run it again with FATCRATE_DEBUG=1 and report the traceback",
    )
