"""How many blocks of a kernel an SM can hold at once.

The rules are those of NVIDIA's public occupancy calculator (``cuda_occupancy.h`` of the CUDA
toolkit, default shared memory configuration); the sizes of each SM are the CUDA programming
guide's table of technical specifications per compute capability. A test compares the two over
many kernels and block sizes.
"""

from __future__ import annotations

from typing import NamedTuple

from fatcrate.toolchain.arch import Arch

WARP = 32
_REGISTERS = 65536  # per SM and per block
_REGISTER_UNIT = 256  # registers are given to warps in these
_SUB_PARTITIONS = 4
_MAX_BLOCK = 1024
_KIB = 1024
_DEFAULT_SHARED = 48 * _KIB


class Multiprocessor(NamedTuple):
    """One kind of SM. Shared memory in bytes."""

    threads: int
    blocks: int
    shared: int
    shared_optin: int  # per block, when the host asks for more than 48 KiB
    reserved: int  # per block, taken by the driver
    shared_unit: int
    barriers_per_block: int = 2


def _sm(threads: int, blocks: int, shared: int, barriers: int = 2) -> Multiprocessor:
    return Multiprocessor(threads, blocks, shared * _KIB, (shared - 1) * _KIB, _KIB, 128, barriers)


SMS: dict[int, Multiprocessor] = {
    75: Multiprocessor(1024, 16, 64 * _KIB, 64 * _KIB, 0, 256),
    80: _sm(2048, 32, 164),
    86: _sm(1536, 16, 100, 1),
    87: _sm(1536, 16, 164, 1),
    89: _sm(1536, 24, 100, 1),
    90: _sm(2048, 32, 228),
    100: _sm(2048, 32, 228),
    101: _sm(1536, 24, 228, 1),
    103: _sm(2048, 32, 228, 1),
    110: _sm(1536, 24, 228, 1),
    120: _sm(1536, 24, 100, 1),
    121: _sm(1536, 24, 100, 1),
}


class Occupancy(NamedTuple):
    """Blocks and warps that run at once on one SM; ``limits`` names what bounds them."""

    blocks: int
    warps: int
    fraction: float  # of the warps that the SM can hold
    limits: tuple[str, ...]


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(
    arch: Arch, block: int, registers: int, shared: int, dynamic: int = 0, barriers: int = 0
) -> Occupancy | None:
    """Occupancy of a kernel in blocks of ``block`` threads; None for an SM not in the table.

    ``registers`` per thread; ``shared`` (static) and ``dynamic`` shared memory in bytes.
    """
    sm = SMS.get(arch.number)
    if sm is None or arch.kind == "gfx" or block < 1:
        return None
    warps = -(-block // WARP)
    found = {
        "registers": _by_registers(registers, warps),
        "shared memory": _by_shared(sm, shared, dynamic),
        "warps": sm.threads // WARP // warps if block <= _MAX_BLOCK else 0,
        "blocks": sm.blocks,
    }
    least = min(found.values())
    if arch.major >= 9 and barriers:
        found["barriers"] = sm.blocks * sm.barriers_per_block // barriers
        least = min(least, found["barriers"])
    limits = tuple(name for name, limit in found.items() if limit == least)
    most = sm.threads // WARP
    return Occupancy(least, least * warps, least * warps / most, limits)


def _by_registers(registers: int, warps: int) -> int:
    per_warp = _round_up(registers * WARP, _REGISTER_UNIT)
    checked = per_warp * _round_up(warps, _SUB_PARTITIONS)
    if checked > _REGISTERS or registers > 256:
        return 0
    if per_warp == 0:
        return 1 << 31
    return _REGISTERS // _SUB_PARTITIONS // per_warp * _SUB_PARTITIONS // warps


def _by_shared(sm: Multiprocessor, shared: int, dynamic: int) -> int:
    taken = _round_up(shared + sm.reserved + dynamic, sm.shared_unit)
    most = shared + sm.reserved + dynamic
    limit = sm.shared_optin if most > _DEFAULT_SHARED else _DEFAULT_SHARED
    if taken > limit + sm.reserved:
        return 0
    return sm.shared // taken if taken else 1 << 31
