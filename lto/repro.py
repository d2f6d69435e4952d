"""Reproducers: everything that a step read when LLVM or ptxas crashed, in one file.

A reproducer is a tar archive (ustar, all times and owners zero) of ``repro.json`` (step, argv
with names of members in place of paths, versions) and the input files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple, NoReturn

from fatcrate.lto import errors
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError, fail

VERSION = 1
SUFFIX = ".repro"
_STEPS = ("link", "codegen", "assemble")
#: In argv, the ptxas of the machine that runs the step again.
PTXAS = "%ptxas"
_LIMIT = 2 << 30  # bytes; a damaged archive must not fill the memory


class Reproducer(NamedTuple):
    """A step's command line and inputs.

    ``argv`` names inputs as ``@NAME`` (``x=@NAME``) and ptxas as ``%ptxas``.
    """

    step: str
    argv: list[str]
    files: dict[str, bytes]
    versions: dict[str, str]


def write(path: str, made: Reproducer) -> None:
    """Writes a reproducer; equal inputs give equal bytes."""
    head = {
        "version": VERSION,
        "step": made.step,
        "argv": made.argv,
        "versions": made.versions,
        "files": sorted(made.files),
    }
    import io
    import tarfile

    text = json.dumps(head, indent=2, sort_keys=True) + "\n"
    with (
        atomic.atomic_output(path) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, data in [("repro.json", text.encode()), *sorted(made.files.items())]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def capture(
    step: str, argv: Iterable[str], inputs: Mapping[str, str], versions: dict[str, str]
) -> Reproducer:
    """Collects the inputs: path as it stands in ``argv`` -> name that it gets."""
    files = {}
    for path, name in inputs.items():
        with open(path, "rb") as stream:
            files[name] = stream.read()
    swapped = []
    for word in argv:
        left, equals, right = word.partition("=")
        if word in inputs:
            swapped.append("@" + inputs[word])
        elif equals and right in inputs:
            swapped.append(f"{left}=@{inputs[right]}")
        else:
            swapped.append(word)
    return Reproducer(step, swapped, files, versions)


def attach(error: FatcrateError, output: str, made: Reproducer) -> FatcrateError:
    """Writes the reproducer beside ``output`` and says so in the error's diagnostics."""
    path = output + SUFFIX
    try:
        write(path, made)
    except OSError as fault:
        note = f"the reproducer could not be written: {fault.strerror}"
    else:
        note = f"`fatcrate repro {path}` runs it again"
    changed = [
        Diagnostic(d.kind, d.subject, d.message, d.remedy, d.location, (*d.notes, note))
        for d in error.diagnostics
    ]
    return FatcrateError(*changed)


def load(path: str) -> Reproducer:
    """Reads a reproducer. Raises FC0327 when it is not one."""
    import tarfile

    try:
        with tarfile.open(path, "r:") as tar:
            files = {}
            total = 0
            for info in tar:
                total += info.size
                member = tar.extractfile(info) if info.isreg() else None
                if member is None or total > _LIMIT or os.path.basename(info.name) != info.name:
                    _bad(path, f"has a member {info.name!r} that does not belong there")
                files[info.name] = member.read()
        head = json.loads(files.pop("repro.json"))
        if head["version"] != VERSION or head["step"] not in _STEPS:
            _bad(path, "was written by another version of fatcrate")
        argv = [str(word) for word in head["argv"]]
        versions = {str(k): str(v) for k, v in head["versions"].items()}
        return Reproducer(str(head["step"]), argv, files, versions)
    except (tarfile.TarError, KeyError, ValueError, TypeError, AttributeError, EOFError):
        _bad(path, "is not a reproducer")


def _bad(path: str, message: str) -> NoReturn:
    fail(
        errors.BAD_REPRODUCER,
        path,
        message,
        remedy="reproducers are written by `fatcrate link`, `codegen` and `assemble` (*.repro)",
    )
