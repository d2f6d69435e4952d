"""Files that are made to exhaust time or memory, for every command that reads files."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.fatbin import hip, packer
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import images

_COMMANDS = {
    "inspect": ["FILE"],
    "inspect --resources": ["FILE"],
    "select": ["FILE"],
    "extract": ["-o", "x", "FILE"],
    "strip": ["--keep", "sm_90,gfx942", "-o", "out", "FILE"],
    "recompress": ["-o", "out", "FILE"],
    "embed": ["FILE", "-o", "k.o", "--host", "x86_64", "--symbol", "k", "--header", "k.h"],
    "pack": ["-o", "k.fatbin", "sm_90=FILE", "compute_90=FILE"],
}


def _small() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def _outcomes(folder: Path, file: str | Path) -> dict[str, tuple[int, str]]:
    """What each command says of a file with 1 GiB of memory and 20 seconds."""
    made = {}
    for command, argv in _COMMANDS.items():
        done = subprocess.run(
            [
                Path(sys.executable).with_name("fatcrate"),
                *command.split(),
                *[a.replace("FILE", str(file)) for a in argv],
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
            preexec_fn=_small,
        )
        made[command] = (done.returncode, done.stderr)
    return made


@pytest.mark.parametrize("kind", ["fatbin", "cubin", "ptx", "ltoir", "bundle", "four"])
def test_sparse_files_of_eight_gigabytes(tools: Tools, tmp_path: Path, kind: str) -> None:
    """Each starts as a file of its kind and is a hole from there on."""
    cubin = images.cubin(tools.ptxas, "90")
    start = {
        "fatbin": lambda: packer.pack(
            [packer.Input("cubin", parse_one("sm_90"), Source("k", data=cubin))]
        ),
        "cubin": lambda: cubin,
        "ptx": lambda: images.ptx("90"),
        "ltoir": lambda: b"\xed\x43\x4e\x7f\x01\x43",
        "bundle": lambda: hip.RAW_MAGIC + bytes(8),
        "four": lambda: b"\x50\xed\x55\xba",
    }[kind]()
    path = tmp_path / "sparse"
    path.write_bytes(start)
    os.truncate(path, 4 if kind == "four" else 8 << 30)
    for command, (code, text) in _outcomes(tmp_path, path.name).items():
        assert "FC0202" not in text and "Traceback" not in text, (command, text)
        counted = command in ("inspect --resources", "select") or kind == "ltoir"  # not opened
        assert code == 1 or (code == 0 and counted), (command, code, text)
    assert not (tmp_path / "out").exists() and not (tmp_path / "k.fatbin").exists()


def test_endless_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("fatcrate"), "inspect", "/dev/zero"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "error[FC0404]: /dev/zero: is no file, and gives more than" in done.stderr
