"""Payload compression: none, a raw LZ4 block, one zstd frame; of HIP bundles zlib too.

Sizes are checked before memory is reserved: an LZ4 block cannot grow by more than 255 times,
zlib by 1032, a zstd frame states its size, and none may pass :data:`IMAGE_LIMIT`.
"""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from fatcrate.fatbin import errors
from fatcrate.toolchain.diagnostics import Location, fail

if TYPE_CHECKING:
    import zstandard

Method = Literal["none", "lz4", "zstd", "zlib"]
Mode = Literal["none", "default", "speed", "size", "balanced"]

MODES: Final[tuple[Mode, ...]] = ("none", "default", "speed", "size", "balanced")

#: zstd levels of NVIDIA's modes (identity is tested), and of ours. Decompression speed does
#: not depend on the level; 9 is where more effort stops paying.
LEVELS: Final[dict[Mode, int]] = {"default": 5, "size": 19, "balanced": 9}

#: LZ4's high-compression level behind NVIDIA's mode "speed" (identity is tested).
_LZ4_LEVEL: Final = 3

IMAGE_LIMIT: Final = 4 << 30
#: How much a byte can stand for; of zstd a block of 128 KiB takes at least 4 bytes.
_RATIO: Final[dict[Method, int]] = {"none": 1, "lz4": 255, "zstd": 1 << 15, "zlib": 1032}


def compress(data: bytes | memoryview, method: Method, level: int = 5) -> bytes | memoryview:
    """``data`` compressed; zstd as one frame that states its size, without a checksum."""
    if method == "zstd":
        import zstandard

        return zstandard.ZstdCompressor(
            level=level, write_content_size=True, write_checksum=False
        ).compress(data)
    if method == "lz4":
        import lz4.block

        packed: bytes = lz4.block.compress(
            data, mode="high_compression", compression=_LZ4_LEVEL, store_size=False
        )
        return packed
    return data


def decompress(data: bytes | memoryview, method: Method, size: int, where: Location) -> bytes:
    """The ``size`` bytes that ``data`` stands for. Raises FC0403 or FC0404 at ``where``."""
    if size > IMAGE_LIMIT or size > (len(data) + 64) * _RATIO[method]:
        fail(
            errors.TOO_LARGE,
            where.file,
            f"a compressed image of {len(data)} bytes claims {size} bytes",
            location=where,
            remedy="do not trust this file",
        )
    made = {"zstd": _zstd, "zlib": _zlib}.get(method, _lz4)(data, size, where)
    if len(made) != size:
        _damaged(where, f"gave {len(made)} bytes where the entry states {size}")
    return made


#: One for each thread: to make it takes longer than a small image.
_decompressors: dict[int, zstandard.ZstdDecompressor] = {}


def _zstd(data: bytes | memoryview, size: int, where: Location) -> bytes:
    import zstandard

    try:
        stated = zstandard.frame_content_size(data)
        if stated not in (-1, size):
            _damaged(where, f"holds a frame of {stated} bytes where the entry states {size}")
        thread = _thread.get_ident()
        if thread not in _decompressors:
            _decompressors[thread] = zstandard.ZstdDecompressor()
        return _decompressors[thread].decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        _damaged(where, f"is damaged: {error}")


def _lz4(data: bytes | memoryview, size: int, where: Location) -> bytes:
    import lz4.block

    try:
        made: bytes = lz4.block.decompress(data, uncompressed_size=size)
        return made
    except lz4.block.LZ4BlockError as error:
        _damaged(where, f"is damaged: {error}")


def _zlib(data: bytes | memoryview, size: int, where: Location) -> bytes:
    import zlib

    try:
        return zlib.decompressobj().decompress(data, size + 1)
    except zlib.error as error:
        _damaged(where, f"is damaged: {error}")


def _damaged(where: Location, message: str) -> NoReturn:
    fail(
        errors.BAD_COMPRESSION,
        where.file,
        "the compressed image " + message,
        location=where,
        remedy="copy or build the file again",
    )
