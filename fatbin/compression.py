"""Payload compression of fat binaries: none, a raw LZ4 block, or one zstd frame.

Sizes are checked before memory is reserved: an LZ4 block cannot grow by more than 255 times,
a zstd frame states its size, and neither may pass :data:`IMAGE_LIMIT`.
"""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from fatcrate.fatbin import errors
from fatcrate.toolchain.diagnostics import Location, fail

if TYPE_CHECKING:
    import zstandard

Method = Literal["none", "lz4", "zstd"]
Mode = Literal["none", "default", "speed", "size", "balanced"]

MODES: Final[tuple[Mode, ...]] = ("none", "default", "speed", "size", "balanced")

#: zstd levels of NVIDIA's modes (identity is tested), and of ours. Decompression speed does
#: not depend on the level; 9 is where more effort stops paying.
LEVELS: Final[dict[Mode, int]] = {"default": 5, "size": 19, "balanced": 9}

#: LZ4's high-compression level behind NVIDIA's mode "speed" (identity is tested).
_LZ4_LEVEL: Final = 3

IMAGE_LIMIT: Final = 4 << 30
_ZSTD_RATIO: Final = 1 << 15  # a block of 128 KiB takes at least 4 bytes
_LZ4_RATIO: Final = 255


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
    ratio = _ZSTD_RATIO if method == "zstd" else _LZ4_RATIO
    if size > IMAGE_LIMIT or size > (len(data) + 64) * ratio:
        fail(
            errors.TOO_LARGE,
            where.file,
            f"a compressed image of {len(data)} bytes claims {size} bytes",
            location=where,
            remedy="do not trust this file",
        )
    made = _zstd(data, size, where) if method == "zstd" else _lz4(data, size, where)
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


def _damaged(where: Location, message: str) -> NoReturn:
    fail(
        errors.BAD_COMPRESSION,
        where.file,
        "the compressed image " + message,
        location=where,
        remedy="copy or build the file again",
    )
