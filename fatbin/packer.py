"""Writes CUDA fatbin containers, byte for byte as NVIDIA's library does for equal inputs.

Two things differ on purpose. LTO-IR is stored as it is: the library re-encodes it before it
compresses, with a scheme that is not documented. And mode ``balanced`` is ours: every image
compressed with zstd level 9.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from fatcrate.fatbin import compression
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.elf import Elf
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import ENTRY_HEADER, EXTRA, FATBIN_HEADER, EntryHeader, FatbinHeader
from fatcrate.toolchain.arch import Arch

#: Below this many bytes, threads cost more than they save.
_THREADED_FROM = 1 << 20
#: Bytes of images that may be compressed before they can be written.
_AHEAD = 64 << 20

_HOST_FLAGS = {"linux": c.FLAG_LINUX, "mac": c.FLAG_MAC, "windows": c.FLAG_WINDOWS}
_CODES = {"ptx": c.KIND_PTX, "cubin": c.KIND_CUBIN, "ltoir": c.KIND_LTOIR}


class Input(NamedTuple):
    """One image to pack. ``options`` are recorded with PTX and LTO-IR."""

    kind: str  # "ptx", "cubin" or "ltoir"
    arch: Arch
    source: Source
    identifier: str = ""
    options: str = ""


class Options(NamedTuple):
    """How to pack. ``compress_all`` compresses cubins in modes that leave them alone."""

    mode: compression.Mode = "default"
    level: int | None = None
    compress_all: bool = False
    debug: bool = False
    language: str = ""  # "cuda" or "opencl" when stated explicitly
    host: str = "linux"

    def method(self, kind: str) -> compression.Method:
        """The compression of one kind of image."""
        if self.mode == "none" or kind == "ltoir":
            return "none"
        everything = self.mode in ("size", "balanced") or self.compress_all or self.debug
        if kind == "cubin" and not everything:
            return "none"
        return "lz4" if self.mode == "speed" else "zstd"

    @property
    def zstd_level(self) -> int:
        return self.level if self.level is not None else compression.LEVELS.get(self.mode, 5)


_DEFAULT = Options()


def sniff(source: Source) -> str:
    """The kind of one image file: ptx, cubin, ltoir, or "" when it is none of these."""
    head = bytes(source.read(0, min(source.size, 65536), "the file"))
    if head[:4] == c.LTOIR_MAGIC:
        return "ltoir"
    if head[:4] == c.ELF_MAGIC:
        return "cubin" if int.from_bytes(head[18:20], "little") == c.EM_CUDA else ""
    from fatcrate.fatbin import ptx  # its expressions take a while to compile

    return "ptx" if ptx.is_ptx(head) else ""


def pack(inputs: Sequence[Input], options: Options = _DEFAULT) -> bytes:
    """The container as bytes; see :func:`write` for large ones."""
    parts: list[bytes | memoryview] = []
    for entry in Entries(inputs, options):
        parts.extend(entry)
    size = sum(len(part) for part in parts)
    return b"".join([_container_header(size), *parts])


def write(inputs: Sequence[Input], options: Options, stream: BinaryIO) -> int:
    """Writes the container to a seekable stream, one image in memory at a time.

    Returns its size in bytes.
    """
    return write_entries(Entries(inputs, options), stream)


def write_entries(entries: Entries, stream: BinaryIO) -> int:
    """Like :func:`write`, of entries that were begun before."""
    start = stream.tell()
    stream.write(_container_header(0))
    size = 0
    for entry in entries:
        for part in entry:
            stream.write(part)
            size += len(part)
    end = stream.tell()
    stream.seek(start)
    stream.write(_container_header(size))
    stream.seek(end)
    return end - start


def _container_header(size: int) -> bytes:
    return FATBIN_HEADER.write(
        FatbinHeader(c.FATBIN_MAGIC, c.FATBIN_VERSION, FATBIN_HEADER.size, size)
    )


class Entries:
    """The entries in order, to be iterated once.

    Large sets are compressed by a thread for each processor; the first images at once, not
    only when they are asked for.
    """

    def __init__(self, inputs: Sequence[Input], options: Options) -> None:
        self._inputs = inputs
        self._options = options
        self._workers: _Workers | None = None
        workers = min(len(os.sched_getaffinity(0)), len(inputs))
        total = sum(item.source.size for item in inputs)
        if workers > 1 and options.mode != "none" and total >= _THREADED_FROM:
            self._workers = _Workers(inputs, options, workers)

    def __iter__(self) -> Iterator[list[bytes | memoryview]]:
        if self._workers is not None:
            yield from self._workers.entries()
            return
        for item in self._inputs:
            yield _entry(item, self._options)


class _Workers:
    """Threads that make entries ahead of who asks for them; zstd and LZ4 let others run.

    A set that is refused leaves its threads behind, so they do not hold up the end.
    """

    def __init__(self, inputs: Sequence[Input], options: Options, workers: int) -> None:
        import threading

        self._inputs, self._options, self._workers = inputs, options, workers
        self._begun = self._taken = 0  # entries
        self._ahead = 0  # bytes of images that were begun and not taken
        self._made: dict[int, list[bytes | memoryview] | BaseException] = {}
        self._changed = threading.Condition()
        for _ in range(workers):
            threading.Thread(target=self._run, daemon=True).start()

    def _may_begin(self) -> bool:
        waiting = self._begun - self._taken
        return waiting < self._workers or self._ahead < _AHEAD

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._may_begin)
                number = self._begun
                if number == len(self._inputs):
                    return
                item = self._inputs[number]
                self._begun += 1
                self._ahead += item.source.size
            made: list[bytes | memoryview] | BaseException
            try:
                made = _entry(item, self._options)
            except BaseException as error:  # raised again for who asks for the entry
                made = error
            with self._changed:
                self._made[number] = made
                self._changed.notify_all()

    def entries(self) -> Iterator[list[bytes | memoryview]]:
        """Each entry when it is made, in order."""
        for number, item in enumerate(self._inputs):
            with self._changed:
                self._changed.wait_for(lambda: number in self._made)  # noqa: B023
                made = self._made.pop(number)
                self._taken += 1
                self._ahead -= item.source.size
                self._changed.notify_all()
            if isinstance(made, BaseException):
                raise made
            yield made


def _pad(data: bytes) -> bytes:
    """``data`` with zeros up to a multiple of 8."""
    return data + bytes(-len(data) % c.ENTRY_ALIGN)


def _string(text: str) -> bytes:
    return _pad(text.encode("utf-8", "surrogateescape") + b"\0")


def _entry(item: Input, options: Options) -> list[bytes | memoryview]:
    """Header, payload and padding of one entry."""
    raw = item.source.all(f"image {item.arch}")
    payload = raw
    if item.kind == "ptx":
        from fatcrate.fatbin import ptx

        payload = ptx.strip(raw)
    head = _header(item, raw, options)
    method = options.method(item.kind)
    if method != "none":
        size = len(payload)
        payload = compression.compress(payload, method, options.zstd_level)
        head = head._replace(compressed=len(payload), uncompressed=size)
    stored = (len(payload) + 7) // 8 * 8
    flags = head.flags | {"none": 0, "lz4": c.FLAG_LZ4, "zstd": c.FLAG_ZSTD}[method]
    identifier = _string(item.identifier) if item.identifier else b""
    extra = _extra(item, raw, ENTRY_HEADER.size + len(identifier))
    head = head._replace(
        header_size=ENTRY_HEADER.size + len(identifier) + len(extra),
        stored=stored,
        extra_offset=ENTRY_HEADER.size + len(identifier) if extra else 0,
        ident_offset=ENTRY_HEADER.size if identifier else 0,
        ident_length=len(item.identifier.encode("utf-8", "surrogateescape")),
        flags=flags | (c.FLAG_COMPAT if extra and item.kind == "cubin" else 0),
    )
    return [ENTRY_HEADER.write(head), identifier, extra, payload, bytes(stored - len(payload))]


def _header(item: Input, raw: bytes | memoryview, options: Options) -> EntryHeader:
    """The fields that the image itself decides."""
    if item.kind == "ptx":
        from fatcrate.fatbin import ptx

        major, minor = ptx.version_of(raw, item.source.name)
    elif item.kind == "cubin":
        major, minor = raw[6], raw[8]
    else:
        major, minor = raw[4], raw[5]
    flags = c.FLAG_64BIT | _HOST_FLAGS[options.host]
    flags |= {"a": c.FLAG_ARCH_SPECIFIC, "f": c.FLAG_FAMILY}.get(item.arch.suffix, 0)
    flags |= c.FLAG_DEBUG if options.debug else 0
    flags |= {"cuda": c.FLAG_CUDA, "opencl": c.FLAG_OPENCL}.get(options.language, 0)
    return EntryHeader(
        _CODES[item.kind], c.ENTRY_VERSION, 0, 0, 0, 0, minor, major, item.arch.number,
        0, 0, flags, 0, 0,
    )  # fmt: skip


def _extra(item: Input, raw: bytes | memoryview, at: int) -> bytes:
    """The descriptor and data behind the identifier; ``at`` is its offset in the entry."""
    start = at + EXTRA.size
    if item.kind != "cubin":
        text = item.options.encode("utf-8", "surrogateescape")
        return struct.pack("<II", start, len(text)) + _string(item.options)
    if item.arch.number < c.COMPAT_MINIMUM_SM:
        return b""
    compat = Elf(item.source).section_bytes(".nv.compat")
    if compat is None:
        return b""
    return struct.pack("<II", start, len(compat)) + _pad(b"\0" + compat)
