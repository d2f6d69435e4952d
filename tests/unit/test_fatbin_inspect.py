"""`fatcrate inspect`: listings, JSON, differences, required architectures, hostile files."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fatcrate.fatbin import packer
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import cuobjdump, images
from support.device import fatcrate


def _pack(path: Path, tools: Tools, *archs: str, source: str = "plain", mode: Any = "none") -> Path:
    inputs = []
    for arch in archs:
        if arch.startswith("compute_"):
            data, kind = images.ptx(arch[8:], source=source), "ptx"
        else:
            data, kind = images.cubin(tools.ptxas, arch[3:], source), "cubin"
        inputs.append(packer.Input(kind, parse_one(arch), Source(arch, data=data)))
    path.write_bytes(packer.pack(inputs, packer.Options(mode=mode)))
    return path


def _json(*argv: str | Path) -> Any:
    done = fatcrate("inspect", "--json", *argv)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


def test_the_plain_listing(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _pack(Path("k.fatbin"), tools, "sm_100", "sm_100f", "compute_90")
    assert fatcrate("inspect", "k.fatbin").stdout == (
        "k.fatbin: 1 container, 3 images, 11.8 kB stored, 11.8 kB unpacked\n"
        "\n"
        "1: fatbin, offset 0x0\n"
        "   image  arch        size    stored  compression  kernels\n"
        "   cubin  sm_100      5562 B  5568 B  none         1\n"
        "   cubin  sm_100f     5562 B  5568 B  none         1\n"
        "   ptx    compute_90  688 B   688 B   none         1        PTX 7.8\n"
    )


def test_json_has_the_documented_form(tools: Tools, tmp_path: Path) -> None:
    path = _pack(tmp_path / "k.fatbin", tools, "sm_90a", "compute_90", source="rich", mode="size")
    document = _json(path)
    (fatbin,) = document["fatbins"]
    cubin, ptx = fatbin["images"]
    for image in (cubin, ptx):
        assert {"kind", "arch", "size", "stored_size", "compression", "kernels"} <= image.keys()
        for kernel in image["kernels"]:
            assert {
                "name", "registers", "shared_bytes", "stack_bytes", "constant_bytes", "params"
            } <= kernel.keys()  # fmt: skip
    assert (cubin["kind"], cubin["arch"], cubin["compression"]) == ("cubin", "sm_90a", "zstd")
    assert cubin["size"] == len(images.cubin(tools.ptxas, "90a", "rich"))
    shared = {k["name"]: k for k in cubin["kernels"]}["with_shared"]
    assert shared["params"] == [
        {"ordinal": 0, "offset": 0, "size": 24},
        {"ordinal": 1, "offset": 24, "size": 1},
        {"ordinal": 2, "offset": 32, "size": 8},
    ]
    in_ptx = {k["name"]: k for k in ptx["kernels"]}["with_shared"]
    assert in_ptx["registers"] is None
    assert [(p["name"], p["offset"], p["size"]) for p in in_ptx["params"]] == [
        ("block", 0, 24),
        ("flag", 24, 1),
        ("out", 32, 8),
    ]
    assert in_ptx["required_threads"] == [128, 2, 1]
    assert document["totals"]["kernels"] == 6


def test_kernels_and_tree(tools: Tools, tmp_path: Path) -> None:
    path = _pack(tmp_path / "k.fatbin", tools, "sm_80", source="rich")
    lines = fatcrate("inspect", "--kernels", path).stdout
    assert "with_shared  8          2048    0      392       24@0 1@24 8@32" in lines
    quick = fatcrate("inspect", "--resources", path).stdout
    assert "with_stack   10         0       64     364" in quick
    tree = fatcrate("inspect", "--tree", path).stdout.splitlines()
    assert tree[1].startswith("└─ fatbin 1, ")
    assert "      └─ empty (registers 4)" in tree


def test_sass(tools: Tools, tmp_path: Path) -> None:
    path = _pack(tmp_path / "k.fatbin", tools, "sm_80", "compute_80", mode="balanced")
    done = fatcrate("inspect", "--sass", "--nvdisasm", tools.nvdisasm, path)
    assert "cubin sm_80" in done.stdout and "LDG.E" in done.stdout and "EXIT" in done.stdout
    only_ptx = _pack(tmp_path / "p.fatbin", tools, "compute_80")
    assert "holds no cubin" in fatcrate("inspect", "--sass", only_ptx).stderr


def test_differences(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _pack(Path("old"), tools, "sm_80", "sm_90", source="rich")
    text = images.ptx("80", source="rich").replace(b".entry empty", b".entry other")
    text = text.replace(b"tile[2048]", b"tile[4096]")
    out, index = b".param .u64 out", b".param .u32 index"
    text = text.replace(out + b", " + index, index + b", " + out)
    cubin = images.assemble(tools.ptxas, text, "80")
    inputs = [
        packer.Input("cubin", parse_one("sm_80"), Source("k", data=cubin)),
        packer.Input("ptx", parse_one("compute_80"), Source("k", data=images.ptx("80"))),
    ]
    Path("new").write_bytes(packer.pack(inputs, packer.Options(mode="none")))
    lines = fatcrate("inspect", "old", "--diff", "new").stdout.splitlines()
    assert lines[0] == "old -> new"
    assert "+ ptx compute_80" in lines and "- cubin sm_90" in lines
    assert "+ cubin sm_80: kernel other" in lines and "- cubin sm_80: kernel empty" in lines
    assert "~ cubin sm_80: kernel with_shared: shared 2048 -> 4096" in lines
    changed = [line for line in lines if "kernel with_stack" in line]
    assert len(changed) == 1 and "parameters 8@0 4@8 -> 4@0 8@8" in changed[0]
    assert "no difference" in fatcrate("inspect", "old", "--diff", "old").stdout
    made = json.loads(fatcrate("inspect", "old", "--diff", "new", "--json").stdout)
    assert made["archs_added"] == ["ptx compute_80"] and made["archs_removed"] == ["cubin sm_90"]


@pytest.mark.parametrize("empty", ["", " ", ","])
@pytest.mark.parametrize("given", [(), ("--require", "sm_80")])
def test_a_requirement_of_nothing_is_wrong_usage(empty: str, given: tuple[str, ...]) -> None:
    done = fatcrate("inspect", *given, "--require", empty, "/dev/null")
    assert done.code == 2
    assert "names no architecture" in done.stderr


def test_required_architectures(tools: Tools, tmp_path: Path) -> None:
    path = _pack(tmp_path / "k.fatbin", tools, "sm_80", "sm_90a", "sm_100", "compute_90")
    assert fatcrate("inspect", "--require", "sm_80,9.0a,compute_90", path).code == 0
    done = fatcrate("inspect", "--require", "sm_120,sm_90,sm_80", path)
    assert done.code == 1
    assert done.stderr == (
        f"error[FC0411]: {path}: has no image for sm_90, sm_120\n"
        "  help: it has: compute_90, sm_80, sm_90a, sm_100\n"
    )


def test_duplicates_are_pointed_out(tools: Tools, tmp_path: Path) -> None:
    one = _pack(tmp_path / "k", tools, "sm_80", "sm_90").read_bytes()
    (tmp_path / "two").write_bytes(one + one)
    made = _json(tmp_path / "two")
    assert [i.get("duplicate_of") for i in made["fatbins"][1]["images"]] == [
        "fatbin 1, image 1",
        "fatbin 1, image 2",
    ]
    assert made["totals"]["duplicate_bytes"] > 0


def test_bare_images(tools: Tools, tmp_path: Path) -> None:
    for name, data, kind, arch in (
        ("k.cubin", images.cubin(tools.ptxas, "103f"), "cubin", "sm_103f"),
        ("k.ptx", images.ptx("120a"), "ptx", "compute_120a"),
    ):
        (tmp_path / name).write_bytes(data)
        (image,) = _json(tmp_path / name)["fatbins"][0]["images"]
        assert (image["kind"], image["arch"], len(image["kernels"])) == (kind, arch, 1)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "FC0400"),
        (b"\x7fEL", "FC0400"),
        (b"\x7fELF", "FC0401"),
        (b"\x50\xed\x55\xba", "FC0401"),
        (b"MZ" + bytes(100), "FC0408"),
        (b"\xcf\xfa\xed\xfe" + bytes(100), "FC0408"),
        (b"\x7fELF\x01\x01\x01" + bytes(100), "FC0408"),
        (b"!<arch>\nxyz", "FC0401"),
        (b"!<arch>\n" + b"x" * 60, "FC0410"),
        (b"!<thin>\n", "FC0400"),
        (b"CCOB" + bytes(40), "FC0408"),
        (b"PK\x03\x04" + bytes(40), "FC0410"),
        (b"hello, world\n" * 10, "FC0400"),
        (b".version 8.0\n.target none\n", "FC0407"),
        (b".version 8.0\n.target sm_80\n.entry k(.param .q32 a) {}\n", "FC0407"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    done = fatcrate("inspect", path)
    assert done.code == 1 and f"error[{code}]" in done.stderr, done.stderr
    assert str(path) in done.stderr


def test_sparse_files_of_eight_gigabytes(tmp_path: Path) -> None:
    """In bounded time and memory, whatever the file claims."""
    path = tmp_path / "sparse"
    size = 8 << 30
    heads = {
        "FC0400": b"",
        "FC0402": struct.pack("<IHHQ", 0xBA55ED50, 1, 16, size - 16),
        "FC0410": b"!<arch>\n",
        "FC0404": b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1) + bytes(24),
    }
    for code, head in heads.items():
        with open(path, "wb") as stream:
            stream.write(head)
            stream.truncate(size)
        argv = [sys.executable, str(path)]
        done = subprocess.run(
            ["sh", "-c", 'ulimit -v 1000000; exec "$0" -m fatcrate inspect "$1"', *argv],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        if code == "FC0404":  # an empty entry: nothing wrong, nothing to read
            assert done.returncode in (0, 1), done.stderr
        else:
            assert done.returncode == 1 and f"error[{code}]" in done.stderr, done.stderr


def test_a_section_beyond_four_gigabytes_is_read(tools: Tools, tmp_path: Path) -> None:
    """A sparse container whose second image lies behind 4 GiB."""
    size = 4 << 30
    filler = struct.pack(
        "<HHIQIIHHIIIQQQ", 0x4000, 0x101, 64, size, 0, 0, 0, 0, 80, 0, 0, 0x11, 0, 0
    )
    image = _pack(tmp_path / "one", tools, "sm_90").read_bytes()[16:]
    path = tmp_path / "huge.fatbin"
    with open(path, "wb") as stream:
        total = len(filler) + size + len(image)
        stream.write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, total) + filler)
        stream.seek(16 + len(filler) + size)
        stream.write(image)
    made = _json(path)
    assert [i["kind"] for i in made["fatbins"][0]["images"]] == ["unknown", "cubin"]
    assert made["fatbins"][0]["images"][1]["kernels"][0]["name"] == "saxpy"
    assert fatcrate("select", "--device", "9.0", path).code == 0


def test_the_stack_of_recursion_is_unknown(tools: Tools, tmp_path: Path) -> None:
    """As cuobjdump says, and never the kernel's own frame as if that were all."""
    text = b"""\
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) deep(.param .b32 n)
{
  .reg .b32 %r<4>;
  .reg .pred %p;
  ld.param.b32 %r1, [n];
  setp.lt.s32 %p, %r1, 2;
  @%p bra $done;
  add.s32 %r1, %r1, -1;
  {
    .param .b32 a, b;
    st.param.b32 [a], %r1;
    call (b), deep, (a);
    ld.param.b32 %r2, [b];
  }
  mad.lo.s32 %r1, %r2, 3, %r1;
$done:
  st.param.b32 [r], %r1;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %d;
  ld.param.u64 %d, [out];
  {
    .param .b32 a, b;
    st.param.b32 [a], 9;
    call (b), deep, (a);
    ld.param.b32 %r1, [b];
  }
  st.global.b32 [%d], %r1;
  ret;
}
"""
    path = tmp_path / "k.cubin"
    path.write_bytes(images.assemble(tools.ptxas, text, "80"))
    assert " STACK:UNKNOWN " in cuobjdump.run(Path(tools.cuobjdump), "-res-usage", path)
    row = fatcrate("inspect", "--kernels", path).stdout.splitlines()[-1].split()
    assert (row[0], row[3]) == ("k", "unknown")
    assert "stack unknown: recursive" in fatcrate("inspect", "--tree", path).stdout
    (kernel,) = _json(path)["fatbins"][0]["images"][0]["kernels"]
    assert kernel["recursive"] is True
