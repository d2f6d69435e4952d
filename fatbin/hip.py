"""HIP offload bundles, raw and compressed, as clang-offload-bundler reads and writes them.

Source: Clang documentation, "Clang Offload Bundler": "Bundled Binary File Layout" and
"Compression and Decompression". Equal bytes are held by tests against the tool.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, NamedTuple

from fatcrate.fatbin import codeobject, compression, errors, reader
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.model import Fatbin, Image
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import Layout
from fatcrate.toolchain.arch import Arch, parse
from fatcrate.toolchain.atomic import atomic_output
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, FatcrateError

RAW_MAGIC: Final = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC: Final = b"CCOB"
ENTRY_ALIGN: Final = 4096
HOST_ENTRY: Final = "host-x86_64-unknown-linux-gnu-"
DEVICE_PREFIX: Final = "hipv4-amdgcn-amd-amdhsa--"
_ENTRY_LIMIT = 4096
_ID_LIMIT = 4096
METHOD_ZSTD: Final = 1
_METHODS: Final[dict[int, compression.Method]] = {0: "zlib", METHOD_ZSTD: "zstd"}
#: The bundler's default zstd level, used with long-distance matching.
DEFAULT_LEVEL: Final = 3


class BundleEntry(NamedTuple):
    """One entry of a raw bundle's table; its identifier follows."""

    offset: int
    size: int
    id_length: int


BUNDLE_ENTRY = Layout(BundleEntry, "offset:u64 size:u64 id_length:u64")


class CompressedV2(NamedTuple):
    """Header of a compressed bundle of version 2; sizes in bytes, ``total`` with header."""

    magic: bytes
    version: int
    method: int
    total: int
    uncompressed: int
    digest: int


COMPRESSED_V2 = Layout(
    CompressedV2, "magic:bytes4 version:u16 method:u16 total:u32 uncompressed:u32 digest:u64"
)


class CompressedV3(NamedTuple):
    """Header of a compressed bundle of version 3: 64-bit sizes."""

    magic: bytes
    version: int
    method: int
    total: int
    uncompressed: int
    digest: int


COMPRESSED_V3 = Layout(
    CompressedV3, "magic:bytes4 version:u16 method:u16 total:u64 uncompressed:u64 digest:u64"
)


def is_bundle(source: Source) -> bool:
    """Whether a raw or compressed bundle starts here."""
    return source.starts_with(COMPRESSED_MAGIC) or source.starts_with(RAW_MAGIC)


def read(source: Source, section: str = "") -> Fatbin:
    """The bundle at the start of ``source``. Raises FC0401 to FC0404."""
    if source.starts_with(COMPRESSED_MAGIC):
        return _read_compressed(source, section)
    images, size = _read_raw(source, source, 0)
    return Fatbin("hip-bundle", source, 0, size, images, section)


def read_all(source: Source, section: str = "", *, fillers: bool = False) -> list[Fatbin]:
    """All bundles of a section, one after another with zero padding between.

    Program headers that ``strip`` put between them are left out unless ``fillers`` asks.
    """
    made: list[Fatbin] = []
    at = 0
    while (at := source.skip_zeros(at)) < source.size:
        part = source.window(at, source.size - at, "a HIP bundle")
        if is_bundle(part):
            found = read(part, section)
            found.source, found.offset = source, at
        else:
            at = at // c.ENTRY_ALIGN * c.ENTRY_ALIGN
            if not reader.is_fatbin(source, at):
                source.fault(errors.MALFORMED, at, "has bytes that are no HIP bundle")
            found = reader.read(source, at, section)
            if not reader.is_filler(found):
                source.fault(errors.MALFORMED, at, "has a CUDA container among HIP bundles")
        if fillers or not reader.is_filler(found):
            made.append(found)
        at += found.size
    return made


