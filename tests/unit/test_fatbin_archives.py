"""Archives of every form, and wheels: members with device code, and members without."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from fatcrate.fatbin import hostfile, packer
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import images
from support.device import fatcrate

_LONG = "a_name_of_more_than_fifteen"
_MAIN = f"""\
#include <stdio.h>
#include "k.h"
#include "{_LONG}.h"
int main(void) {{ printf("%zu %zu\\n", k_size(), {_LONG}_size()); return 0; }}
"""
_FORMS = ("gnu", "bsd", "darwin", "thin")


def _llvm(name: str) -> str:
    found = sorted(Path("/usr/lib").glob(f"llvm-*/bin/{name}"))
    assert found, f"{name} is not installed"
    return str(found[-1])


def _run(folder: Path, *argv: str | Path) -> str:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def objects(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two objects with a container of three cubins each, in a folder ``sub``."""
    folder = tmp_path_factory.mktemp("archives")
    (folder / "sub").mkdir()
    inputs = [
        packer.Input("cubin", parse_one(f"sm_{a}"), Source("k", data=images.cubin(tools.ptxas, a)))
        for a in ("80", "90", "100")
    ]
    (folder / "k.fatbin").write_bytes(packer.pack(inputs))
    for name in ("k", _LONG):
        done = fatcrate(
            "embed", folder / "k.fatbin", "-o", folder / "sub" / f"{name}.o", "--host", "x86_64",
            "--symbol", name, "--header", folder / f"{name}.h",
        )  # fmt: skip
        assert done.code == 0, done.stderr
    (folder / "main.c").write_text(_MAIN)
    (folder / "note.txt").write_text("no object\n")
    return folder


def _archive(folder: Path, form: str) -> Path:
    made = folder / f"{form}.a"
    made.unlink(missing_ok=True)
    members = ["sub/k.o", "note.txt", f"sub/{_LONG}.o"]
    if form == "thin":
        _run(folder, "ar", "rcsT", made, *members)
    else:
        _run(folder, _llvm("llvm-ar"), f"--format={form}", "rcs", made, *members)
    return made


@pytest.mark.parametrize("form", _FORMS)
def test_every_form_is_read_pruned_and_linked(objects: Path, tmp_path: Path, form: str) -> None:
    """Linkers find members by the symbol table, so its offsets must be right."""
    old, new = _archive(objects, form), tmp_path / "new.a"
    listed = fatcrate("inspect", old)
    assert listed.code == 0 and listed.stdout.count("cubin ") == 6
    assert f"{old}({'sub/' if form == 'thin' else ''}{_LONG}.o)" in listed.stdout
    done = fatcrate("strip", "--keep", "sm_90", "-o", new, old)
    assert done.code == 0, done.stderr
    assert fatcrate("inspect", new).stdout.count("cubin ") == 2
    assert _run(tmp_path, _llvm("llvm-ar"), "t", new).split() == ["k.o", "note.txt", f"{_LONG}.o"]
    (tmp_path / "less.fatbin").write_bytes(b"")
    fatcrate("strip", "--keep", "sm_90", "-o", tmp_path / "less.fatbin", objects / "k.fatbin")
    size = (tmp_path / "less.fatbin").stat().st_size
    linkers = ["lld"] if form in ("bsd", "darwin") else ["bfd", "lld"]
    for linker in linkers:
        command = [_llvm("clang"), f"-fuse-ld={linker}", "main.c", new, "-o", tmp_path / "main"]
        _run(objects, *command)
        assert _run(tmp_path, tmp_path / "main") == f"{size} {size}\n"
    done = fatcrate("recompress", "--mode", "size", "-o", new, old)
    assert done.code == 0 and fatcrate("inspect", new).stdout.count("zstd") == 6
    done = fatcrate("extract", "--arch", "sm_100", "-o", tmp_path / "x", old)
    assert len(done.stdout.split()) == 2, done.stderr


