"""The packer against NVIDIA's own library and tools: equal bytes for equal inputs."""

from __future__ import annotations

import io
import random
import subprocess
from pathlib import Path

import pytest
from fatcrate.fatbin import packer, ptx, reader
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import images, nvidia

_MODES = ("none", "default", "speed", "size")


def _input(item: nvidia.Item) -> packer.Input:
    prefix = "sm_" if item.kind == "cubin" else "compute_"
    return packer.Input(
        item.kind,
        parse_one(prefix + item.arch),
        Source(f"{item.kind} {item.arch}", data=item.data),
        item.ident,
        item.options,
    )


def _item(rnd: random.Random, ptxas: str) -> nvidia.Item:
    arch = rnd.choice(images.ARCHS)
    ident = rnd.choice(["", "a", "abcdefg", "abcdefgh", "kernels.cu", "x" * 40, "ü"])
    source = rnd.choice(["plain", "rich"])
    if rnd.random() < 0.5:
        return nvidia.Item("cubin", images.cubin(ptxas, arch, source), arch, ident)
    options = rnd.choice(["", "-O3", "-O3 -lineinfo", "--maxrregcount=32"])
    return nvidia.Item("ptx", images.ptx(arch, source=source), arch, ident, options)


def test_random_sets_are_byte_identical_to_nvfatbin(tools: Tools, full: bool) -> None:
    rnd = random.Random(20240607)
    for number in range(1000 if full else 60):
        items = [_item(rnd, tools.ptxas) for _ in range(rnd.randint(1, 6))]
        mode = rnd.choice(_MODES)
        debug, everything = rnd.random() < 0.2, rnd.random() < 0.3
        flags = [] if mode == "default" else [f"-compress-mode={mode}"]
        flags += ["-g"] if debug else []
        flags += ["-compress-all"] if everything and mode != "none" else []
        options = packer.Options(mode=mode, debug=debug, compress_all=everything)
        ours = packer.pack([_input(i) for i in items], options)
        assert ours == nvidia.pack(items, flags), (number, mode, [(i.kind, i.arch) for i in items])
        stream = io.BytesIO()
        packer.write([_input(i) for i in items], options, stream)
        assert stream.getvalue() == ours


_PIECES = [
    "a", "b ", " ", "  ", "\t", "\n", "\r", "\r\n", "/", "//", "/*", "*/", "*", '"', "\\", "\\\\",
    ";", "\x0b", "\x0c", "{", "}", "ä", "\x01", "'", "#", ".reg ", "ret;", " // x\n", "/* y */",
]  # fmt: skip


def test_ptx_is_rewritten_as_nvfatbin_does(full: bool) -> None:
    rnd = random.Random(7)
    head = b".version 9.0\n.target sm_90\n.address_size 64\n"
    for _ in range(5000 if full else 400):
        text = head + "".join(rnd.choices(_PIECES, k=rnd.randint(1, 40))).encode()
        theirs = nvidia.pack([nvidia.Item("ptx", text, "90")], ["-compress=false"])
        payload = bytes(reader.read(Source("k", data=theirs)).images[0].payload)
        ours = ptx.strip(text)
        assert payload == ours + bytes(-len(ours) % 8), text


def test_the_tool_fatbinary_makes_the_same_file(tools: Tools, tmp_path: Path) -> None:
    fatbinary = Path(tools.ptxas).with_name("fatbinary")
    (tmp_path / "a.cubin").write_bytes(images.cubin(tools.ptxas, "86"))
    (tmp_path / "b.ptx").write_bytes(images.ptx("90"))
    subprocess.run(
        [
            fatbinary, "-64", "--create=k.fatbin", "-compress-mode=size",
            "--image3=kind=elf,sm=86,file=a.cubin", "--image3=kind=ptx,sm=90,file=b.ptx",
        ],
        cwd=tmp_path,
        check=True,
    )  # fmt: skip
    ours = packer.pack(
        [
            _input(nvidia.Item("cubin", images.cubin(tools.ptxas, "86"), "86")),
            _input(nvidia.Item("ptx", images.ptx("90"), "90")),
        ],
        packer.Options(mode="size"),
    )
    assert (tmp_path / "k.fatbin").read_bytes() == ours


def test_lto_ir_is_stored_as_it_is() -> None:
    """nvFatbin does so too when compression is off; compressed, it encodes the bytes."""
    ltoir = b"\xed\x43\x4e\x7f\x01\x43" + bytes(range(58))
    item = nvidia.Item("ltoir", ltoir, "90", "id", "-lto")
    ours = packer.pack([_input(item)], packer.Options(mode="balanced"))
    assert ours == nvidia.pack([item], ["-compress=false"])
    (image,) = reader.read(Source("k", data=ours)).images
    assert (image.kind, str(image.arch), bytes(image.payload)) == ("ltoir", "compute_90", ltoir)


def test_balanced_compresses_every_image(tools: Tools) -> None:
    made = packer.pack(
        [
            _input(nvidia.Item("cubin", images.cubin(tools.ptxas, "90a"), "90a")),
            _input(nvidia.Item("ptx", images.ptx("100f"), "100f")),
        ],
        packer.Options(mode="balanced"),
    )
    found = reader.read(Source("k", data=made)).images
    assert [i.method for i in found] == ["zstd", "zstd"]
    assert [str(i.arch) for i in found] == ["sm_90a", "compute_100f"]
    assert bytes(found[0].payload) == images.cubin(tools.ptxas, "90a")


def test_a_level_may_be_chosen(tools: Tools) -> None:
    item = _input(nvidia.Item("cubin", images.cubin(tools.ptxas, "90", "rich"), "90"))
    sizes = [
        len(packer.pack([item], packer.Options(mode="balanced", level=level)))
        for level in (1, 9, 22)
    ]
    assert sizes[0] > sizes[1] >= sizes[2]


@pytest.mark.parametrize("arch", ["100", "103a", "107f", "121"])
def test_a_cubin_keeps_its_compatibility_record(tools: Tools, arch: str) -> None:
    """Without the copy of .nv.compat no later chip of the family accepts the cubin."""
    item = _input(nvidia.Item("cubin", images.cubin(tools.ptxas, arch), arch))
    (image,) = reader.read(Source("k", data=packer.pack([item]))).images
    assert image.flags & 0x1000000 and image.compat
