"""New contents for containers: images left out, or compressed in another way."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from fatcrate.fatbin import compression, hip, kernels, wanted
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.model import Fatbin, Image
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import ENTRY_HEADER, EXTRA, FATBIN_HEADER, Extra, FatbinHeader

Part = bytes | tuple[int, int]


@dataclass
class Edited:
    """A container's new contents: bytes, or (offset, size) of its source."""

    fatbin: Fatbin
    parts: list[Part]
    kept: list[Image]
    removed: list[Image] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(p) if isinstance(p, bytes) else p[1] for p in self.parts)


Editor = Callable[[Fatbin], Edited]


def keeper(archs: Collection[str], pattern: str = "", found: set[str] | None = None) -> Editor:
    """An editor that keeps images of ``archs`` (all, if empty), and of these only images with
    a kernel that matches the glob ``pattern``. Those of ``archs`` that an image has are added
    to ``found``."""

    def keeps(image: Image) -> bool:
        if image.kind == "host":
            return True
        if archs and not wanted.has_arch(image, archs):
            return False
        if found is not None:
            found.update(arch for arch in archs if wanted.has_arch(image, [arch]))
        return not pattern or wanted.has_kernel(image, pattern)

    def edit(fatbin: Fatbin) -> Edited:
        kept: list[Image] = []
        removed: list[Image] = []
        for image in fatbin.images:
            (kept if keeps(image) else removed).append(image)
        return _assemble(fatbin, kept, removed, {})

    return edit


def recompressor(mode: compression.Mode, level: int | None) -> Editor:
    """An editor that stores every image as ``mode`` does, where that is no larger.

    Encoded LTO-IR and concatenated groups stay as they are.
    """

    def edit(fatbin: Fatbin) -> Edited:
        replaced: dict[int, list[Part]] = {}
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            made = pool.map(lambda image: _recompressed(image, mode, level), fatbin.images)
            try:
                for image, parts in zip(fatbin.images, made, strict=True):
                    if parts is not None:
                        replaced[image.offset] = parts
            except BaseException:
                pool.shutdown(cancel_futures=True)  # Ctrl-C waits for running images only
                raise
        return _assemble(fatbin, fatbin.images, [], replaced, mode, level)

    return edit


def _assemble(
    fatbin: Fatbin,
    kept: list[Image],
    removed: list[Image],
    replaced: dict[int, list[Part]],
    mode: compression.Mode | None = None,
    level: int | None = None,
) -> Edited:
    if fatbin.format in ("hip-bundle", "hip-compressed"):
        return _bundle(fatbin, kept, removed, mode, level)
    if not removed and not replaced:
        return Edited(fatbin, [(fatbin.offset, fatbin.size)], kept)
    parts: list[Part] = []
    broken = {i.offset for i in removed if i.grouped}
    seen: set[int] = set()
    for image in kept:
        if image.offset in seen:
            continue  # another image of the same group
        seen.add(image.offset)
        if image.offset in broken:
            parts.append(_regrouped([i for i in kept if i.offset == image.offset]))
        else:
            parts.extend(replaced.get(image.offset) or [(image.offset, _entry_size(image))])
    size = sum(len(p) if isinstance(p, bytes) else p[1] for p in parts)
    head = FatbinHeader(c.FATBIN_MAGIC, c.FATBIN_VERSION, FATBIN_HEADER.size, size)
    return Edited(fatbin, [FATBIN_HEADER.write(head), *parts], kept, removed)


def _entry_size(image: Image) -> int:
    head = ENTRY_HEADER.read(image.source.read(image.offset, ENTRY_HEADER.size, "entry header"))
    return head.header_size + head.stored


