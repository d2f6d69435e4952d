"""Code generation in parts: which parts there are, and that their PTX is the whole's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from fatcrate.lto import isolate, split
from fatcrate.lto.engine import Target
from fatcrate.lto.llvm import LlvmliteEngine
from fatcrate.toolchain.discover import discover

_HEAD = """\
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

"""
#: Kernels that share a function (helper), a variable (table), dynamic shared memory, and an
#: address of a function (chosen).
_MODULE = (
    _HEAD
    + """\
@table = internal addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@seen = addrspace(1) global i32 7
@dyn = external addrspace(3) global [0 x i32], align 16
@ways = internal addrspace(1) constant [1 x ptr] [ptr @chosen]

define internal i32 @helper(i32 noundef %x, ptr %p) unnamed_addr #0 {
  %v = load i32, ptr %p, align 4
  %y = mul i32 %x, %v
  ret i32 %y
}

define internal i32 @chosen(i32 %x) #0 {
  %y = add i32 %x, 5
  ret i32 %y
}

define ptx_kernel void @one(i32 %x, ptr %p) {
  %y = call i32 @helper(i32 %x, ptr %p)
  store i32 %y, ptr %p, align 4
  ret void
}

define ptx_kernel void @two(i64 %i, ptr %p) {
  %q = getelementptr i32, ptr addrspace(4) @table, i64 %i
  %y = load i32, ptr addrspace(4) %q, align 4
  store i32 %y, ptr %p, align 4
  ret void
}

define ptx_kernel void @three(i64 %i, ptr %p) {
  %q = getelementptr i32, ptr addrspace(4) @table, i64 %i
  %y = load i32, ptr addrspace(4) %q, align 4
  %z = call i32 @helper(i32 %y, ptr %p)
  store i32 %z, ptr %p, align 4
  ret void
}

define ptx_kernel void @four(i64 %i, ptr %p) {
  %q = getelementptr i32, ptr addrspace(3) @dyn, i64 %i
  %y = load i32, ptr addrspace(3) %q, align 4
  store i32 %y, ptr %p, align 4
  ret void
}

define ptx_kernel void @five(i64 %i, ptr %p) {
  %q = getelementptr i32, ptr addrspace(3) @dyn, i64 %i
  store i32 1, ptr addrspace(3) %q, align 4
  %f = load ptr, ptr addrspace(1) @ways, align 8
  %y = call i32 %f(i32 2)
  store i32 %y, ptr %p, align 4
  ret void
}

attributes #0 = { noinline nounwind }
"""
)
_TARGET = Target("nvptx64-nvidia-cuda", "sm_80", "+ptx78", 3)


def defined(part: str) -> list[str]:
    return re.findall(r"^define .*@(\w+)\(", part, re.MULTILINE)


def test_what_is_shared_stays_together() -> None:
    parts = split.split(_MODULE, 3)
    members = [set(defined(part)) for part in parts]
    assert sorted(name for part in members for name in part) == sorted(defined(_MODULE))
    assert len(parts) == 5

    def together(a: str, b: str) -> bool:
        return any({a, b} <= part for part in members)

    assert together("two", "three")  # by @table
    assert together("chosen", "five")  # by @ways
    assert not together("helper", "one") or not together("helper", "three")
    assert not together("four", "five")  # dynamic shared memory is declared, not defined
    assert sum("@seen = " in part for part in parts) == 1  # nothing refers to it
    assert sum("@table = " in part for part in parts) == 1


def test_called_from_elsewhere() -> None:
    """Both sides see a function that is not internal, so that they agree on its parameters."""
    parts = split.split(_MODULE, 3)
    (home,) = (part for part in parts if "helper" in defined(part))
    assert "\ndefine i32 @helper(i32 noundef %x, ptr %p) unnamed_addr #0 {" in home
    assert sum("\ndeclare i32 @helper(i32 noundef %x, ptr %p) #0\n" in part for part in parts) == 2
    assert "\ndefine internal i32 @chosen(" in "".join(parts)  # called in its own part only


def test_called_from_its_own_part_only() -> None:
    """A function stays internal where all its callers happen to be in its part."""
    text = _MODULE.replace("call i32 @helper(i32 %y, ptr %p)", "add i32 %y, 1")
    for lines in (5, 12, 20):
        parts = split.split(text, lines)
        (home,) = (part for part in parts if "helper" in defined(part))
        (caller,) = (part for part in parts if "one" in defined(part))
        assert ("define internal i32 @helper(" in home) == (home is caller)


@pytest.mark.parametrize(
    "line",
    [
        "@0 = private constant i32 5",
        "@llvm.used = appending global [1 x ptr] [ptr @one]",
        "@other = alias i32, ptr addrspace(1) @seen",
        'module asm ".global .u32 x;"',
        "!llvm.dbg.cu = !{!0}",
        "!nvvm.annotations = !{!0}\n!0 = !{ptr @one}",
        "$one = comdat any",
    ],
)
def test_modules_that_stay_whole(line: str) -> None:
    text = _MODULE + line + "\n"
    assert split.split(text, 3) == [text]


def test_small_modules_stay_whole() -> None:
    assert split.split(_MODULE) == [_MODULE]


def test_a_function_that_cannot_be_declared_keeps_its_callers() -> None:
    text = _MODULE.replace("unnamed_addr #0 {", 'unnamed_addr #0 section "here" {')
    members = [set(defined(part)) for part in split.split(text, 3)]
    assert any({"helper", "one", "two", "three"} <= part for part in members)


def _generate(texts: list[str]) -> list[str]:
    def work() -> list[str]:
        engine = LlvmliteEngine()
        return [engine.emit(engine.parse_text(text), _TARGET) for text in texts]

    return isolate.run(work)


def _resources(ptx: str, folder: Path) -> list[str]:
    """What ptxas says of each function, in the order of names."""
    (folder / "k.ptx").write_text(ptx)
    ptxas = [discover().ptxas, "-arch=sm_80", "-v", "k.ptx", "-o", "k.cubin"]
    done = subprocess.run(ptxas, cwd=folder, check=True, capture_output=True, text=True)
    told = re.split(r"^ptxas info +: (?=Compiling|Function)", done.stderr, flags=re.MULTILINE)
    return sorted(re.sub(r"Compile time.*", "", each).strip() for each in told[1:])


def test_the_parts_are_the_whole(tmp_path: Path) -> None:
    parts = split.split(_MODULE, 3)
    (whole,) = _generate([_MODULE])
    joined = split.join(_generate(parts))
    assert joined.count(".address_size") == joined.count(".version") == 1
    assert joined.count(".extern .shared") == 1
    assert ".visible .func" not in joined and ".extern .func" not in joined
    assert len(re.findall(r"\.func [^{;]*helper\s*\([^{;]*;", joined)) == 1  # declared once
    assert _resources(joined, tmp_path) == _resources(whole, tmp_path)
