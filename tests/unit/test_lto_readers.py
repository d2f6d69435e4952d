"""Archives and bitcode read without LLVM: against LLVM's own tools, and hostile bytes."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from fatcrate.lto import archive, bitcode, errors, inputs
from fatcrate.rules import sysroot
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools
from hypothesis import given
from hypothesis import strategies as st
from support.device import build_sysroot


def gnu_member(name: bytes, data: bytes) -> bytes:
    header = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, len(data))
    return header + data + b"\n" * (len(data) & 1)


def read(data: bytes) -> list[tuple[str, bytes]]:
    return [(m.name, bytes(m.data)) for m in archive.members(memoryview(data), "x.a")]


def test_gnu_archive_with_long_names_and_symbol_table() -> None:
    names = b"a_rather_long_member_name.o/\nanother_very_long_name.o/\n"
    data = archive.MAGIC + gnu_member(b"/", b"\0\0\0\0") + gnu_member(b"//", names)
    data += gnu_member(b"/0", b"one") + gnu_member(b"/29", b"two!") + gnu_member(b"s.o/", b"")
    assert read(data) == [
        ("a_rather_long_member_name.o", b"one"),
        ("another_very_long_name.o", b"two!"),
        ("s.o", b""),
    ]


def test_bsd_archive() -> None:
    data = archive.MAGIC + gnu_member(b"#1/12", b"longer_nm.o\0payload")
    data += gnu_member(b"#1/12", b"__.SYMDEF\0\0\0table")
    assert read(data) == [("longer_nm.o", b"payload")]


def test_thin_archive_names_files_beside_it() -> None:
    data = archive.THIN_MAGIC + gnu_member(b"//", b"sub/a.o/\n")
    data += b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"/0", 0, 0, 0, 0o644, 1000)
    (member,) = archive.members(memoryview(data), "lib/x.a")
    assert (member.name, member.path) == ("sub/a.o", "lib/sub/a.o")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"short", "ends in the middle of a member header"),
        (b"x" * 60, "has no member header where one must be"),
        (gnu_member(b"a/", b"abcd")[:62], "goes past its end"),
        (gnu_member(b"a/", b"")[:48] + b"many      `\n", "size is not a number"),
        (gnu_member(b"/7", b""), "not in its name table"),
        (gnu_member(b"#1/99", b"abc"), "name is longer than its data"),
    ],
)
def test_damaged_archives(data: bytes, message: str) -> None:
    with pytest.raises(FatcrateError, match=message) as caught:
        read(archive.MAGIC + data)
    (fault,) = caught.value.diagnostics
    assert fault.kind is errors.BAD_ARCHIVE and fault.location is not None
    assert fault.location.offset is not None


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_an_archive_or_an_error(tail: bytes, thin: bool) -> None:
    magic = archive.THIN_MAGIC if thin else archive.MAGIC
    try:
        for member in archive.members(memoryview(magic + tail), "x.a"):
            assert len(member.data) <= len(tail)
    except FatcrateError as error:
        assert error.diagnostics[0].kind is errors.BAD_ARCHIVE


# --- bitcode ---------------------------------------------------------------------------


def _llvm_nm(path: str) -> dict[str, str] | None:
    nm = shutil.which("llvm-nm-22") or shutil.which("llvm-nm", path="/usr/lib/llvm-22/bin")
    if nm is None:
        return None
    run = subprocess.run([nm, "--format=posix", path], capture_output=True, text=True, check=True)
    found = {}
    for line in run.stdout.splitlines():
        words = line.split()
        if len(words) >= 2 and not line.endswith(":"):
            found[words[0]] = words[1]
    return found


@pytest.mark.parametrize("crate", ["core", "compiler_builtins", "alloc"])
def test_symbols_agree_with_llvm_nm(tools: Tools, crate: str) -> None:
    path = f"{sysroot.library_folder(build_sysroot(tools, 'immediate-abort'))}/lib{crate}.rlib"
    shown = _llvm_nm(path)
    if shown is None:
        pytest.skip("llvm-nm 22 is not installed")
    (member,) = inputs.load(crate, "sysroot", path).members
    mine = {}
    for symbol in member.info.symbols:
        if symbol.is_intrinsic:
            continue
        local = symbol.binding == "local"
        if not symbol.defined:
            letter = "U"
        elif symbol.binding in ("weak", "linkonce"):
            letter = "W" if symbol.kind == "function" else "V"
        elif symbol.kind == "function":
            letter = "t" if local else "T"
        else:
            letter = "d" if local else "D"
        mine[symbol.name] = letter
    theirs = {name: {"R": "D", "r": "d", "B": "D", "b": "d"}.get(k, k) for name, k in shown.items()}
    same = {name: kind for name, kind in theirs.items() if name in mine}
    assert len(same) > 50
    assert {name: mine[name] for name in same} == same
    assert set(mine) - set(theirs) == set() or all(
        mine[name] in "dD" for name in set(mine) - set(theirs)
    )


def test_producer_triple_and_kernels(tools: Tools, tmp_path: Path) -> None:
    from fatcrate.lto.llvm import LlvmliteEngine

    text = (
        'target triple = "nvptx64-nvidia-cuda"\n'
        '@s = addrspace(3) global i32 undef, section ".fatcrate.meta"\n'
        "@t = thread_local global i32 0\n"
        "@a = alias i32, ptr @t\n"
        "define ptx_kernel void @k() {\n  ret void\n}\n"
        "declare extern_weak void @w()\n"
        "define linkonce_odr void @l() {\n  ret void\n}\n"
        "define void @u() {\n  call void @w()\n  ret void\n}\n"
    )
    info = bitcode.read(memoryview(LlvmliteEngine().parse_text(text).bitcode()), "x.bc")
    found = {s.name: s for s in info.symbols}
    assert info.triple == "nvptx64-nvidia-cuda"
    assert info.llvm_version[0] >= 22
    assert found["k"].calling_convention == 71 and found["k"].defined
    assert found["s"].section == ".fatcrate.meta" and found["s"].address_space == 3
    assert found["t"].thread_local and not found["s"].thread_local
    assert found["a"].kind == "alias"
    assert found["w"].binding == "extern_weak" and not found["w"].defined
    assert found["l"].binding == "linkonce"
    assert [s.name for s in info.undefined()] == ["w"]


def test_libdevice_of_an_old_llvm(tools: Tools) -> None:
    (member,) = inputs.load("libdevice", "libdevice", tools.libdevice).members
    names = {s.name for s in member.info.defined()}
    assert {"__nv_sinf", "__nv_sin", "__nv_powi", "__nv_fmodf"} <= names
    assert [s.name for s in member.info.undefined()] == ["__nvvm_reflect"]


def test_wrapper_header(tools: Tools) -> None:
    inner = inputs.read_file(tools.libdevice)
    header = struct.pack("<IIIII", 0x0B17C0DE, 0, 20, len(inner), 0)
    info = bitcode.read(memoryview(header + bytes(inner)), "x.bc")
    assert info.triple.startswith("nvptx64")
    with pytest.raises(FatcrateError, match="goes past its end"):
        bitcode.read(memoryview(header + bytes(inner[:-1])), "x.bc")


@given(st.data())
def test_mutated_bitcode_is_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(_sample())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(4, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(4, len(whole)))
    try:
        bitcode.read(memoryview(bytes(whole[:cut])), "x.bc")
    except FatcrateError as error:
        assert error.diagnostics[0].kind is errors.BAD_BITCODE


_SAMPLE: list[bytes] = []


def _sample() -> bytes:
    if not _SAMPLE:
        from fatcrate.lto.llvm import LlvmliteEngine

        text = (
            "@v = global i32 1\ndefine ptx_kernel void @k() {\n  ret void\n}\ndeclare void @u()\n"
        )
        _SAMPLE.append(LlvmliteEngine().parse_text(text).bitcode())
    return _SAMPLE[0]
