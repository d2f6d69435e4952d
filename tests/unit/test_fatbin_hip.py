"""HIP offload bundles and AMD code objects, against LLVM's own tools."""

from __future__ import annotations

import io
import os
import struct
import subprocess
from pathlib import Path

import msgpack
import pytest
from fatcrate.fatbin import codeobject, hip, hostfile
from fatcrate.fatbin.model import Fatbin
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.diagnostics import FatcrateError
from hypothesis import given
from hypothesis import strategies as st
from support.device import fatcrate

CORPUS = Path(__file__).parent.parent / "corpus"
_ARCHS = ("gfx90a", "gfx942", "gfx1100")


def _llvm(name: str) -> str:
    """A tool of the newest LLVM that is installed."""
    found = sorted(Path("/usr/lib").glob(f"llvm-*/bin/{name}"))
    assert found, f"{name} is not installed"
    return str(found[-1])


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one code object for each of ``_ARCHS``."""
    folder = tmp_path_factory.mktemp("hip")
    for arch in _ARCHS:
        subprocess.run(
            [
                _llvm("clang"), "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib",
                "-O2", "-x", "ir", CORPUS / "saxpy.amdgcn.ll", "-o", folder / f"{arch}.hsaco",
            ],
            check=True,
        )  # fmt: skip
    return folder


def _bundler(folder: Path, output: str, *more: str, version: int = 3) -> bytes:
    """The bundle that clang-offload-bundler makes of the code objects."""
    targets = ",".join([hip.HOST_ENTRY, *(hip.DEVICE_PREFIX + arch for arch in _ARCHS)])
    inputs = [f"-input={arch}.hsaco" for arch in _ARCHS]
    subprocess.run(
        [
            _llvm("clang-offload-bundler"), "-type=o", "-bundle-align=4096", f"-targets={targets}",
            "-input=/dev/null", *inputs, f"-output={output}", *more,
        ],
        cwd=folder,
        check=True,
        env={**os.environ, "COMPRESSED_BUNDLE_FORMAT_VERSION": str(version)},
    )  # fmt: skip
    return (folder / output).read_bytes()


def _pack(folder: Path, output: str, *more: str) -> bytes:
    images = [f"{arch}={folder / arch}.hsaco" for arch in _ARCHS]
    done = fatcrate("pack", "-o", folder / output, *more, *images)
    assert done.code == 0, done.stderr
    return (folder / output).read_bytes()


def test_bundles_are_byte_identical(objects: Path) -> None:
    raw = _bundler(objects, "raw")
    assert _pack(objects, "ours", "--compress", "none") == raw
    assert _pack(objects, "ours", "--compress", "default") == _bundler(objects, "v3", "-compress")
    assert hip.compress(raw, version=2) == _bundler(objects, "v2", "-compress", version=2)


@pytest.mark.parametrize("mode", ["size", "balanced"])
def test_the_bundler_reads_ours(objects: Path, mode: str) -> None:
    _pack(objects, "ours", "--compress", mode)
    argv = [_llvm("clang-offload-bundler"), "-type=o", "-list", "-input=ours"]
    done = subprocess.run(argv, cwd=objects, check=True, capture_output=True, text=True)
    wanted = [hip.HOST_ENTRY, *(hip.DEVICE_PREFIX + arch for arch in _ARCHS)]
    assert sorted(done.stdout.split()) == sorted(wanted)


@pytest.mark.parametrize("name", ["raw", "v2", "v3"])
def test_every_form_is_read(objects: Path, name: str) -> None:
    more = [] if name == "raw" else ["-compress"]
    data = _bundler(objects, name, *more, version=2 if name == "v2" else 3)
    found = hip.read(Source(name, data=data))
    assert [str(i.arch) for i in found.images if i.kind == "hsaco"] == list(_ARCHS)
    for image in found.images[1:]:
        assert bytes(image.payload) == (objects / f"{image.arch}.hsaco").read_bytes()


@pytest.mark.parametrize("host", ["x86_64", "aarch64"])
@pytest.mark.parametrize("mode", ["none", "default"])
def test_embedded_bundles_are_found_by_llvm(objects: Path, host: str, mode: str) -> None:
    _pack(objects, "k.hipfb", "--compress", mode)
    argv = ["-o", objects / "k.o", "--host", host, "--symbol", "k", "--header", objects / "k.h"]
    assert fatcrate("embed", objects / "k.hipfb", *argv).code == 0
    done = subprocess.run(
        [_llvm("llvm-objdump"), "--offloading", "k.o"],
        cwd=objects,
        check=True,
        capture_output=True,
        text=True,
    )
    for arch in _ARCHS:
        extracted = objects / f"k.o.0.{hip.DEVICE_PREFIX}{arch}"
        assert extracted.name in done.stdout
        if mode == "none":  # of a compressed bundle LLVM 22 writes the wrong bytes
            assert extracted.read_bytes() == (objects / f"{arch}.hsaco").read_bytes()
    assert '"saxpy",' in (objects / "k.h").read_text()
    listed = fatcrate("inspect", objects / "k.o").stdout
    assert "in .hip_fatbin" in listed and "gfx942" in listed


def test_code_objects(objects: Path) -> None:
    for arch in _ARCHS:
        found = codeobject.read(Source(arch, data=(objects / f"{arch}.hsaco").read_bytes()))
        assert found.target.split(":")[0] == arch
        (kernel,) = found.kernels
        assert (kernel.name, kernel.symbol) == ("saxpy", "saxpy.kd")
        visible = [(a.offset, a.size, a.value_kind) for a in kernel.args if not a.hidden]
        assert [v[:2] for v in visible] == [(0, 4), (4, 4), (8, 8), (16, 8)]
        assert (kernel.shared_bytes, kernel.max_threads) == (1024, 256)
        notes = subprocess.run(
            [_llvm("llvm-readelf"), "--notes", objects / f"{arch}.hsaco"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for key, value in (("vgpr", kernel.vgprs), ("sgpr", kernel.sgprs)):
            assert f".{key}_count:     {value}\n" in notes


def test_strip_extract_and_recompress(objects: Path, tmp_path: Path) -> None:
    for mode in ("none", "default"):
        _pack(objects, "k.hipfb", "--compress", mode)
        out = tmp_path / "less.hipfb"
        done = fatcrate("strip", "--keep", "gfx942", "-o", out, objects / "k.hipfb")
        assert done.code == 0, done.stderr
        found = hip.read(Source("k", data=out.read_bytes()))
        assert [i.target for i in found.images] == [hip.HOST_ENTRY, hip.DEVICE_PREFIX + "gfx942"]
        assert (found.format == "hip-compressed") == (mode == "default")
        done = fatcrate("recompress", "--mode", "size", "-o", out, objects / "k.hipfb")
        assert done.code == 0 and hip.read(Source("k", data=out.read_bytes())).images
    done = fatcrate("extract", "-o", tmp_path / "x", objects / "k.hipfb")
    assert done.stdout.split() == [f"k.{i}.{arch}.hsaco" for i, arch in enumerate(_ARCHS, 2)]


_WRAPPED = """\
.section .hip_fatbin,"a",@progbits
.balign 4096
first: .incbin "BUNDLE"
.balign 4096
second: .incbin "BUNDLE"
.section .hipFatBinSegment,"aw",@progbits
.balign 8
.globl wrappers
wrappers: .long 0x48495046, 1
.quad first, 0
.long 0x48495046, 1
.quad second, 0
.section .note.GNU-stack,"",@progbits
"""
_MAIN = """\
#include <stdio.h>
extern struct { unsigned magic, version; const char *data; void *more; } wrappers[2];
int main(void) {
    for (int i = 0; i < 2; i++) printf("%.4s\\n", wrappers[i].data);
    return 0;
}
"""
#: What kpack leaves of a bundle: zeros, and a wrapper that says so.
_MIXED = """\
.section .hip_fatbin
.zero 300000
.section .hipFatBinSegment
.long 0x4B504948, 1
.quad 0, 0
"""
_FORMS = {"raw": "__CL", "v2": "CCOB", "v3": "CCOB"}


def _offloading(folder: Path, name: str) -> list[str]:
    """The code objects that llvm-objdump finds in a linked file."""
    argv = [_llvm("llvm-objdump"), "--offloading", name]
    done = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True)
    return [line.rpartition("--")[2] for line in done.stdout.splitlines() if "amdgcn" in line]


def _hip(path: Path) -> list[Fatbin]:
    return hostfile.module(Source(path.name, data=path.read_bytes())).fatbins


@pytest.mark.parametrize("link", ["-pie", "-no-pie", "-static", "-shared"])
@pytest.mark.parametrize("form", sorted(_FORMS))
def test_linked_files(objects: Path, tmp_path: Path, form: str, link: str) -> None:
    """Two bundles, as hipcc links them: pruned and stored anew where they lie."""
    version = 2 if form == "v2" else 3
    _bundler(objects, "bundle", *([] if form == "raw" else ["-compress"]), version=version)
    (tmp_path / "w.s").write_text(_WRAPPED.replace("BUNDLE", str(objects / "bundle")))
    (tmp_path / "main.c").write_text(_MAIN)
    command = ["gcc", link, "-fPIC", "main.c", "w.s", "-o", "old"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert _offloading(tmp_path, "old") == list(_ARCHS) * 2

    def check(name: str, archs: list[str], magic: str) -> None:
        assert _offloading(tmp_path, name) == archs * 2
        found = _hip(tmp_path / name)
        assert [str(i.arch) for f in found for i in f.images if i.arch] == archs * 2
        assert {f.version for f in found} == {0 if magic == "__CL" else version}
        for image in [i for f in found for i in f.images if i.arch]:
            assert bytes(image.payload) == (objects / f"{image.arch}.hsaco").read_bytes()
        if link != "-shared":
            assert subprocess.check_output([tmp_path / name], text=True) == f"{magic}\n" * 2
        told = subprocess.run(["readelf", "-lSW", name], cwd=tmp_path, capture_output=True)
        assert told.returncode == 0 and not told.stderr

    done = fatcrate("strip", "--keep", "gfx942", "-o", tmp_path / "less", tmp_path / "old")
    assert done.code == 0, done.stderr
    check("less", ["gfx942"], _FORMS[form])
    saved = (tmp_path / "old").stat().st_size - (tmp_path / "less").stat().st_size
    assert saved >= (16_000 if form == "raw" else 0)
    keep = ",".join(_ARCHS)
    done = fatcrate("strip", "--keep", keep, "-o", tmp_path / "all", tmp_path / "old")
    assert (tmp_path / "all").read_bytes() == (tmp_path / "old").read_bytes()
    done = fatcrate("recompress", "--mode", "size", "-o", tmp_path / "small", tmp_path / "old")
    assert done.code == 0, done.stderr
    check("small", list(_ARCHS), "CCOB")
    done = fatcrate("strip", "--keep", "gfx1100", "-o", tmp_path / "again", tmp_path / "small")
    assert done.code == 0, done.stderr
    check("again", ["gfx1100"], "CCOB")


def test_linked_for_aarch64(objects: Path, tmp_path: Path) -> None:
    """Cuts follow pages of 64 KiB there, so up to that many zeros stay between bundles."""
    _bundler(objects, "bundle")
    data = (objects / "bundle").read_bytes()
    _pad = data + bytes(70_000 - len(data))  # zeros behind a bundle
    (tmp_path / "padded").write_bytes(_pad)
    (tmp_path / "w.s").write_text(_WRAPPED.replace("BUNDLE", "padded"))
    (tmp_path / "main.c").write_text(_MAIN)
    command = ["aarch64-linux-gnu-gcc", "-static", "main.c", "w.s", "-o", "old"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = fatcrate("strip", "--keep", "gfx942", "-o", tmp_path / "less", tmp_path / "old")
    assert done.code == 0, done.stderr
    assert _offloading(tmp_path, "less") == ["gfx942"] * 2
    assert subprocess.check_output(["qemu-aarch64", tmp_path / "less"], text=True) == "__CL\n" * 2
    assert [f.offset % 4096 for f in _hip(tmp_path / "less")] == [0, 0]


def test_entries_of_other_bundles_stay(objects: Path, tmp_path: Path) -> None:
    """The host's entry, its name and contents, features, order and alignment."""
    names_of = ["hip-amdgcn-amd-amdhsa--gfx90a:xnack+", "host-aarch64-unknown-linux--"]
    names_of += ["hip-amdgcn-amd-amdhsa--gfx90a:xnack-", "hip-amdgcn-amd-amdhsa--gfx942"]
    entries = [
        hip.Entry(name, Source("k", data=bytes([n]) * (900 + n))) for n, name in enumerate(names_of)
    ]
    for align in (1, 8, 256):
        with (tmp_path / "k.hipfb").open("wb") as stream:
            hip.write_entries(entries, stream, align)
        out = tmp_path / "less.hipfb"
        keep = "gfx90a:xnack+,gfx942"
        done = fatcrate("strip", "--keep", keep, "-o", out, tmp_path / "k.hipfb")
        assert done.code == 0, done.stderr
        (found,) = _hip(out)
        assert [(i.target, bytes(i.payload)) for i in found.images] == [
            (e.target, bytes(e.source.all())) for n, e in enumerate(entries) if n != 2
        ]
        assert all(i.payload_offset % align == 0 for i in found.images)
        assert out.stat().st_size <= (tmp_path / "k.hipfb").stat().st_size - 900
        argv = [_llvm("clang-offload-bundler"), "-type=o", "-list", f"-input={out}"]
        told = subprocess.check_output(argv, text=True)
        assert sorted(told.split()) == sorted(n for n in names_of if "xnack-" not in n)
    done = fatcrate("strip", "--keep", "gfx90a", "-o", tmp_path / "l", tmp_path / "k.hipfb")
    assert [i.target for f in _hip(tmp_path / "l") for i in f.images] == names_of[:3]
    done = fatcrate("extract", "--arch", "gfx90a:xnack-", "-o", tmp_path, tmp_path / "k.hipfb")
    assert done.stdout == "k.3.gfx90a.hsaco\n"


