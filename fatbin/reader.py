"""Reads CUDA fatbin containers, every size and offset checked before it is used."""

from __future__ import annotations

import struct

from fatcrate.fatbin import compression, errors
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.model import Fatbin, Image, ImageKind
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import ENTRY_HEADER, EXTRA, FATBIN_HEADER, EntryHeader
from fatcrate.toolchain.arch import Arch

_MAGIC = struct.pack("<I", c.FATBIN_MAGIC)
_ENTRY_HEADER_LIMIT = 1 << 24
_STRING_LIMIT = 1 << 20

KINDS: dict[int, ImageKind] = {
    c.KIND_PTX: "ptx",
    c.KIND_CUBIN: "cubin",
    c.KIND_LTOIR: "ltoir",
    c.KIND_TILEIR: "tileir",
    c.KIND_GROUP: "group",
}


def is_fatbin(source: Source, offset: int = 0) -> bool:
    """Whether a container starts at ``offset``."""
    return source.size - offset >= 4 and bytes(source.read(offset, 4, "magic")) == _MAGIC


def read(source: Source, offset: int = 0, section: str = "") -> Fatbin:
    """The container at ``offset``, groups opened. Raises FC0401 to FC0404."""
    head = FATBIN_HEADER.read(source.read(offset, FATBIN_HEADER.size, "fatbin header"))
    if head.magic != c.FATBIN_MAGIC:
        source.fault(errors.MALFORMED, offset, "does not start with the fatbin magic")
    if head.version != c.FATBIN_VERSION:
        source.fault(errors.UNSUPPORTED, offset, f"is a fatbin of version {head.version}, not 1")
    if head.header_size < FATBIN_HEADER.size or head.header_size % c.ENTRY_ALIGN:
        source.fault(
            errors.MALFORMED, offset, f"states a fatbin header of {head.header_size} bytes"
        )
    source.check(offset, head.header_size + head.payload, "the fatbin")
    images: list[Image] = []
    at, end = offset + head.header_size, offset + head.header_size + head.payload
    while at < end:
        if end - at < ENTRY_HEADER.size:
            source.fault(errors.MALFORMED, at, f"has {end - at} stray bytes after its entries")
        image = _entry(source, at, end)
        images.extend(_members(image) if image.kind == "group" else [image])
        at += image.entry_size
    return Fatbin("fatbin", source, offset, end - offset, images, section)


def is_filler(fatbin: Fatbin) -> bool:
    """Whether a container only holds the program headers of a file that was cut."""
    return [image.kind_code for image in fatbin.images] == [c.KIND_FILLER]


def read_all(source: Source, section: str = "", *, fillers: bool = False) -> list[Fatbin]:
    """All containers of a section or file, one after another, zero padding between.

    Those that only hold program headers are left out unless ``fillers`` asks for them.
    """
    found: list[Fatbin] = []
    at = 0
    while at < source.size:
        if not is_fatbin(source, at):
            at = source.skip_zeros(at)
            if at >= source.size:
                break
            at = at // c.ENTRY_ALIGN * c.ENTRY_ALIGN
            if not is_fatbin(source, at):
                source.fault(errors.MALFORMED, at, "has bytes that are no fatbin")
        fatbin = read(source, at, section)
        if fillers or not is_filler(fatbin):
            found.append(fatbin)
        at += fatbin.size
    return found


def arch_of(kind: ImageKind, sm: int, flags: int) -> Arch:
    """The arch of an entry: its number, and the suffix that only the flags tell."""
    suffix = "a" if flags & c.FLAG_ARCH_SPECIFIC else "f" if flags & c.FLAG_FAMILY else ""
    return Arch("compute" if kind in ("ptx", "ltoir", "tileir") else "sm", sm, suffix)


def _entry(source: Source, at: int, end: int) -> Image:
    head = ENTRY_HEADER.read(source.read(at, ENTRY_HEADER.size, "entry header"))
    if not ENTRY_HEADER.size <= head.header_size <= min(end - at, _ENTRY_HEADER_LIMIT):
        source.fault(
            errors.MALFORMED, at + 4, f"states an entry header of {head.header_size} bytes"
        )
    if head.stored > end - at - head.header_size:
        source.fault(
            errors.MALFORMED,
            at + 8,
            f"has an entry of {head.stored} bytes where"
            f" {end - at - head.header_size} are left in the container",
        )
    return _image(source, at, head, source.read(at, head.header_size, "entry header"))


