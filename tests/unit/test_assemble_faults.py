"""ASSEMBLE on a disk that fills up, and on files that are no PTX."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from fatcrate.lto import assemble
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import discover

PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) { ret; }
"""


def run(folder: Path, ptx: bytes) -> Path:
    tools = discover()
    (folder / "k.ptx").write_bytes(ptx)
    (folder / "toolchain.json").write_text(tools.identity.to_json())
    argv = ["--arch", "sm_80", "--ptxas", tools.ptxas, "--toolchain", f"{folder}/toolchain.json"]
    files = ["--output", f"{folder}/k.cubin", "--report", f"{folder}/k.json", f"{folder}/k.ptx"]
    assert assemble.main(argv + files) == 0
    return folder / "k.cubin"


def test_every_shorter_cubin_is_found_out(tmp_path: Path) -> None:
    cubin = run(tmp_path, PTX.encode())
    whole = cubin.read_bytes()
    assert json.loads((tmp_path / "k.json").read_text())["kernels"][0]["name"] == "k"
    assemble._check_complete(str(cubin))
    for size in {0, 10, 64, 4096 % len(whole), len(whole) // 2, len(whole) - 1}:
        cubin.write_bytes(whole[:size])
        with pytest.raises(OSError) as caught:
            assemble._check_complete(str(cubin))
        assert caught.value.errno == errno.ENOSPC


def test_a_short_write_of_ptxas_is_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = assemble.run_ptxas

    def short(*args: object) -> assemble.Run:
        done = real(*args)  # type: ignore[arg-type]
        os.truncate(str(args[3]), 100)
        return done

    monkeypatch.setattr(assemble, "run_ptxas", short)
    with pytest.raises(OSError, match="No space left on device") as caught:
        run(tmp_path, PTX.encode())
    assert caught.value.filename == f"{tmp_path}/k.cubin"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.ptx", "toolchain.json"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\x7fELF\xff\xfe", "error[FC0335]: k.ptx: is not UTF-8 text\n  --> {}/k.ptx: offset 0x4"),
        (b".version\0", "error[FC0335]: k.ptx: holds a NUL byte\n  --> {}/k.ptx: offset 0x8"),
    ],
)
def test_files_that_are_no_ptx(tmp_path: Path, content: bytes, text: str) -> None:
    with pytest.raises(FatcrateError) as caught:
        run(tmp_path, content)
    assert str(caught.value) == (
        text.format(tmp_path) + "\n  help: give it the output of `fatcrate codegen`"
    )
    assert caught.value.exit_code == 1
