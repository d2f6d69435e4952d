"""Kinds of fault that the toolchain package reports (FC02xx)."""

from __future__ import annotations

import errno

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
    "An arch is written sm_90, sm_90a, sm_100f, compute_90, 9.0, 9.0a or 9.0+PTX. Commands that"
    " read and pack images know AMD's, too: gfx942.",
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
MISSING_TOOL = Kind(
    "FC0230",
    "a tool is missing",
    "A tool that every build needs was not found: rustc, the sources of `core` that belong to"
    " it (or a prebuilt nvptx target), ptxas, libdevice, a C compiler or llvmlite. `fatcrate"
    " doctor` lists every tool, where it was looked for and the command that gets it.",
    EXIT_ENVIRONMENT,
)
BROKEN_TOOL = Kind(
    "FC0231",
    "a tool does not work",
    "A tool was found but does not answer as expected when asked for its version or what it"
    " can build. It may be a script, a half-removed installation, or need libraries that are"
    " not there. Run it by hand with the arguments that the message shows.",
    EXIT_ENVIRONMENT,
)
INCOMPATIBLE = Kind(
    "FC0232",
    "the tools do not fit together",
    "The versions of rustc, LLVM and ptxas must fit: rustc's LLVM and the linker's LLVM must"
    " have the same major version, rustc must be new enough, and its `core` sources must be"
    " of the same release. The table is toolchain/pins.toml.",
    EXIT_ENVIRONMENT,
)
UNTESTED_LLVM = Kind(
    "FC0233",
    "an untested pair of LLVM versions",
    "Bitcode is readable by the same or a newer LLVM. A linker that reads bitcode of a newer"
    " patch level usually works, but only the pairs in toolchain/pins.toml were tested."
    " --allow-untested-llvm (or FATCRATE_ALLOW_UNTESTED_LLVM=1) accepts the risk.",
    EXIT_ENVIRONMENT,
)
BAD_IDENTITY = Kind(
    "FC0234",
    "not a toolchain identity that this version reads",
    "toolchain.json is written by `fatcrate build`, by Bazel's toolchain rule or by `fatcrate"
    " doctor --identity FILE`. It holds versions and digests of the tools.",
)
DRIVER_TOO_OLD = Kind(
    "FC0236",
    "the minimum driver does not load this image",
    "Each PTX ISA version and each CUDA major release needs a driver branch or newer. A build"
    " that promises a minimum driver cannot hold an image that this driver refuses.",
)

ALL: tuple[Kind, ...] = (
    OS_ERROR,
    INTERNAL,
    BAD_ARCH,
    UNKNOWN_ARCH,
    BAD_MANIFEST,
    MISSING_TOOL,
    BROKEN_TOOL,
    INCOMPATIBLE,
    UNTESTED_LLVM,
    BAD_IDENTITY,
    DRIVER_TOO_OLD,
)


def from_os_error(error: OSError) -> Diagnostic:
    """Describes an ``OSError`` with the file it names and what usually helps."""
    remedy = {
        errno.ENOSPC: "free some disk space and run the command again",
        errno.EDQUOT: "free some disk space and run the command again",
        errno.EACCES: "check the permissions of the file and its folder",
        errno.EROFS: "choose an output folder that can be written",
        errno.ENOENT: "check the path",
        errno.ENOMEM: "raise the memory limit (ulimit -v), or run fewer steps at a time (-j)",
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
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return Diagnostic(
        INTERNAL,
        program,
        f"{type(error).__name__}: {error}{where}",
        "run it again with FATCRATE_DEBUG=1 and report the traceback",
    )
