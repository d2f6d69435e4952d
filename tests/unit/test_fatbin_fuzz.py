"""Mutated inputs: every reader ends with a result or a diagnostic, soon and in little memory."""

from __future__ import annotations

import contextlib
import io
import random
import resource
import struct
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fatcrate.fatbin import (
    cubin,
    describe,
    edit,
    extract,
    hip,
    hostfile,
    packer,
    policy,
    ptx,
    reader,
    rewrite,
    select,
    usage,
    verify,
)
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.diagnostics import Collector, FatcrateError
from fatcrate.toolchain.discover import Tools
from support import images, nvidia
from support.device import fatcrate

Reader = Callable[[Source], object]


def _seeds(tools: Tools, tmp_path: Path) -> dict[str, bytes]:
    """One sound file of each kind."""
    one = images.cubin(tools.ptxas, "90a", "rich")
    two = images.cubin(tools.ptxas, "100")
    inputs = [
        packer.Input("cubin", parse_one("sm_90a"), Source("k", data=one), "ident"),
        packer.Input("ptx", parse_one("compute_90"), Source("k", data=images.ptx("90")), "", "-O3"),
        packer.Input("cubin", parse_one("sm_100"), Source("k", data=two)),
    ]
    plain = packer.pack(inputs, packer.Options(mode="none"))
    (tmp_path / "k.fatbin").write_bytes(packer.pack(inputs, packer.Options(mode="balanced")))
    done = fatcrate(
        "embed", tmp_path / "k.fatbin", "-o", tmp_path / "k.o", "--host", "x86_64", "--symbol", "k"
    )
    assert done.code == 0
    stream = io.BytesIO()
    hip.write_raw([hip.Entry(hip.DEVICE_PREFIX + "gfx942", Source("k", data=bytes(999)))], stream)
    obj = (tmp_path / "k.o").read_bytes()
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("k/k.so", obj)
        made.writestr("k-1.dist-info/RECORD", "k/k.so,sha256=x,1\n")
    archive = b"!<arch>\n" + b"k.o/".ljust(16) + b"0".ljust(32) + str(len(obj)).encode().ljust(10)
    (tmp_path / "k.c").write_text("int k(void) { return 1; }")
    command = ["gcc", "-shared", "-s", "k.c", "k.o", "-o", "k.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    return {
        "shared": (tmp_path / "k.so").read_bytes(),
        "plain": plain,
        "balanced": (tmp_path / "k.fatbin").read_bytes(),
        "speed": packer.pack(inputs, packer.Options(mode="speed", compress_all=True)),
        "tile": nvidia.pack([nvidia.Item("tileir", b"\x7fTileIR\0" + bytes(64), "", "i", "")]),
        "cubin": one,
        "cubin100": two,
        "ptx": images.ptx("90", source="rich"),
        "object": obj,
        "archive": archive + b"`\n" + obj,
        "bundle": stream.getvalue(),
        "compressed": hip.compress(stream.getvalue()),
        "wheel": wheel.getvalue(),
    }


def _mutated(rnd: random.Random, seed: bytes) -> bytes:
    """A few edits: bytes, interesting integers, cuts, repeats."""
    data = bytearray(seed)
    for _ in range(rnd.randint(1, 4)):
        at = rnd.randrange(max(min(len(data), rnd.choice([100, 4000, len(data)])), 1))
        kind = rnd.randrange(6)
        if kind == 0:
            data[at : at + 1] = bytes([rnd.randrange(256)])
        elif kind == 1:
            width = rnd.choice([2, 4, 8])
            value = rnd.choice([0, 1, 7, 8, 0xFF, 0xFFFF, 0x7FFFFFFF, 1 << 32, 1 << 62, len(data)])
            value = (value + rnd.randint(-2, 2)) % (1 << 8 * width)
            data[at : at + width] = value.to_bytes(width, "little")
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rnd.randint(1, 64)]
        elif kind == 4:
            data[at:at] = data[at : at + rnd.randint(1, 64)]
        else:
            data[at : at + 8] = rnd.randbytes(8)
    return bytes(data)


