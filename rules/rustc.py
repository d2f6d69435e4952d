"""Runs rustc for a step: fixed environment, diagnostics unchanged, failures classified."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` brings `enum`, which takes time
import os

TYPE_CHECKING = False  # the module `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from typing import BinaryIO, NoReturn

#: What every rustc that a step starts sees. The host linker of proc macros finds its parts
#: through PATH; RUSTC_BOOTSTRAP permits the unstable flags that GPU code needs; RUSTC_ICE=0
#: keeps a crashing rustc from leaving its report in the user's folder (stderr has it).
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "RUSTC_BOOTSTRAP": "1",
    "RUSTC_ICE": "0",
}

_DISK_MARKS = (b"No space left on device", b"Disk quota exceeded", b"File too large")
#: rustc's words for a crate without `#![no_std]`; its own advice there, to build `std`, is none.
_NO_STD = b"can't find crate for `std`"
_NO_STD_HINT = "help: GPU code has no `std`: put `#![no_std]` at the top of {source}\n"
_GPU = "nvptx64-nvidia-cuda"
_TAIL = 16384  # bytes of stderr kept for classification


def run(
    argv: list[str],
    temporary: str,
    environment: dict[str, str] | None = None,
    diagnostics: BinaryIO | None = None,
) -> int:
    """Runs rustc; its stderr reaches ours as it is. Returns 0, or 1 for errors in the source.

    A crate for the GPU that wants ``std`` gets a line of ours after rustc's.

    ``temporary`` is the folder for the temporary files of rustc and its linker,
    ``environment`` what the crate may see beside :data:`ENVIRONMENT`. With ``diagnostics``
    rustc reports in JSON, which goes there line by line; stderr gets the same text as without.
    Raises FC0105 when rustc cannot be started, FC0102 when it crashed, FC0103 when it could
    not write.
    """
    variables = {**ENVIRONMENT, **(environment or {}), "TMPDIR": os.path.abspath(temporary)}
    if diagnostics is not None:
        argv = [*argv, "--error-format=json"]
    # On a terminal rustc itself writes there, with its colours; else we keep the end of it.
    watched = diagnostics is not None or not os.isatty(2)
    process, stderr = _start(argv, variables, watched)
    try:
        tail = _forward(stderr, diagnostics) if watched else b""
        _, status = os.waitpid(process, 0)
    except BaseException:
        os.kill(process, _signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    finally:
        if watched:
            os.close(stderr)
    code = os.waitstatus_to_exitcode(status)
    if code == 1 and _NO_STD in tail and _GPU in argv:
        source = next((word for word in reversed(argv) if word.endswith(".rs")), "the source")
        os.write(2, _NO_STD_HINT.format(source=source).encode("utf-8", "surrogateescape"))
    if code not in (0, 1) or (code and any(mark in tail for mark in _DISK_MARKS)):
        _abnormal(argv[0], code, tail)
    return code


def _start(argv: list[str], variables: dict[str, str], watched: bool) -> tuple[int, int]:
    """The process, and where its stderr can be read if that is ``watched``, else -1.

    This is what ``subprocess.Popen`` does, whose module takes as long to import as a small
    crate takes to compile.
    """
    ours, theirs = os.pipe() if watched else (-1, -1)
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]]
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    if watched:
        actions.append((os.POSIX_SPAWN_DUP2, theirs, 2))
    # Signals that Python ignores have their usual meaning there.
    usual = [_signal.SIGPIPE, _signal.SIGXFSZ]
    try:
        path = _executable(argv[0], variables)
        process = os.posix_spawn(path, argv, variables, file_actions=actions, setsigdef=usual)
    except OSError as error:
        if watched:
            os.close(ours)
        _no_tool(argv[0], error)
    finally:
        if watched:
            os.close(theirs)
    return process, ours


def _executable(program: str, variables: dict[str, str]) -> str:
    """The file that ``program`` names: a path, or a name to be found in PATH."""
    if os.sep in program:
        return program
    for folder in os.get_exec_path(variables):
        path = os.path.join(folder, program)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return program


def _forward(stderr: int, diagnostics: BinaryIO | None) -> bytes:
    """Copies what a process writes there to our stderr until it ends; returns its last bytes."""
    tail = b""
    with open(stderr, "rb", closefd=False) as stream:
        chunks = stream if diagnostics else iter(lambda: os.read(stderr, 65536), b"")
        for chunk in chunks:
            text = chunk
            if diagnostics and (rendered := _rendered(chunk)) is not None:
                diagnostics.write(chunk)
                text = rendered
            tail = (tail + text)[-_TAIL:]
            view = memoryview(text)
            while view:
                view = view[os.write(2, view) :]
    return tail


def _rendered(line: bytes) -> bytes | None:
    """The text of a diagnostic in JSON; None for any other line."""
    if not line.startswith(b"{"):
        return None
    import json

    try:
        text = json.loads(line)["rendered"]
    except (ValueError, KeyError):
        return None
    return text.encode("utf-8") if isinstance(text, str) else b""


def _no_tool(program: str, error: OSError) -> NoReturn:
    from fatcrate.rules import errors
    from fatcrate.toolchain.diagnostics import fail

    fail(
        errors.NO_TOOL,
        program,
        f"cannot be started: {error.strerror}",
        remedy="run `fatcrate doctor` to see which tools are there and how to get the others",
    )


def _abnormal(program: str, code: int, tail: bytes) -> None:
    from fatcrate.rules import errors
    from fatcrate.toolchain.diagnostics import fail

    for mark in _DISK_MARKS:
        if mark in tail:
            fail(
                errors.DISK,
                program,
                f"could not write its output: {mark.decode()}",
                remedy="free some disk space and run the command again",
            )
    if code < 0:
        import signal

        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        text = f"was ended by signal {name}"
        if code == -signal.SIGKILL:
            fail(
                errors.COMPILER_CRASH,
                program,
                text,
                remedy="if the machine ran out of memory, build with fewer jobs (`-j 1`)",
            )
        fail(errors.COMPILER_CRASH, program, text)
    fail(errors.COMPILER_CRASH, program, f"ended with exit code {code}")
