"""Mutated archives and bitcode never take the linker down: a result, or a diagnostic.

A slice always; ``--full`` runs 20,000. Each input goes through reading, checks, LLVM (in a
child process) and code generation for one arch. LLVM may end its process on nonsense; the
parent must turn that into an error, promptly.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from fatcrate.lto import archive, inputs, isolate, merge, resolve
from fatcrate.lto.engine import Target, Tuning
from fatcrate.lto.generate import Job, generate
from fatcrate.lto.policy import Policy
from fatcrate.lto.selection import Selection
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools
from support.device import Workshop

SOURCE = """
#![no_std]
static TABLE: [u32; 4] = [1, 2, 3, 4];
#[inline(never)] fn helper(x: u32) -> u32 { if x > 3 { x / 3 } else { TABLE[x as usize] } }
#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: u32, f: f32) {
    unsafe { let mut i = 0; while i < n { *x.add(i as usize) = helper(i) + f as u32; i += 1; } }
}
"""
TIMEOUT = 20.0


@pytest.fixture(scope="module")
def seeds(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """An rlib, its bitcode bare and in archives of other kinds."""
    shop = Workshop(tools, tmp_path_factory.mktemp("seeds"))
    (shop.folder / "kern.rs").write_text(SOURCE)
    assert shop.compile("kern", shop.folder / "kern.rs").code == 0
    assert shop.compile("debug", shop.folder / "kern.rs", debug=2).code == 0
    found = []
    for name in ("kern", "debug"):
        path = shop.crates[name]
        (member,) = inputs.load(name, "crate", str(path)).members
        found += [path.read_bytes(), member.data, archive.write([("a" * 40, member.data)])]
    return found


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to eight small changes, or a cut."""
    made = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(made))
        kind = rng.randrange(7)
        if kind == 0:
            made[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            made[at] = rng.randrange(256)
        elif kind == 2:
            word = at & ~3
            made[word : word + 4] = rng.choice([0, 1, 0xFFFFFFFF, 1 << 31]).to_bytes(4, "little")
        elif kind == 3:
            other = rng.randrange(len(made))
            size = rng.randrange(1, 64)
            made[at : at + size] = made[other : other + size]
        elif kind == 4:
            del made[at : at + rng.randrange(1, 16)]
        elif kind == 5:
            made[at:at] = rng.randbytes(rng.randrange(1, 16))
        elif rng.random() < 0.3:
            del made[at:]
        if not made:
            break
    return bytes(made)


def outcome(path: Path) -> str:
    """Runs reading, merging and code generation; says how it ended."""
    try:
        unit = inputs.load("fuzzed", "crate", str(path))
        inputs.check_targets([unit], "nvptx64-nvidia-cuda", (22, 1, 0))
        table = resolve.build([unit])
        Selection().check([unit], table, "fuzz")
        request = merge.Request("fuzz", [unit], [], "", list(table.kernels), table)

        def link() -> bytes:
            from fatcrate.lto.llvm import LlvmliteEngine

            return merge.run(LlvmliteEngine(), request).bitcode

        linked = isolate.run(link, timeout=TIMEOUT)
        arch = parse_one("sm_80")
        target = Target("nvptx64-nvidia-cuda", "sm_80", "+ptx80", 1)
        job = Job(linked, "fuzz", arch, target, Tuning(), Policy())
        isolate.run(lambda: generate(job), timeout=TIMEOUT)
    except FatcrateError as error:
        assert all(d.message and d.kind.code.startswith("FC") for d in error.diagnostics)
        return error.diagnostics[0].kind.code
    except isolate.Crash as crash:
        return "timeout" if crash.timed_out else "crash"
    return "linked"


@pytest.mark.parametrize("part", range(2))
def test_mutants(seeds: list[bytes], tmp_path: Path, full: bool, part: int) -> None:
    import fatcrate.lto.llvm  # noqa: F401 — loaded before the forks, for speed

    rng = random.Random(1000 + part)
    count = 10_000 if full else 60
    path, ends = tmp_path / "x.rlib", Counter[str]()
    for number in range(count):
        path.write_bytes(mutate(seeds[number % len(seeds)], rng))
        begun = time.monotonic()
        ends[outcome(path)] += 1
        assert time.monotonic() - begun < 3 * TIMEOUT
    assert sum(ends.values()) == count
    assert len(ends) >= 3, ends  # readable and unreadable ones were both made
    assert ends["timeout"] <= count // 100, ends
