"""HIP offload bundles and AMD code objects, against LLVM's own tools."""

from __future__ import annotations

import io
import os
import struct
import subprocess
from pathlib import Path

import msgpack
import pytest
from fatcrate.fatbin import codeobject, hip
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


def test_faults_of_the_packer(objects: Path, tmp_path: Path) -> None:
    def pack(*images: str) -> str:
        done = fatcrate("pack", "-o", tmp_path / "k", *images)
        assert done.code != 0 and not (tmp_path / "k").exists()
        return done.stderr

    gfx942 = objects / "gfx942.hsaco"
    assert "is for gfx942" in pack(f"gfx90a={gfx942}")
    assert "is a second image for gfx942" in pack(f"gfx942={gfx942}", f"gfx942={gfx942}")
    assert "do not go into one file" in pack(f"gfx942={gfx942}", f"sm_90={gfx942}")


def test_kpack_wrappers_are_recognised(tmp_path: Path) -> None:
    """ROCm's kpack moves code objects out of the library and marks the wrapper."""
    reference = msgpack.packb({"kernel_name": "lib.so", "kpack_search_paths": ["../k.kpack"]})
    (tmp_path / "ref").write_bytes(reference)
    (tmp_path / "k.s").write_text(
        '.section .hipFatBinSegment,"aw"\n.long 0x4B504948, 1\n.quad ref, 0\n'
        '.section .hip_fatbin,"a"\n.zero 200000\n'
        '.section .rocm_kpack_ref,"a"\nref: .incbin "ref"\n'
    )
    subprocess.run(["as", "k.s", "-o", "k.o"], cwd=tmp_path, check=True)
    done = fatcrate("inspect", tmp_path / "k.o")
    assert done.code == 0
    assert "1 HIPK wrapper(s); the code objects are in kpack files: ../k.kpack" in done.stdout


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
