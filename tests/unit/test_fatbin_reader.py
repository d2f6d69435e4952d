"""Reading containers: what NVIDIA's tools write, what we write, and damaged ones."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fatcrate.fatbin import compression, packer, reader
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import ENTRY_HEADER, FATBIN_HEADER, Layout
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import FatcrateError, Location
from fatcrate.toolchain.discover import Tools
from hypothesis import given
from hypothesis import strategies as st
from support import cuobjdump, images, nvidia


def _read(data: bytes) -> list[Any]:
    return reader.read(Source("k.fatbin", data=data)).images


def _fault(data: bytes) -> str:
    with pytest.raises(FatcrateError) as caught:
        for image in _read(data):
            bytes(image.payload)
    return str(caught.value)


def test_layout_tables_must_name_the_fields() -> None:
    with pytest.raises(TypeError, match="FatbinHeader"):
        Layout(type(FATBIN_HEADER.read(bytes(16))), "magic:u32 size:u64")


def test_sizes_of_the_records() -> None:
    assert (FATBIN_HEADER.size, ENTRY_HEADER.size) == (16, 0x40)
    assert ENTRY_HEADER.offset("flags") == 0x28
    assert ENTRY_HEADER.offset("uncompressed") == 0x38


_ptx = st.binary(max_size=300).map(
    lambda b: b".version 8.0\n.target sm_90\n" + b.replace(b"\0", b"") + b"\n"
)
_item = st.tuples(
    st.sampled_from(["ptx", "ltoir"]),
    st.integers(10, 999),
    st.sampled_from(["", "a", "f"]),
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=20),
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=20),
    _ptx,
)


@given(st.lists(_item, max_size=5), st.sampled_from(compression.MODES))
def test_what_is_packed_is_read_back(items: list[Any], mode: compression.Mode) -> None:
    inputs = [
        packer.Input(
            kind,
            Arch("compute", sm, suffix),
            Source("k", data=text if kind == "ptx" else b"\xed\x43\x4e\x7f\x01\x43" + text),
            ident,
            options,
        )
        for kind, sm, suffix, ident, options, text in items
    ]
    found = _read(packer.pack(inputs, packer.Options(mode=mode)))
    assert len(found) == len(inputs)
    for image, given_ in zip(found, inputs, strict=True):
        assert (image.kind, image.arch) == (given_.kind, given_.arch)
        assert (image.identifier, image.options) == (given_.identifier, given_.options)
        if given_.kind == "ltoir":
            size = given_.source.size
            assert bytes(image.payload)[:size] == bytes(given_.source.all())


def test_concatenated_groups_are_opened(tools: Tools, tmp_path: Path) -> None:
    """`fatbinary -concat` puts several images into one compressed block."""
    want = {}
    argv = [str(Path(tools.ptxas).with_name("fatbinary")), "-64", "--create=g.fatbin", "--concat"]
    for arch in ("80", "90", "100", "103"):
        want["cubin", f"sm_{arch}"] = images.cubin(tools.ptxas, arch)
        (tmp_path / f"{arch}.cubin").write_bytes(want["cubin", f"sm_{arch}"])
        argv.append(f"--image3=kind=elf,sm={arch},file={arch}.cubin")
    for arch in ("80", "90"):
        (tmp_path / f"{arch}.ptx").write_bytes(images.ptx(arch))
        argv.append(f"--image3=kind=ptx,sm={arch},file={arch}.ptx")
    subprocess.run([*argv, "-ident", "group"], cwd=tmp_path, check=True)
    found = _read((tmp_path / "g.fatbin").read_bytes())
    assert sorted(str(i.arch) for i in found) == [
        "compute_80",
        "compute_90",
        "sm_100",
        "sm_103",
        "sm_80",
        "sm_90",
    ]
    for image in found:
        assert image.identifier == "group" and image.grouped
        if image.kind == "cubin":
            payload = bytes(image.payload)
            assert payload.rstrip(b"\0") == want["cubin", str(image.arch)].rstrip(b"\0")
            assert bool(image.compat) == (image.arch.number >= 100)


def test_tile_ir_is_recognised() -> None:
    item = nvidia.Item("tileir", b"\x7fTileIR\0" + bytes(64), "", "id", "-O3")
    (image,) = _read(nvidia.pack([item]))
    assert (image.kind, image.identifier, image.options) == ("tileir", "id", "-O3")


def test_several_containers_and_padding_in_one_section(tools: Tools) -> None:
    one = nvidia.pack([nvidia.Item("cubin", images.cubin(tools.ptxas, "80"), "80")])
    data = one + bytes(40) + one + one + bytes(200)
    found = reader.read_all(Source("section", data=data))
    assert [f.offset for f in found] == [0, len(one) + 40, 2 * len(one) + 40]


def _sample() -> bytearray:
    return bytearray(
        packer.pack(
            [packer.Input("ptx", Arch("compute", 90), Source("k", data=images.ptx("90")), "id")]
        )
    )


@pytest.mark.parametrize(
    ("offset", "code", "value", "message"),
    [
        (0, "<I", 0, "does not start with the fatbin magic"),
        (4, "<H", 9, "is a fatbin of version 9, not 1"),
        (6, "<H", 12, "states a fatbin header of 12 bytes"),
        (8, "<Q", 1 << 62, "but the data ends at"),
        (16 + 4, "<I", 8, "states an entry header of 8 bytes"),
        (16 + 4, "<I", 0xFFFFFFF8, "states an entry header of 4294967288 bytes"),
        (16 + 8, "<Q", 1 << 60, "has an entry of 1152921504606846976 bytes where"),
        (16 + 0x10, "<I", 1 << 30, "states 1073741824 compressed bytes in an entry of"),
        (16 + 0x14, "<I", 0xFFFF, "points to 0xffff for options"),
        (16 + 0x24, "<I", 0xFFFFFF, "has an identifier outside of its entry header"),
        (16 + 0x38, "<Q", 1 << 50, "claims 1125899906842624 bytes"),
        (16 + 0x38, "<Q", 5, "holds a frame of"),
    ],
)
def test_damaged_fields_are_named(offset: int, code: str, value: int, message: str) -> None:
    data = _sample()
    struct.pack_into(code, data, offset, value)
    text = _fault(bytes(data))
    assert message in text
    assert "k.fatbin: offset 0x" in text


def test_every_truncation_is_an_error() -> None:
    data = bytes(_sample())
    for size in range(len(data)):
        assert "FC04" in _fault(data[:size])


def test_a_decompression_bomb_is_refused() -> None:
    where = Location("bomb")
    frame = compression.compress(bytes(64 << 20), "zstd", 19)
    with pytest.raises(FatcrateError, match="FC0404"):
        compression.decompress(frame, "zstd", 1 << 40, where)
    with pytest.raises(FatcrateError, match="FC0404"):
        compression.decompress(b"\x10abc", "lz4", 1 << 30, where)
    with pytest.raises(FatcrateError, match="FC0403"):
        compression.decompress(frame, "zstd", 64, where)


def test_lz4_blocks_of_nvfatbin(tools: Tools) -> None:
    cubin = images.cubin(tools.ptxas, "90", "rich")
    made = nvidia.pack(
        [nvidia.Item("cubin", cubin, "90")], ["-compress-mode=speed", "-compress-all"]
    )
    (image,) = _read(made)
    assert image.method == "lz4" and bytes(image.payload) == cubin


def test_cuobjdump_lists_the_same_images(tools: Tools, tmp_path: Path) -> None:
    path = tmp_path / "k.fatbin"
    cubins = {
        Arch("sm", 90, "a"): images.cubin(tools.ptxas, "90a"),
        Arch("sm", 120): images.cubin(tools.ptxas, "120"),
    }
    inputs = [packer.Input("cubin", a, Source("k", data=d)) for a, d in cubins.items()]
    inputs.append(packer.Input("ptx", Arch("compute", 90), Source("k", data=images.ptx("90"))))
    path.write_bytes(packer.pack(inputs, packer.Options(mode="balanced")))
    assert cuobjdump.listed_files(Path(tools.cuobjdump), path) == [
        "ELF sm_120",
        "ELF sm_90a",
        "PTX sm_90",
    ]