def _read_raw(data: Source, source: Source, base: int) -> tuple[list[Image], int]:
    """Images of a raw bundle in ``data`` and its size; ``source`` is the file for messages.

    For a compressed bundle ``data`` is memory; offsets in messages then count from there.
    """
    start = len(RAW_MAGIC)
    (count,) = struct.unpack("<Q", data.read(start, 8, "bundle header"))
    if count > _ENTRY_LIMIT:
        source.fault(errors.MALFORMED, base + start, f"is a bundle of {count} entries")
    at, end = start + 8, start + 8
    images: list[Image] = []
    spans: list[tuple[int, int]] = []
    for _ in range(count):
        entry = BUNDLE_ENTRY.read(data.read(at, BUNDLE_ENTRY.size, "bundle entry"))
        if entry.id_length > _ID_LIMIT:
            source.fault(errors.MALFORMED, base + at + 16, "has an entry with a huge identifier")
        raw = bytes(data.read(at + BUNDLE_ENTRY.size, entry.id_length, "bundle identifier"))
        data.check(entry.offset, entry.size, f"bundle entry {raw.decode('utf-8', 'replace')}")
        at += BUNDLE_ENTRY.size + entry.id_length
        end = max(end, at, entry.offset + entry.size)
        if entry.size:
            spans.append((entry.offset, entry.offset + entry.size))
        images.append(_image(data, entry, raw.decode("utf-8", "backslashreplace")))
    spans.sort()
    for (_, stop), (begin, _) in itertools.pairwise(spans):
        if begin < stop:
            source.fault(errors.MALFORMED, base + begin, "has bundle entries that overlap")
    if spans and spans[0][0] < at:
        source.fault(errors.MALFORMED, base + spans[0][0], "has an entry inside of its header")
    return images, end


def _image(data: Source, entry: BundleEntry, target: str) -> Image:
    is_host = target.startswith("host-")
    return Image(
        kind="host" if is_host else "hsaco",
        kind_code=0,
        arch=None if is_host else _arch(target),
        source=data,
        offset=entry.offset,
        entry_size=entry.size,
        payload_offset=entry.offset,
        stored_size=entry.size,
        padded_size=entry.size,
        size=entry.size,
        target=target,
    )


def _arch(target: str) -> Arch | None:
    """The arch of ``hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+``; None for other devices."""
    name = target.rpartition("--")[2].split(":")[0]
    try:
        return parse(name)[0]
    except FatcrateError:
        return None


def _read_compressed(source: Source, section: str) -> Fatbin:
    version, method = struct.unpack("<HH", source.read(4, 4, "compressed bundle header"))
    layout: Layout[CompressedV2] | Layout[CompressedV3]
    if version == 2:
        layout = COMPRESSED_V2
    elif version == 3:
        layout = COMPRESSED_V3
    else:
        source.fault(errors.UNSUPPORTED, 4, f"is a compressed bundle of version {version}")
    head = layout.read(source.read(0, layout.size, "compressed bundle header"))
    if head.total < layout.size:
        source.fault(errors.MALFORMED, 8, f"states a compressed bundle of {head.total} bytes")
    packed = source.read(layout.size, head.total - layout.size, "compressed bundle")
    if method not in _METHODS:
        source.fault(errors.UNSUPPORTED, 6, f"uses compression method {method}")
    kind = _METHODS[method]
    where = source.location(layout.size)
    raw = compression.decompress(packed, kind, head.uncompressed, where)
    digest = struct.unpack("<Q", hashlib.md5(raw, usedforsecurity=False).digest()[:8])[0]
    if digest != head.digest:
        source.fault(errors.BAD_COMPRESSION, layout.size, "does not match its checksum")
    images, _ = _read_raw(Source(source.name, data=raw), source, 0)
    for image in images:
        image.blob = bytes(image.stored())
        image.grouped, image.method = True, kind
        image.stored_size = len(packed) * image.size // max(len(raw), 1)
    return Fatbin("hip-compressed", source, 0, head.total, images, section, version)


# --- writing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One code object to bundle under ``target``."""

    target: str
    source: Source


def write_raw(entries: Sequence[Entry], stream: BinaryIO) -> None:
    """Writes a raw bundle, the empty host entry first; payloads start at multiples of 4096."""
    write_entries([Entry(HOST_ENTRY, Source("host", data=b"")), *entries], stream)