def _image(source: Source, at: int, head: EntryHeader, block: bytes | memoryview) -> Image:
    kind = KINDS.get(head.kind, "unknown")
    method: compression.Method = "none"
    if head.flags & c.FLAG_ZSTD:
        method = "zstd"
    elif head.flags & c.FLAG_LZ4:
        method = "lz4"
    if method != "none" and head.compressed > head.stored:
        source.fault(
            errors.MALFORMED,
            at + ENTRY_HEADER.offset("compressed"),
            f"states {head.compressed} compressed bytes in an entry of {head.stored}",
        )
    options, compat = _extra(source, at, head, block)
    return Image(
        kind=kind,
        kind_code=head.kind,
        arch=arch_of(kind, head.sm, head.flags),
        source=source,
        offset=at,
        entry_size=head.header_size + head.stored,
        payload_offset=at + head.header_size,
        stored_size=head.stored if method == "none" else head.compressed,
        padded_size=head.stored,
        size=head.stored if method == "none" else head.uncompressed,
        method=method,
        identifier=_text(source, at, block, head.ident_offset, head.ident_length, "identifier"),
        options=options,
        flags=head.flags,
        version=(head.major, head.minor),
        key=head.key,
        compat=compat,
    )


def _extra(
    source: Source, at: int, head: EntryHeader, block: bytes | memoryview
) -> tuple[str | None, bytes | None]:
    """The options of PTX or LTO-IR, or the copy of a cubin's ``.nv.compat``."""
    if head.extra_offset == 0 or head.kind == c.KIND_GROUP:
        return None, None
    if head.extra_offset > len(block) - EXTRA.size:
        source.fault(errors.MALFORMED, at + 0x14, f"points to {head.extra_offset:#x} for options")
    extra = EXTRA.read(block, head.extra_offset)
    if head.kind == c.KIND_CUBIN:
        start = extra.offset + 1  # one zero byte stands before the copy
        if start + extra.length > len(block):
            source.fault(errors.MALFORMED, at + head.extra_offset, "has a .nv.compat cut off")
        return None, bytes(block[start : start + extra.length])
    return _text(source, at, block, extra.offset, extra.length, "options"), None


def _text(
    source: Source, at: int, block: bytes | memoryview, offset: int, length: int, what: str
) -> str:
    if length == 0:
        return ""
    if length > _STRING_LIMIT or offset > len(block) or length > len(block) - offset:
        source.fault(errors.MALFORMED, at, f"has an {what} outside of its entry header")
    return bytes(block[offset : offset + length]).decode("utf-8", "backslashreplace")


def _members(group: Image) -> list[Image]:
    """The images of a concatenated group (kind 0x100): sub-headers, one compressed blob.

    The extra block is {u32 count, u32 bytes of the block} and ``count`` sub-headers, in which
    the second u32 is the offset of the image in the decompressed blob.
    """
    source, at = group.source, group.offset
    head = ENTRY_HEADER.read(source.read(at, ENTRY_HEADER.size, "group header"))
    block = source.read(at, head.header_size, "group header")
    if head.extra_offset == 0 or head.extra_offset > len(block) - EXTRA.size:
        source.fault(errors.MALFORMED, at + 0x14, "is a group without a list of its images")
    count, size = EXTRA.read(block, head.extra_offset)
    listed = head.extra_offset + EXTRA.size
    end = head.extra_offset + size
    if end > len(block) or count > size // ENTRY_HEADER.size:
        source.fault(errors.MALFORMED, at + head.extra_offset, f"is a group of {count} images")
    blob = bytes(group.payload)
    group.release()
    made: list[Image] = []
    position, free = listed, 0
    for _ in range(count):
        if position + ENTRY_HEADER.size > end:
            source.fault(errors.MALFORMED, at + position, "has a group header that is cut off")
        sub = ENTRY_HEADER.read(block, position)
        part = bytes(block[position:end])
        if sub.kind == c.KIND_GROUP or sub.flags & (c.FLAG_ZSTD | c.FLAG_LZ4):
            source.fault(errors.MALFORMED, at + position, "has a group inside of a group")
        start = sub.header_size
        if start < free or start > len(blob) or sub.stored > len(blob) - start:
            source.fault(errors.MALFORMED, at + position, "has an image outside of its group")
        free = start + sub.stored
        image = _member(group, sub, part, position, blob[start:free])
        length = _sub_size(sub, part)
        image.member = part[:length]
        made.append(image)
        position += length
    return made


def _sub_size(sub: EntryHeader, part: bytes) -> int:
    """Size of a sub-header with its identifier and options, each padded to 8."""
    size = ENTRY_HEADER.size
    if sub.ident_length:
        size += (sub.ident_length + 8) // 8 * 8
    if sub.extra_offset:
        size = EXTRA.read(part, sub.extra_offset).length + 1
        size = (sub.extra_offset + EXTRA.size + size + 7) // 8 * 8
    return size


def _member(group: Image, sub: EntryHeader, part: bytes, position: int, payload: bytes) -> Image:
    """One image of a group; its payload is kept, since the group is one compressed blob."""
    head = sub._replace(header_size=len(part), compressed=0, uncompressed=0)
    image = _image(group.source, group.offset + position, head, part)
    image.blob = payload
    image.grouped = True
    image.offset = group.offset
    image.entry_size = 0
    image.payload_offset = group.payload_offset
    image.method = group.method
    image.stored_size = group.stored_size * len(payload) // max(group.size, 1)
    return image
