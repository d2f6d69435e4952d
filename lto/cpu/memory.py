"""Memory of the worker: mappings, pages without access, stacks of fibers."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

PAGE = mmap.PAGESIZE

_MAP_FAILED = ctypes.c_void_p(-1).value
_MAP_NORESERVE = 0x4000  # Linux, x86_64 and aarch64


def _libc() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    ]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


_LIBC = _libc()


def round_up(size: int, unit: int = PAGE) -> int:
    """``size`` as a whole number of units."""
    return -(-size // unit) * unit


class Mapping:
    """A mapped range of addresses; unmapped by :meth:`close`. Raises ``OSError``."""

    def __init__(self, size: int, fd: int = -1) -> None:
        """Maps ``size`` bytes of a file for reading and writing, or of fresh memory."""
        self.size = max(round_up(size), PAGE)
        flags = mmap.MAP_SHARED if fd >= 0 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        if fd < 0:
            flags |= _MAP_NORESERVE
        access = mmap.PROT_READ | mmap.PROT_WRITE
        address = _LIBC.mmap(None, self.size, access, flags, fd, 0)
        if address in (None, _MAP_FAILED):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self.address: int = address

    def deny(self, offset: int, size: int) -> None:
        """Takes all access away from whole pages."""
        if _LIBC.mprotect(self.address + offset, size, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def close(self) -> None:
        _LIBC.munmap(self.address, self.size)


class Stacks:
    """Stacks for the threads of a block, each above a page without access.

    Memory is taken only where a thread touches its stack, so that the size is a limit and not
    a cost.
    """

    def __init__(self, count: int, size: int) -> None:
        self.count = count
        self.size = round_up(size)
        stride = self.size + PAGE
        self._mapping = Mapping(count * stride)
        for index in range(count):
            self._mapping.deny(index * stride, PAGE)
        base = self._mapping.address
        # The last is taken first and stays the lowest in use.
        self._tops = [base + (index + 1) * stride for index in reversed(range(count))]
        self.free = (ctypes.c_void_p * count)()
        self.reset()

    def reset(self) -> None:
        """All stacks are free again, whatever ran on them."""
        for index, top in enumerate(self._tops):
            self.free[index] = top

    def close(self) -> None:
        self._mapping.close()