def write_entries(entries: Sequence[Entry], stream: BinaryIO, align: int = ENTRY_ALIGN) -> None:
    """Writes a raw bundle of just these entries, the host's among them."""
    table = sum(BUNDLE_ENTRY.size + len(e.target.encode()) for e in entries)
    at = _align(len(RAW_MAGIC) + 8 + table, align)
    head = bytearray(RAW_MAGIC + struct.pack("<Q", len(entries)))
    starts: list[int] = []
    for entry in entries:
        name = entry.target.encode()
        head += BUNDLE_ENTRY.write(BundleEntry(at, entry.source.size, len(name))) + name
        starts.append(at)
        at = _align(at + entry.source.size, align)
    stream.write(head)
    position = len(head)
    for entry, start in zip(entries, starts, strict=True):
        stream.write(bytes(start - position))
        stream.writelines(entry.source.chunks())
        position = start + entry.source.size


def compress(raw: bytes, *, level: int = DEFAULT_LEVEL, version: int = 3) -> bytes:
    """A raw bundle as a compressed one (zstd with long-distance matching)."""
    import zstandard

    parameters = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(raw), enable_ldm=True, write_content_size=1, write_checksum=0
    )
    packed = zstandard.ZstdCompressor(compression_params=parameters).compress(raw)
    digest = struct.unpack("<Q", hashlib.md5(raw, usedforsecurity=False).digest()[:8])[0]
    if version == 2:
        head = COMPRESSED_V2.write(
            CompressedV2(
                COMPRESSED_MAGIC, 2, METHOD_ZSTD, COMPRESSED_V2.size + len(packed), len(raw), digest
            )
        )
    else:
        head = COMPRESSED_V3.write(
            CompressedV3(
                COMPRESSED_MAGIC, 3, METHOD_ZSTD, COMPRESSED_V3.size + len(packed), len(raw), digest
            )
        )
    return head + packed


def _align(offset: int, align: int) -> int:
    return (offset + align - 1) // align * align


def pack_files(
    named: Sequence[tuple[Arch, Source]], output: str, mode: str, level: int | None
) -> int:
    """``fatcrate pack`` for AMD: checks the code objects and writes a bundle.

    ``none`` writes a raw bundle, ``default`` the bundler's own compression, ``balanced`` and
    ``size`` higher levels.
    """
    faults = Collector()
    entries: list[Entry] = []
    seen: set[str] = set()
    for arch, source in named:
        target = _checked_target(arch, source, faults)
        if target in seen:
            faults.add(Diagnostic(errors.MALFORMED, source.name, f"is a second image for {target}"))
        seen.add(target)
        entries.append(Entry(DEVICE_PREFIX + target, source))
    faults.check()
    with atomic_output(output) as stream:
        if mode == "none":
            write_raw(entries, stream)
        else:
            import io

            buffer = io.BytesIO()
            write_raw(entries, buffer)
            chosen = {"size": 19, "balanced": 9}.get(mode, DEFAULT_LEVEL)
            stream.write(compress(buffer.getvalue(), level=level or chosen))
    return 0


def _checked_target(arch: Arch, source: Source, faults: Collector) -> str:
    """The bundle target of a code object, features included."""
    if arch.kind != "gfx":
        faults.add(
            Diagnostic(
                errors.USAGE,
                source.name,
                f"is for {arch}; NVIDIA and AMD images do not go into one file",
                "pack them separately",
            )
        )
        return str(arch)
    try:
        found = codeobject.read(source)
    except FatcrateError as error:
        faults.absorb(error)
        return str(arch)
    if found.target.split(":")[0] != str(arch):
        faults.add(
            Diagnostic(
                errors.WRONG_IMAGE,
                source.name,
                f"is for {found.target}, but is packed for {arch}",
                "pack it under the arch that it was linked for",
            )
        )
    return found.target


def bare(source: Source) -> Fatbin:
    """A code object file as a container of one image."""
    target = codeobject.read(source).target
    entry = BundleEntry(0, source.size, 0)
    return Fatbin("image", source, 0, source.size, [_image(source, entry, "--" + target)])