def test_sizes_of_compressed_bundles(objects: Path) -> None:
    """Each code object has its share of the compressed bytes."""
    packed = _bundler(objects, "v3.hipfb", "-compress")
    (found,) = hip.read_all(Source("k", data=packed + bytes(50_000) + packed))[1:]
    assert found.offset == len(packed) + 50_000
    assert {i.method for i in found.images} == {"zstd"}
    assert 0.5 * len(packed) < sum(i.stored_size for i in found.images) <= len(packed)


def test_faults_of_the_packer(objects: Path, tmp_path: Path) -> None:
    def pack(*images: str) -> str:
        done = fatcrate("pack", "-o", tmp_path / "k", *images)
        assert done.code != 0 and not (tmp_path / "k").exists()
        return done.stderr

    gfx942 = objects / "gfx942.hsaco"
    assert "is for gfx942" in pack(f"gfx90a={gfx942}")
    assert "is a second image for gfx942" in pack(f"gfx942={gfx942}", f"gfx942={gfx942}")
    assert "do not go into one file" in pack(f"gfx942={gfx942}", f"sm_90={gfx942}")


@pytest.mark.parametrize("linked", [False, True])
def test_kpack_wrappers_are_recognised(tmp_path: Path, linked: bool) -> None:
    """ROCm's kpack moves code objects out of the library and marks the wrapper."""
    reference = msgpack.packb({"kernel_name": "lib.so", "kpack_search_paths": ["../k.kpack"]})
    (tmp_path / "ref").write_bytes(reference)
    (tmp_path / "k.s").write_text(
        '.section .hipFatBinSegment,"aw"\n.long 0x4B504948, 1\n.quad ref, 0\n'
        '.section .hip_fatbin,"a"\n.zero 200000\n'
        '.section .rocm_kpack_ref,"a"\nref: .incbin "ref"\n'
    )
    command = ["gcc", "-shared", "k.s", "-o", "k"] if linked else ["as", "k.s", "-o", "k"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = fatcrate("inspect", tmp_path / "k")
    assert done.code == 0
    message = "1 HIPK wrapper(s); the code objects are in kpack files: ../k.kpack"
    assert message in done.stdout
    for command in (["strip", "--keep", "gfx942"], ["recompress"]):
        done = fatcrate(*command, "-o", tmp_path / "out", tmp_path / "k")
        assert (done.code, message in done.stderr) == (1, True), done.stderr
    done = fatcrate("extract", "-o", tmp_path, tmp_path / "k")
    assert (done.code, message in done.stderr) == (1, True), done.stderr


def test_a_file_with_both_kinds_of_wrapper(objects: Path, tmp_path: Path) -> None:
    """Bundles are listed though another library, linked in, has its code in a kpack file."""
    _bundler(objects, "bundle")
    text = _WRAPPED.replace("BUNDLE", str(objects / "bundle")) + _MIXED
    (tmp_path / "w.s").write_text(text)
    subprocess.run(["gcc", "-shared", "w.s", "-o", "k"], cwd=tmp_path, check=True)
    done = fatcrate("inspect", tmp_path / "k")
    assert done.code == 0 and "1 HIPK wrapper(s)" in done.stdout
    assert done.stdout.count("hsaco") == 2 * len(_ARCHS)


@given(st.lists(st.tuples(st.text("abc-:+", max_size=9), st.binary(max_size=99)), max_size=4))
def test_round_trip(items: list[tuple[str, bytes]]) -> None:
    entries = [hip.Entry(f"hip-{n}-{t}", Source("k", data=d)) for n, (t, d) in enumerate(items)]
    stream = io.BytesIO()
    hip.write_raw(entries, stream)
    raw = stream.getvalue()
    for data in (raw, hip.compress(raw), hip.compress(raw, version=2, level=9)):
        found = hip.read(Source("k", data=data))
        assert [(i.target, bytes(i.payload)) for i in found.images[1:]] == [
            (e.target, bytes(e.source.all())) for e in entries
        ]


def _raw_bundle() -> bytearray:
    stream = io.BytesIO()
    hip.write_raw([hip.Entry(f"t{n}", Source("k", data=bytes([n]) * 50)) for n in (1, 2)], stream)
    return bytearray(stream.getvalue())


def test_damaged_bundles() -> None:
    raw = _raw_bundle()
    first = 24 + 8 + 24 + len(hip.HOST_ENTRY)
    cases = [
        (24, 1 << 40, "is a bundle of 1099511627776 entries"),
        (first + 8, 1 << 50, "but the data ends at"),
        (first + 16, 1 << 30, "has an entry with a huge identifier"),
        (first + 24 + 2, 4096, "has bundle entries that overlap"),
        (first, 8, "has an entry inside of its header"),
    ]
    for offset, value, message in cases:
        data = bytearray(raw)
        struct.pack_into("<Q", data, offset, value)
        with pytest.raises(FatcrateError, match="FC040") as caught:
            hip.read(Source("k.hipfb", data=bytes(data)))
        assert message in str(caught.value)
    packed = bytearray(hip.compress(bytes(raw)))
    struct.pack_into("<Q", packed, 16, 1 << 45)
    with pytest.raises(FatcrateError, match="FC0404"):
        hip.read(Source("k", data=bytes(packed)))
    packed = bytearray(hip.compress(bytes(raw)))
    packed[24] ^= 1
    with pytest.raises(FatcrateError, match="does not match its checksum"):
        hip.read(Source("k", data=bytes(packed)))