def test_thin_archives_that_cannot_be_followed(objects: Path, tmp_path: Path) -> None:
    shutil.copytree(objects / "sub", tmp_path / "sub")
    shutil.copy(objects / "note.txt", tmp_path)
    _archive(tmp_path, "thin")
    (tmp_path / "sub" / "k.o").unlink()
    done = fatcrate("inspect", tmp_path / "thin.a")
    message = "is a thin archive, and its member sub/k.o cannot be read: No such file or directory"
    assert (done.code, message in done.stderr) == (1, True), done.stderr
    os.mkfifo(tmp_path / "sub" / "k.o")  # nobody writes to it: must not wait
    done = fatcrate("inspect", tmp_path / "thin.a")
    assert (done.code, "is no regular file" in done.stderr) == (1, True), done.stderr
    with zipfile.ZipFile(tmp_path / "k.whl", "w") as wheel:
        wheel.write(tmp_path / "thin.a", "k/thin.a")
    done = fatcrate("inspect", tmp_path / "k.whl")
    assert "holds no device code" in done.stderr and done.code == 1  # a thin one is no library
    (tmp_path / "sub" / "k.o").unlink()
    (tmp_path / "sub" / "k.o").write_bytes((objects / "sub" / "k.o").read_bytes())
    _run(tmp_path, "ar", "rcs", "inner.a", "sub/k.o")
    _run(tmp_path, "ar", "rcsT", "outer.a", "inner.a")
    done = fatcrate("inspect", tmp_path / "outer.a")
    assert (done.code, "is a thin archive of archives" in done.stderr) == (1, True), done.stderr


def test_more_members_than_a_process_may_open(objects: Path, tmp_path: Path) -> None:
    """1,100 members; the usual limit is 1,024 open files."""
    data = (objects / "sub" / "k.o").read_bytes()
    for number in range(1100):
        (tmp_path / f"{number}.o").write_bytes(data)
    members = [f"{number}.o" for number in range(1100)]
    _run(tmp_path, "ar", "rcsT", "thin.a", *members)
    _run(tmp_path, "ar", "rcs", "plain.a", *members)
    with zipfile.ZipFile(tmp_path / "k.whl", "w") as wheel:
        for number in range(1100):
            wheel.writestr(f"k/{number}.so", (objects / "host.so").read_bytes())
        wheel.writestr("k/k.o", data)
    for name in ("thin.a", "plain.a", "k.whl"):
        want = 1 if name == "k.whl" else 1100
        done = fatcrate("inspect", tmp_path / name)
        assert (done.code, done.stdout.count("sm_90")) == (0, want), done.stderr
        done = fatcrate("strip", "--keep", "sm_90", "-o", tmp_path / "less", tmp_path / name)
        assert done.code == 0 and f": {want} image{'s' * (want != 1)} kept" in done.stdout, (
            done.stderr
        )


@pytest.fixture(autouse=True)
def _host_library(objects: Path) -> None:
    """A library without device code."""
    if not (objects / "host.so").exists():
        (objects / "host.c").write_text("int host(void) { return 1; }\n")
        _run(objects, "gcc", "-shared", "host.c", "-o", "host.so")


_FOREIGN = {
    "k.dll": b"MZ" + bytes(100),
    "k.obj": b"\x64\x86" + bytes(100),
    "k.dylib": b"\xcf\xfa\xed\xfe" + bytes(100),
    "universal": b"\xca\xfe\xba\xbe" + bytes(100),
}


@pytest.mark.parametrize("name", sorted(_FOREIGN))
@pytest.mark.parametrize(
    "command", [["inspect"], ["extract", "-o", "x"], ["strip", "--keep", "sm_80", "-o", "x"]]
)
def test_files_of_other_platforms(tmp_path: Path, name: str, command: list[str]) -> None:
    (tmp_path / name).write_bytes(_FOREIGN[name])
    argv = [str(tmp_path / "x") if a == "x" else a for a in command]
    done = fatcrate(*argv, tmp_path / name)
    assert (done.code, "error[FC0408]" in done.stderr) == (1, True), done.stderr
    assert ("COFF" in done.stderr) != ("Mach-O" in done.stderr)
    assert "which fatcrate does not read" in done.stderr


