"""The host's conversions of 16-bit floats, on a CPU that has instructions for none of them.

Oracles: NumPy for half; for bfloat exact arithmetic over both neighbours.
"""

from __future__ import annotations

import ctypes
import random
import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fatcrate.lto import isolate

CPUS = ("x86-64", "x86-64-v3")
LOOP = """
define void @{name}(ptr %in, ptr %out, i64 %count) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %body, label %done
body:
  %from = getelementptr {source}, ptr %in, i64 %i
  %x = load {source}, ptr %from
  %y = {op} {source} %x to {result}
  %to = getelementptr {result}, ptr %out, i64 %i
  store {result} %y, ptr %to
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
#: name -> operation, source and result as LLVM and NumPy (bfloat: its bits) call them
CASES = {
    "sfhf": ("fptrunc", "float", "half", np.float32, np.float16),
    "dfhf": ("fptrunc", "double", "half", np.float64, np.float16),
    "hfsf": ("fpext", "half", "float", np.float16, np.float32),
    "sfbf": ("fptrunc", "float", "bfloat", np.float32, np.uint16),
    "dfbf": ("fptrunc", "double", "bfloat", np.float64, np.uint16),
}


def _converted(root: Path, cpu: str, name: str, values: np.ndarray) -> np.ndarray:
    from fatcrate.lto.cpu import jit
    from fatcrate.lto.llvm import LlvmliteEngine

    op, source, result, _, wanted = CASES[name]
    text = (root / "lto/cpu/narrow.ll").read_text() + LOOP.format(
        name=name, op=op, source=source, result=result
    )
    host = jit.host(0, cpu)
    module = LlvmliteEngine().parse_text(text)
    module.set_target(host.target.triple, host.layout)
    code = jit.Code(module, host, {})
    made = np.zeros(len(values), wanted)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    function(code.function(name))(values.ctypes.data, made.ctypes.data, len(values))
    return made


def _samples(kind: type) -> np.ndarray:
    """Values around each half and bfloat: these, the middles, and their neighbours."""
    if kind is np.float16:
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    some = np.concatenate([halves, (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)])
    some = some[np.isfinite(some)].astype(kind)
    with np.errstate(over="ignore"):
        middles = (some + np.roll(some, 1)) / 2
        near = [np.nextafter(m, kind(s * np.inf)) for m in (some, middles) for s in (1, -1)]
    return np.concatenate([some, middles, *near, np.array([np.inf, -np.inf, np.nan], kind)])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", ["sfhf", "dfhf", "hfsf"])
def test_half(root: Path, cpu: str, name: str) -> None:
    values = _samples(CASES[name][3])
    found = isolate.run(lambda: _converted(root, cpu, name, values))
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = values.astype(CASES[name][4])
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    numbers = ~np.isnan(wanted)
    bits = np.uint16 if found.dtype == np.float16 else np.uint32
    assert np.array_equal(found[numbers].view(bits), wanted[numbers].view(bits))


def _nearest(value: float) -> int:
    """Bits of the bfloat that is nearest to a number; of two, the even one."""
    with np.errstate(over="ignore"):
        near = int(np.float32(abs(value)).view(np.uint32)) >> 16
    candidates = range(max(0, near - 1), min(near + 3, 0x7F80))
    exact = abs(Fraction(value))

    def number(bits: int) -> Fraction:
        if bits == 0x7F80:  # where the next number would be
            return Fraction(2) ** 128
        return Fraction(struct.unpack("<f", struct.pack("<I", bits << 16))[0])

    best = min((*candidates, 0x7F80), key=lambda b: (abs(number(b) - exact), b & 1))
    return best | (0x8000 if str(value).startswith("-") else 0)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", ["sfbf", "dfbf"])
def test_bfloat(root: Path, cpu: str, name: str) -> None:
    everything = _samples(CASES[name][3])
    drawn = random.Random(name).sample(range(len(everything)), 4000)
    values = np.concatenate([everything[drawn], everything[-3:]])
    found = isolate.run(lambda: _converted(root, cpu, name, values))
    finite = np.isfinite(values)
    wanted = [_nearest(float(v)) for v in values[finite]]
    assert found[finite].tolist() == wanted
    assert found[-3:-1].tolist() == [0x7F80, 0xFF80]
    assert all(int(bits) & 0x7FC0 == 0x7FC0 for bits in found[np.isnan(values)])