def _regrouped(members: list[Image]) -> bytes:
    """A concatenated group again, of those of its images that stay.

    zstd takes the level that the old group was made with: NVIDIA's default, or else the best.
    """
    source, at = members[0].source, members[0].offset
    head = ENTRY_HEADER.read(source.read(at, ENTRY_HEADER.size, "group header"))
    lead = bytes(source.read(at, head.extra_offset, "group header"))[ENTRY_HEADER.size :]
    listed, blob = bytearray(), bytearray()
    for image in members:
        sub = ENTRY_HEADER.read(image.member)._replace(header_size=len(blob))
        listed += ENTRY_HEADER.write(sub) + image.member[ENTRY_HEADER.size :]
        blob += image.payload
    method, level = members[0].method, compression.LEVELS["default"]
    if method == "zstd":
        old = source.read(at + head.header_size, head.compressed, "group")
        where = source.location(at)
        whole = compression.decompress(old, method, head.uncompressed, where)
        if len(compression.compress(whole, method, level)) != len(old):
            level = compression.LEVELS["size"]
    packed = bytes(compression.compress(bytes(blob), method, level))
    stored = (len(packed) + 7) // 8 * 8
    head = head._replace(
        header_size=head.extra_offset + EXTRA.size + len(listed),
        stored=stored,
        compressed=0 if method == "none" else len(packed),
        uncompressed=0 if method == "none" else len(blob),
    )
    extra = EXTRA.write(Extra(len(members), EXTRA.size + len(listed)))
    return ENTRY_HEADER.write(head) + lead + extra + listed + packed + bytes(stored - len(packed))


def _recompressed(image: Image, mode: compression.Mode, level: int | None) -> list[Part] | None:
    """The entry with another compression; None when it stays as it is."""
    if image.encoded or image.grouped or image.kind not in ("cubin", "ptx", "tileir"):
        return None
    try:
        return _stored_anew(image, mode, level)
    finally:
        image.release()


def _stored_anew(image: Image, mode: compression.Mode, level: int | None) -> list[Part] | None:
    method: compression.Method = "none"
    if mode != "none":
        method = "lz4" if mode == "speed" else "zstd"
    payload = _exact(image)
    packed: bytes | memoryview = payload
    if method != "none":
        chosen = level if level is not None else compression.LEVELS.get(mode, 5)
        packed = compression.compress(payload, method, chosen)
        if len(packed) >= image.stored_size:
            return None
    block = image.source.read(image.offset, image.payload_offset - image.offset, "entry header")
    stored = (len(packed) + 7) // 8 * 8
    flags = image.flags & ~(c.FLAG_LZ4 | c.FLAG_ZSTD)
    flags |= {"none": 0, "lz4": c.FLAG_LZ4, "zstd": c.FLAG_ZSTD}[method]
    head = ENTRY_HEADER.read(block)._replace(
        stored=stored,
        compressed=0 if method == "none" else len(packed),
        uncompressed=0 if method == "none" else len(payload),
        flags=flags,
    )
    rest = bytes(block[ENTRY_HEADER.size :])
    return [ENTRY_HEADER.write(head) + rest + bytes(packed) + bytes(stored - len(packed))]


def _exact(image: Image) -> bytes:
    """The payload without the padding that an uncompressed entry has."""
    payload = bytes(image.payload)
    if image.method != "none":
        return payload
    if image.kind == "cubin":
        return payload[: kernels.extent(payload, image.source.name)]
    end = payload.find(b"\0")
    return payload[: end + 1] if image.kind == "ptx" and end >= 0 else payload


def _bundle(
    fatbin: Fatbin,
    kept: list[Image],
    removed: list[Image],
    mode: compression.Mode | None,
    level: int | None,
) -> Edited:
    """A HIP bundle again, its entries aligned as they were and a compressed one compressed."""
    unchanged = Edited(fatbin, [(fatbin.offset, fatbin.size)], kept, removed)
    if mode is None and not removed:
        return unchanged
    buffer = io.BytesIO()
    align = math.gcd(hip.ENTRY_ALIGN, *(i.payload_offset for i in fatbin.images if i.size))
    entries = [hip.Entry(i.target, Source(i.source.name, data=i.payload)) for i in kept]
    hip.write_entries(entries, buffer, align)
    raw = buffer.getvalue()
    if mode == "none" or (mode is None and fatbin.format == "hip-bundle"):
        return Edited(fatbin, [raw], kept, removed)
    levels: tuple[int, ...] = (
        hip.DEFAULT_LEVEL,
        9,
        19,
    )  # of what stays, until it fits into the old place
    if mode is not None:
        levels = (level or {"size": 19, "balanced": 9}.get(mode, hip.DEFAULT_LEVEL),)
    for chosen in levels:
        made = hip.compress(raw, level=chosen, version=fatbin.version or 3)
        if len(made) < fatbin.size:
            break
    if mode is not None and len(made) >= fatbin.size:
        return unchanged
    return Edited(fatbin, [made], kept, removed)
