"""The memory that a launch's buffers lie in, shared by parent and worker.

Each buffer stands between two guard bands, and these between pages without access: a small
slip is found after the run, a large one ends the worker::

    [no access][band][buffer][band ... to the page's end][no access][band][buffer] ...

A buffer begins on a page boundary, as the pages of a GPU's allocator do. Bands hold signalling
NaNs of the buffer's type: a value read out of bounds spoils the result, and one that is read,
changed and written back is quiet, so that the write shows even where it changed nothing else.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from fatcrate.lto.cpu.memory import PAGE, round_up
from fatcrate.lto.cpu.process import memory_file

#: Default size of a band in bytes.
GUARD_BYTES = PAGE
_PATTERNS = {
    np.dtype(np.float16): b"\x5a\x7d",
    np.dtype(np.float64): b"\xa5\xa5\xa5\xa5\xa5\xa5\xf5\x7f",
}
_PATTERN = b"\xa5\xa5\xa5\x7f"  # a signalling NaN of f32; for integers as good as any


@dataclass(frozen=True)
class Place:
    """Where a buffer lies: its bands begin at ``begin`` and end at ``end``."""

    begin: int
    offset: int
    size: int
    end: int


@dataclass(frozen=True)
class Damage:
    """A changed byte in a band. ``offset`` counts from the buffer's start."""

    buffer: int
    offset: int
    count: int  # changed bytes in all bands of the buffer


def layout(sizes: Sequence[int], guard: int) -> tuple[list[Place], int, list[tuple[int, int]]]:
    """Places for buffers of these sizes, the arena's size, and the pages without access."""
    band = max(round_up(guard), PAGE)
    places: list[Place] = []
    denied: list[tuple[int, int]] = []
    at = 0
    for size in sizes:
        denied.append((at, PAGE))
        begin = at + PAGE
        end = round_up(begin + band + size + guard)
        places.append(Place(begin, begin + band, size, end))
        at = end
    denied.append((at, PAGE))
    return places, at + PAGE, denied


class Arena:
    """Buffers with the content of arrays. Close it after use."""

    def __init__(self, arrays: Sequence[npt.NDArray[Any]], guard: int = GUARD_BYTES) -> None:
        """Raises ``OSError`` when there is not enough memory."""
        self.places, self.size, self.denied = layout([a.nbytes for a in arrays], guard)
        self.fd = memory_file(self.size)
        try:
            self._map = mmap.mmap(self.fd, self.size)
        except BaseException:
            os.close(self.fd)
            raise
        self._bytes = np.frombuffer(self._map, dtype=np.uint8)
        self._patterns = [_PATTERNS.get(array.dtype, _PATTERN) for array in arrays]
        for place, array, pattern in zip(self.places, arrays, self._patterns, strict=True):
            for band in self._bands(place):
                band[:] = np.resize(np.frombuffer(pattern, dtype=np.uint8), len(band))
            if array.nbytes:
                self.data(place)[:] = array.reshape(-1).view(np.uint8)

    def _bands(self, place: Place) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        after = place.offset + place.size
        return self._bytes[place.begin : place.offset], self._bytes[after : place.end]

    def data(self, place: Place) -> npt.NDArray[np.uint8]:
        """The bytes of a buffer."""
        return self._bytes[place.offset : place.offset + place.size]

    def write_back(self, arrays: Sequence[npt.NDArray[Any]]) -> None:
        """Copies the buffers to the arrays that they came from, except read-only ones."""
        for array, place in zip(arrays, self.places, strict=True):
            if array.flags.writeable and array.nbytes:
                array.reshape(-1).view(np.uint8)[:] = self.data(place)

    def damages(self) -> list[Damage]:
        """The first changed byte in the bands of each buffer."""
        found: list[Damage] = []
        for index, (place, pattern) in enumerate(zip(self.places, self._patterns, strict=True)):
            before, after = (_changed(band, pattern) for band in self._bands(place))
            if len(after):
                offset = place.size + int(after[0])
                found.append(Damage(index, offset, len(before) + len(after)))
            elif len(before):
                offset = int(before[-1]) - (place.offset - place.begin)
                found.append(Damage(index, offset, len(before)))
        return found

    def close(self) -> None:
        """Frees the memory."""
        del self._bytes
        with contextlib.suppress(BufferError):  # somebody has a view; it frees the memory
            self._map.close()
        os.close(self.fd)


def _changed(band: npt.NDArray[np.uint8], pattern: bytes) -> npt.NDArray[np.intp]:
    """Indices of the bytes that differ from the repeated pattern."""
    return np.flatnonzero(band != np.resize(np.frombuffer(pattern, dtype=np.uint8), len(band)))
