"""Memory of the worker: mappings, pages without access, stacks of fibers."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

PAGE = mmap.PAGESIZE

_MAP_FAILED: int | None = ctypes.c_void_p(-1).value
_PROT_NONE = 0
_MAP_FIXED = 0x10  # Linux, x86_64 and aarch64; so is the next
_MAP_NORESERVE = 0x4000


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


#: Addresses without access on both sides of memory that kernels index: a 32-bit index of
#: 8-byte elements, too large or negative, stays in there.
_MOAT = 32 << 30


def _map(address: int | None, size: int, access: int, flags: int, fd: int = -1) -> int:
    found: int | None = _LIBC.mmap(address, size, access, flags, fd, 0)
    if found is None or found == _MAP_FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found


class Mapping:
    """A mapped range of addresses; unmapped by :meth:`close`. Raises ``OSError``.

    Far around it is nothing, as long as the process may have that many addresses.
    """

    def __init__(self, size: int, fd: int = -1) -> None:
        """Maps ``size`` bytes of a file for reading and writing, or of fresh memory."""
        self.size = max(round_up(size), PAGE)
        fresh = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        self._whole = self.size + 2 * _MOAT
        try:
            self._base = _map(None, self._whole, _PROT_NONE, fresh)
        except OSError:  # a limit on address space (ulimit -v)
            self._whole = self.size
            self._base = _map(None, self._whole, _PROT_NONE, fresh)
        self.address = self._base + (self._whole - self.size) // 2
        flags = mmap.MAP_SHARED if fd >= 0 else fresh
        access = mmap.PROT_READ | mmap.PROT_WRITE
        _map(self.address, self.size, access, flags | _MAP_FIXED, fd)

    def deny(self, offset: int, size: int) -> None:
        """Takes all access away from whole pages."""
        if _LIBC.mprotect(self.address + offset, size, _PROT_NONE) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def close(self) -> None:
        """Gives the addresses back."""
        _LIBC.munmap(self._base, self._whole)


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
        """Gives the addresses back."""
        self._mapping.close()
