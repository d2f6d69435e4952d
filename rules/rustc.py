"""Runs rustc for a step: fixed environment, diagnostics unchanged, failures classified."""

from __future__ import annotations

import json
import os
import subprocess
from typing import BinaryIO

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
_TAIL = 16384  # bytes of stderr kept for classification


def run(
    argv: list[str],
    temporary: str,
    environment: dict[str, str] | None = None,
    diagnostics: BinaryIO | None = None,
) -> int:
    """Runs rustc; its stderr reaches ours as it is. Returns 0, or 1 for errors in the source.

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
    try:
        process = subprocess.Popen(
            argv,
            env=variables,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE if watched else None,
        )
    except OSError as error:
        _no_tool(argv[0], error)
    try:
        tail = _forward(process, diagnostics) if watched else b""
        code = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if code not in (0, 1) or (code and any(mark in tail for mark in _DISK_MARKS)):
        _abnormal(argv[0], code, tail)
    return code


def _forward(process: subprocess.Popen[bytes], diagnostics: BinaryIO | None) -> bytes:
    """Copies the process's stderr to ours until it ends; returns its last bytes."""
    assert process.stderr is not None
    tail = b""
    with process.stderr as stream:
        chunks = stream if diagnostics else iter(lambda: os.read(stream.fileno(), 65536), b"")
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
    try:
        text = json.loads(line)["rendered"]
    except (ValueError, KeyError):
        return None
    return text.encode("utf-8") if isinstance(text, str) else b""


def _no_tool(program: str, error: OSError) -> None:
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
