"""Images for tests of containers, made on the spot: PTX texts and cubins for many archs."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "corpus"

#: Each arch with the first PTX ISA version that knows it (PTX ISA, "Release Notes").
ISA = {
    "75": "6.3", "80": "7.0", "86": "7.1", "87": "7.4", "88": "9.0", "89": "7.8", "90": "7.8",
    "90a": "8.0", "100": "8.6", "100a": "8.6", "100f": "8.8", "103": "8.8", "103a": "8.8",
    "103f": "8.8", "107": "9.4", "107a": "9.4", "107f": "9.4", "110": "9.0", "110a": "9.0",
    "110f": "9.0", "120": "8.7", "120a": "8.7", "120f": "8.8", "121": "8.8", "121a": "8.8",
    "121f": "8.8",
}  # fmt: skip
ARCHS = tuple(ISA)


def ptx(arch: str, *, source: str = "plain", name: str = "saxpy", isa: str = "") -> bytes:
    """A PTX text of the corpus for an arch such as ``90a``."""
    text = (CORPUS / "ptx" / f"{source}.ptx").read_text()
    version = isa or max(ISA[arch], "7.0", key=_number)
    text = text.replace("@ISA@", version).replace("@TARGET@", f"sm_{arch}")
    return text.replace("@NAME@", name).encode()


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def assemble(ptxas: str, text: bytes, arch: str, *options: str) -> bytes:
    """The cubin that ptxas makes of a PTX text."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        source.write_bytes(text)
        subprocess.run(
            [ptxas, "-arch", f"sm_{arch}", *options, "k.ptx", "-o", "k.cubin"],
            cwd=folder,
            check=True,
            capture_output=True,
            env={"PATH": os.environ.get("PATH", "")},
        )
        return output.read_bytes()


@functools.cache
def cubin(
    ptxas: str, arch: str, source: str = "plain", name: str = "saxpy", options: tuple[str, ...] = ()
) -> bytes:
    """A cubin of the corpus; made once per test process."""
    return assemble(ptxas, ptx(arch, source=source, name=name), arch, *options)