def _describe(source: Source) -> object:
    with contextlib.ExitStack() as stack:
        made = describe.describe("k", hostfile.modules(source, stack), "data")
        return list(describe.text(made.document))


def _rewrite(source: Source) -> object:
    out = io.BytesIO()
    rewrite.rewrite(source, edit.keeper(["sm_90a"]), out, rewrite.Summary())
    return out


def _recompress(source: Source) -> object:
    out = io.BytesIO()
    rewrite.rewrite(source, edit.recompressor("balanced", 1), out, rewrite.Summary())
    return out


def _extract(source: Source) -> object:
    with contextlib.ExitStack() as stack:
        found = [f for m in hostfile.modules(source, stack) for f in m.fatbins]
        for fatbin in found:
            select.choose([select.candidate(i) for i in fatbin.images], 90)
        return [extract.contents(image) for fatbin in found for image in fatbin.images]


def _check(kind: str, arch: str) -> Reader:
    """The packer's checks on a bare image."""

    def check(source: Source) -> object:
        faults = Collector()
        verify.check_image(kind, parse_one(arch), source, policy.Policy(), faults)
        if packer.sniff(source) == kind:
            packer.pack([packer.Input(kind, parse_one(arch), source)])
        return faults

    return check


_READERS: dict[str, list[Reader]] = {
    "shared": [_describe, _rewrite],
    "plain": [_describe, _rewrite, reader.read_all, _extract],
    "balanced": [_describe, _rewrite, _recompress],
    "speed": [_describe],
    "tile": [_describe],
    "cubin": [cubin.read, _describe, lambda s: usage.of_kernels(bytes(s.all()))],
    "cubin100": [cubin.read, _check("cubin", "sm_100")],
    "ptx": [
        _check("ptx", "compute_90"),
        lambda s: ptx.read(s.all(), s.name),
        lambda s: ptx.strip(s.all()),
        _describe,
    ],
    "object": [_describe, _rewrite],
    "archive": [_describe, _rewrite],
    "bundle": [hip.read, _describe, _rewrite],
    "compressed": [hip.read, _describe, _recompress],
    "wheel": [_describe, _rewrite],
}


@pytest.mark.parametrize("kind", sorted(_READERS))
def test_mutated_files(tools: Tools, tmp_path: Path, full: bool, kind: str) -> None:
    rnd = random.Random(kind)
    seed = _seeds(tools, tmp_path)[kind]
    for read in _READERS[kind]:
        read(Source("k", data=seed))  # the unchanged file is sound
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(16_000 if full else 250):
        data = _mutated(rnd, seed)
        for read in _READERS[kind]:
            start = time.perf_counter()
            with contextlib.suppress(FatcrateError):
                read(Source("k", data=data))
            assert time.perf_counter() - start < 5, data.hex()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400_000, f"{grown} KiB more memory"


def test_overlapping_group_members_are_refused(tools: Tools) -> None:
    """A group whose second image claims to start inside of the first one."""
    first, second = images.cubin(tools.ptxas, "80"), images.cubin(tools.ptxas, "86")
    blob = first + second
    subs = []
    for offset, data, sm in ((0, first, 80), (8, second, 86)):
        subs.append(
            struct.pack(
                "<HHIQIIHHIIIQQQ", 2, 0x101, offset, len(data), 0, 0, 8, 1, sm, 0, 0, 0x11, 0, 0
            )
        )
    extra = struct.pack("<II", 2, 8 + 128) + b"".join(subs)
    size = 64 + len(extra)
    head = struct.pack(
        "<HHIQIIHHIIIQQQ", 0x100, 0x101, size, len(blob), 0, 64, 0, 1, 0, 0, 0, 0x11, 0, 0
    )
    body = head + extra + blob
    data = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
    with pytest.raises(FatcrateError, match="has an image outside of its group"):
        reader.read(Source("k", data=data))
