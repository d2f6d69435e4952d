"""The runner's state in memory: what the scheduler in ``runtime.ll`` reads and writes.

The structure lies in memory that parent and worker share, so that the parent can say which
thread ran when the worker died. Field for field the same as ``%fc.state``; a test compares
sizes and offsets with what LLVM computes.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

TRAP_ROOM = 64

#: Bytes before and behind each piece of shared memory that the scheduler checks.
SHARED_GUARD = 64


class Status(IntEnum):
    """What a fiber does."""

    FRESH = 0
    WAITING = 1
    ENDED = 2
    TRAPPED = 3


class Outcome(IntEnum):
    """What ``__fc_cpu_run`` returns."""

    DONE = 0
    SOME_ENDED = 1
    TWO_BARRIERS = 2
    SHARED_DAMAGED = 3


class Trap(ctypes.Structure):
    """``%fc.trap``."""

    _fields_ = [("block", ctypes.c_int64), ("thread", ctypes.c_int32), ("site", ctypes.c_int32)]


class Fiber(ctypes.Structure):
    """``%fc.fiber``."""

    _fields_ = [
        ("sp", ctypes.c_void_p),
        ("stack", ctypes.c_void_p),
        ("status", ctypes.c_int32),
        ("site", ctypes.c_int32),
    ]


class Shared(ctypes.Structure):
    """``%fc.shared``: address and bytes, guards included."""

    _fields_ = [("address", ctypes.c_void_p), ("bytes", ctypes.c_int64)]


class State(ctypes.Structure):
    """``%fc.state``."""

    _fields_ = [
        ("thread", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("block_dim", ctypes.c_uint32 * 3),
        ("grid_dim", ctypes.c_uint32 * 3),
        ("dynamic_bytes", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("rank", ctypes.c_uint32),
        ("lenient", ctypes.c_uint32),
        ("dynamic", ctypes.c_void_p),
        ("scheduler", ctypes.c_void_p),
        ("fibers", ctypes.c_void_p),
        ("stacks", ctypes.c_void_p),
        ("free_stacks", ctypes.c_int64),
        ("order", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("random", ctypes.c_uint64),
        ("block_rank", ctypes.c_int64),
        ("trap_count", ctypes.c_int64),
        ("threads_done", ctypes.c_int64),
        ("shared", ctypes.c_void_p),
        ("shared_count", ctypes.c_int64),
        ("damaged_shared", ctypes.c_int64),
        ("damaged_byte", ctypes.c_int64),
        ("traps", Trap * TRAP_ROOM),
        ("heap_used", ctypes.c_int64),
        ("heap_bytes", ctypes.c_int64),
        ("heap_refused", ctypes.c_int64),
        ("heap_asked", ctypes.c_int64),
        ("heap_block", ctypes.c_int64),
        ("heap_rank", ctypes.c_int64),
        ("heap_traps", ctypes.c_int64),
    ]


def position(rank: int, dims: tuple[int, int, int]) -> tuple[int, int, int]:
    """(x, y, z) of a rank, x fastest."""
    x, row = rank % dims[0], rank // dims[0]
    return (x, row % dims[1], row // dims[1])