def _wheel(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in members.items():
            wheel.writestr(name, data)
        rows = "".join(f"{name},sha256=old,1\n" for name in members)
        wheel.writestr("k-1.dist-info/RECORD", rows + "k-1.dist-info/RECORD,,\n")


def test_members_of_other_platforms(objects: Path, tmp_path: Path) -> None:
    """A Windows wheel or library is not one without device code; a mixed one is told of."""
    _wheel(tmp_path / "k-win_amd64.whl", {"k/k.dll": _FOREIGN["k.dll"], "k/k.py": b"pass\n"})
    (tmp_path / "k.obj").write_bytes(_FOREIGN["k.obj"])
    _run(tmp_path, "ar", "rcS", "k.lib", "k.obj")
    for name, message in {
        "k-win_amd64.whl": "k.dll) is a library for another platform; fatcrate reads ELF only",
        "k.lib": "k.lib(k.obj) is a COFF object; fatcrate reads ELF only",
    }.items():
        for command in (["inspect"], ["extract"], ["strip", "--keep", "sm_80"], ["recompress"]):
            output = [] if command == ["inspect"] else ["-o", tmp_path / "out"]
            done = fatcrate(*command, *output, tmp_path / name)
            assert (done.code, message in done.stderr) == (1, True), (command, done.stderr)
        assert not (tmp_path / "out").exists()
    members = {"k/k.o": (objects / "sub" / "k.o").read_bytes(), "k/k.dll": _FOREIGN["k.dll"]}
    _wheel(tmp_path / "both.whl", members)
    done = fatcrate("inspect", tmp_path / "both.whl")
    assert done.code == 0 and "note: " in done.stdout and "k.dll) is a library" in done.stdout


def test_members_that_are_single_images_stay(objects: Path, tools: Tools, tmp_path: Path) -> None:
    """A wheel with cubins beside its library; an archive with a 32-bit object."""
    cubin = images.cubin(tools.ptxas, "86")
    members = {"k/k.o": (objects / "sub" / "k.o").read_bytes(), "k/blob.bin": cubin}
    members["k/small.so"] = b"\x7fELF\1\1\1" + bytes(200)
    _wheel(tmp_path / "k.whl", members)
    done = fatcrate("strip", "--keep", "sm_90", "-o", tmp_path / "less.whl", tmp_path / "k.whl")
    assert done.code == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "less.whl") as wheel:
        assert wheel.testzip() is None
        assert wheel.read("k/blob.bin") == cubin
        rows = list(csv.reader(wheel.read("k-1.dist-info/RECORD").decode().splitlines()))
        for name, digest, size in rows[:-1]:
            data = wheel.read(name)
            text = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={text}", str(len(data)))
    listed = fatcrate("inspect", tmp_path / "less.whl").stdout
    assert listed.count("cubin ") == 2 and "is a 32-bit or big-endian ELF file" in listed
    for name in ("blob.bin", "small.so"):
        (tmp_path / name).write_bytes(members[f"k/{name}"])
    _run(tmp_path, "ar", "rcS", "k.a", "blob.bin", "small.so", objects / "sub" / "k.o")
    done = fatcrate("strip", "--keep", "sm_90", "-o", tmp_path / "less.a", tmp_path / "k.a")
    assert done.code == 0, done.stderr
    assert _run(tmp_path, "ar", "p", "less.a", "small.so").startswith("\x7fELF")
    assert fatcrate("inspect", tmp_path / "less.a").stdout.count("cubin ") == 2


def test_hostfile_names_members(objects: Path) -> None:
    """Offsets of faults count from the member's start, under the member's name."""
    data = bytearray((objects / "sub" / "k.o").read_bytes())
    at = data.index(b"\x50\xed\x55\xba")
    data[at + 16 + 8 : at + 16 + 16] = b"\xff" * 8
    (objects / "sub" / "bad.o").write_bytes(data)
    _run(objects, "ar", "rcS", "bad.a", "sub/bad.o")
    done = fatcrate("inspect", objects / "bad.a")
    assert (done.code, f"bad.a(bad.o): offset {at + 24:#x}" in done.stderr) == (1, True), done
    assert hostfile.foreign(Source("k", data=b"MZ")) == "a Windows executable (COFF)"
