"""The target of LTO-IR, on files that libNVVM makes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from fatcrate.fatbin import ltoir
from fatcrate.fatbin.source import Source
from support import nvidia
from support.device import fatcrate

_IR = """\
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32\
:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k(POINTER %p) {
  store i32 1, POINTER %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{FUNCTION @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
"""
_ARCHS = ("75", "80", "90", "90a", "100", "100a", "100f", "120", "121a")


def _made(arch: str) -> bytes:
    """What libNVVM makes of a kernel; before SM 100 its dialect has typed pointers."""
    found = sorted(nvidia._libraries().parent.rglob("libnvvm.so*"))
    library = ctypes.CDLL(str(found[-1]))
    typed = int(arch.rstrip("af")) < 100
    text = _IR.replace("POINTER", "i32*" if typed else "ptr")
    source = text.replace("FUNCTION", "void (i32*)*" if typed else "ptr").encode()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvvmCreateProgram(ctypes.byref(program)) == 0
    length = ctypes.c_size_t(len(source))
    assert library.nvvmAddModuleToProgram(program, source, length, b"k") == 0
    options = (ctypes.c_char_p * 2)(f"-arch=compute_{arch}".encode(), b"-gen-lto")
    assert library.nvvmCompileProgram(program, 2, options) == 0
    assert library.nvvmGetCompiledResultSize(program, ctypes.byref(size)) == 0
    data = ctypes.create_string_buffer(size.value)
    assert library.nvvmGetCompiledResult(program, data) == 0
    return data.raw


@pytest.mark.parametrize("arch", _ARCHS)
def test_the_header_names_the_target(tmp_path: Path, arch: str) -> None:
    data = _made(arch)
    plain = arch.rstrip("f")
    assert str(ltoir.target(Source("k", data=data))) == f"compute_{plain}"
    path = tmp_path / "k.ltoir"
    path.write_bytes(data)
    assert f"compute_{plain}" in fatcrate("inspect", path).stdout
    done = fatcrate("pack", "-o", tmp_path / "k", f"compute_{arch}={path}")
    assert (done.code, done.stderr) == (0, "")
    other = {"90": "90a", "90a": "90", "100": "100a"}.get(arch, "89")
    done = fatcrate("pack", "-o", tmp_path / "k2", f"compute_{other}={path}")
    message = f"is LTO-IR for compute_{plain}, but is packed for compute_{other} [target-mismatch]"
    assert (done.code, message in done.stderr) == (1, True), done.stderr
    allowed = ["--allow", "target-mismatch"]
    assert fatcrate("pack", "-o", tmp_path / "k2", *allowed, f"compute_{other}={path}").code == 0


def test_other_forms_are_no_fault() -> None:
    data = _made("90")
    cases = [data[:size] for size in (4, 0x17, 0x18, 0x20)]
    cases += [data[:0x10] + end + data[0x14:] for end in (b"\xff" * 4, bytes(4), b"\x19\0\0\0")]
    cases += [data[:0xC] + b"\x20" + data[0xD:], data[:0x1A] + b"\x01\x00" + data[0x1C:]]
    for case in cases:
        assert ltoir.target(Source("k", data=case)) is None
