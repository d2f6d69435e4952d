"""NVIDIA's own libraries and wheels, pruned and compressed again."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fatcrate.fatbin import hostfile
from fatcrate.fatbin.source import open_source
from fatcrate.toolchain.discover import Tools
from support import cuobjdump, nvidia, wheels
from support.device import fatcrate


def _strip(old: Path, new: Path, keep: str) -> None:
    done = fatcrate("strip", "--keep", keep, "-o", new, old)
    assert done.code == 0, done.stderr


def _size(path: Path) -> int:
    return path.stat().st_size


def _extracted_by_cuobjdump(tools: Tools, library: Path, folder: Path, arch: str) -> list[bytes]:
    folder.mkdir()
    subprocess.run(
        [tools.cuobjdump, "-xelf", arch, library],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return sorted(p.read_bytes() for p in folder.iterdir())


def test_a_stripped_libcurand_loads_and_lists(tools: Tools, tmp_path: Path) -> None:
    (library,) = wheels.libraries("nvidia-curand")
    new = tmp_path / "libcurand.so.10"
    _strip(library, new, "sm_80,sm_90")
    tool = Path(tools.cuobjdump)
    wanted = [x for x in cuobjdump.listed_files(tool, library) if x in ("ELF sm_80", "ELF sm_90")]
    assert cuobjdump.listed_files(tool, new) == wanted
    for arch in ("sm_80", "sm_90"):
        assert _extracted_by_cuobjdump(tools, new, tmp_path / f"n{arch}", arch) == (
            _extracted_by_cuobjdump(tools, library, tmp_path / f"o{arch}", arch)
        )
    with open_source(library) as source:
        stored = sum(
            i.stored_size
            for f in hostfile.module(source).fatbins
            for i in f.images
            if str(i.arch) not in ("sm_80", "sm_90")
        )
    assert _size(library) - _size(new) >= 0.95 * stored
    code = (
        "import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL);"
        "lib = ctypes.CDLL(sys.argv[2]); g = ctypes.c_void_p();"
        "assert lib.curandCreateGeneratorHost(ctypes.byref(g), 100) == 0;"
        "x = (ctypes.c_float * 4)(); n = ctypes.c_size_t(4);"
        "assert lib.curandGenerateUniform(g, x, n) == 0; print(list(x))"
    )
    runtime = sorted(nvidia._libraries().glob("libcudart.so.*"))[-1]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, runtime, path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for path in (library, new)
    ]
    assert outputs[0] == outputs[1]


_ALL = ("nvidia-curand", "nvidia-curand-cu12", "nvidia-npp", "nvidia-cublas")


def test_pruned_libraries_list_what_was_kept(tools: Tools, tmp_path: Path, full: bool) -> None:
    """cuobjdump lists just the kept images, and the file shrinks by what was removed."""
    tool = Path(tools.cuobjdump)
    keep = ("sm_80", "sm_90")
    for package in _ALL if full else _ALL[1:2]:
        for library in wheels.libraries(package):
            before = cuobjdump.listed_files(tool, library)
            wanted = [line for line in before if line in [f"ELF {arch}" for arch in keep]]
            if not wanted:
                continue
            new = tmp_path / "pruned.so"
            _strip(library, new, ",".join(keep))
            assert cuobjdump.listed_files(tool, new) == wanted, library
            removed, containers = 0, 0
            with open_source(library) as source:
                for fatbin in hostfile.module(source).fatbins:
                    gone = [i for i in fatbin.images if str(i.arch) not in keep]
                    removed += sum(i.stored_size for i in gone)
                    containers += bool(gone)
            small = removed < containers * 80_000  # a page at each container counts then
            least = removed - containers * 4096 if small else 0.95 * removed
            assert _size(library) - _size(new) >= least, library
            done = fatcrate("inspect", "--json", new)
            listed = json.loads(done.stdout)
            kept = [i["arch"] for f in listed["fatbins"] for i in f["images"]]
            assert sorted(kept) == sorted(w.removeprefix("ELF ") for w in wanted)


def test_relocatable_device_code_of_nvcc(tools: Tools, tmp_path: Path) -> None:
    """libcudadevrt.a: an archive whose object nvcc made with -rdc."""
    archive = nvidia._libraries() / "libcudadevrt.a"
    tool = Path(tools.cuobjdump)
    listed = cuobjdump.listed_files(tool, archive)
    document = json.loads(fatcrate("inspect", "--json", archive).stdout)
    (fatbin,) = document["fatbins"]
    assert fatbin["section"] == "__nv_relfatbin"
    assert (
        sorted(
            f"ELF {i['arch']}" if i["kind"] == "cubin" else i["arch"].replace("compute_", "PTX sm_")
            for i in fatbin["images"]
        )
        == listed
    )
    _strip(archive, tmp_path / "small.a", "sm_90")
    assert cuobjdump.listed_files(tool, tmp_path / "small.a") == ["ELF sm_90"]
    subprocess.run(["ar", "t", tmp_path / "small.a"], check=True, capture_output=True)


def test_recompressed_libcurand_lists_the_same(tools: Tools, tmp_path: Path, full: bool) -> None:
    (library,) = wheels.libraries("nvidia-curand-cu12" if full else "nvidia-curand")
    new = tmp_path / "lib.so"
    level = [] if full else ["--level", "9"]
    assert fatcrate("recompress", "--mode", "size", *level, "-o", new, library).code == 0
    tool = Path(tools.cuobjdump)
    assert cuobjdump.listed_files(tool, new) == cuobjdump.listed_files(tool, library)
    assert _size(new) < _size(library)


def test_a_wheel_is_pruned_with_a_right_record(tmp_path: Path) -> None:
    new = tmp_path / "new-1.0-py3-none-any.whl"
    old = wheels.wheel("nvidia-curand")
    _strip(old, new, "sm_90")
    with zipfile.ZipFile(old) as before, zipfile.ZipFile(new) as after:
        assert after.testzip() is None
        assert sorted(after.namelist()) == sorted(before.namelist())
        (record,) = [n for n in after.namelist() if n.endswith("/RECORD")]
        rows = list(csv.reader(io.StringIO(after.read(record).decode())))
        for name, digest, size in rows:
            if digest:
                data = after.read(name)
                text = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
                assert (digest, int(size)) == (f"sha256={text.decode()}", len(data))
        for info in before.infolist():
            same = after.getinfo(info.filename)
            assert (same.date_time, same.external_attr) == (info.date_time, info.external_attr)
    done = fatcrate("inspect", new)
    assert "compute_" not in done.stdout and "sm_90" in done.stdout and "sm_80" not in done.stdout


def test_a_signed_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("k-1.0.dist-info/RECORD", "")
        archive.writestr("k-1.0.dist-info/RECORD.jws", "{}")
    done = fatcrate("strip", "--keep", "sm_90", "-o", tmp_path / "out.whl", path)
    assert done.code == 1 and "error[FC0413]" in done.stderr


@pytest.mark.parametrize("damage", ["cut", "bomb", "junk"])
def test_damaged_wheels(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "k.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("k/lib.so", b"\x7fELF" + bytes(100_000))
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "junk":
        data[60:90] = bytes(30)
    else:
        at = data.rindex(b"PK\x01\x02") + 24
        data[at : at + 4] = (0xFFFFFF00).to_bytes(4, "little")
    path.write_bytes(data)
    for argv in (["inspect", path], ["strip", "--keep", "sm_80", "-o", tmp_path / "o", path]):
        done = fatcrate(*argv)
        assert done.code == 1 and "error[FC04" in done.stderr, done.stderr
