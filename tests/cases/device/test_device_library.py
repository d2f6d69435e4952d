"""The device library as a user meets it: what `shared!` refuses, panics, features, levels."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fatcrate import cpu
from fatcrate.lto import isolate
from fatcrate.toolchain.discover import Tools

from tests.support.device import Outcome, Workshop

HEAD = "#![no_std]\n"
KERNEL = '#[unsafe(no_mangle)] pub extern "gpu-kernel" fn k(x: *mut f32) { let _ = x; %s }\n'


@pytest.fixture
def shop(root: Path, tools: Tools, tmp_path: Path) -> Workshop:
    """A folder with the device library compiled."""
    made = Workshop(tools, tmp_path)
    outcome = made.gpu(root)
    assert outcome.code == 0, outcome.stderr
    return made


Compile = Callable[..., Outcome]


@pytest.fixture
def compile_(shop: Workshop, capfd: pytest.CaptureFixture[str]) -> Compile:
    """Compiles a crate from text; rustc's messages are the outcome's stderr."""

    def run(text: str, name: str = "kern", **options: object) -> Outcome:
        source = shop.folder / f"{name}.rs"
        source.write_text(HEAD + text)
        deps = options.pop("deps", ["gpu"])
        outcome = shop.compile(name, source, deps=deps, **options)
        return Outcome(outcome.code, outcome.stdout, outcome.stderr + capfd.readouterr().err)

    return run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (KERNEL % "let _ = gpu::shared!(());", "shared!: the type has no size"),
        (
            KERNEL % "let _ = gpu::shared!([u8; 49153]);",
            "shared!: more than 48 KiB; use gpu::dynamic_shared",
        ),
        (
            "pub struct D(u8); impl Drop for D { fn drop(&mut self) {} }\n"
            + KERNEL % "let _ = gpu::shared!(D);",
            "shared!: the type has a destructor, which nobody would run",
        ),
        (
            "fn f<T>(_: T) { let _ = gpu::shared!(u32); }\n" + KERNEL % "f(x);",
            "shared! in a generic function: all its instances would share one memory",
        ),
        (
            "fn f<const N: usize>() { let _ = gpu::shared!(u32); }\n" + KERNEL % "f::<3>();",
            "shared! in a generic function",
        ),
        (
            "struct S<T>(T); impl<T> S<T> { fn f(&self) { let _ = gpu::shared!(u32); } }\n"
            + KERNEL % "S(x).f();",
            "shared! in a generic function",
        ),
        (
            "trait T { fn f(&self) { let _ = gpu::shared!(u32); } }\nimpl T for u8 {}\n"
            + KERNEL % "3u8.f();",
            "shared! in a generic function",
        ),
        (
            "fn f<T: 'static>(_: T) { let _ = gpu::shared!(T); }\n" + KERNEL % "f(x);",
            "can't use generic parameters from outer item",
        ),
        (KERNEL % "let _ = gpu::dynamic_shared::<A>();" + "#[repr(align(32))] struct A(u8);", "16"),
    ],
)
def test_refused_with_a_readable_message(compile_: Compile, text: str, message: str) -> None:
    outcome = compile_(text)
    assert outcome.code == 1
    assert message in outcome.stderr


@pytest.mark.parametrize(
    "text",
    [
        KERNEL % "let _ = gpu::shared!([u8; 49152]);",
        "fn f(_: &u8) { let _ = gpu::shared!(u32); }\n" + KERNEL % "f(&1);",
        "struct S<T>(T); impl S<f32> { fn f(&self) { let _ = gpu::shared!(u32); } }\n"
        + KERNEL % "S(1f32).f();",
        "trait T { fn f(&self); }\nimpl T for u8 { fn f(&self) { let _ = gpu::shared!(u32); } }\n"
        + KERNEL % "3u8.f();",
        KERNEL % "let f = || gpu::shared!([core::mem::MaybeUninit<u64>; 4]); let _ = (f(), f());",
        "const SIZE: usize = 3;\n" + KERNEL % "let _ = gpu::shared!([[f32; SIZE]; SIZE]);",
        "mod shared { pub fn f() { let _ = gpu::shared!(u32); } }\n" + KERNEL % "shared::f();",
        "macro_rules! two { () => { (gpu::shared!(u8), gpu::shared!(u8)) } }\n"
        + KERNEL % "let (a, b) = two!(); assert!(a.as_ptr() != b.as_ptr());",
    ],
)
def test_accepted_without_a_warning(compile_: Compile, text: str) -> None:
    for edition in ("2021", "2024"):
        outcome = compile_("#![deny(warnings)]\n" + text, edition=edition)
        assert outcome.code == 0, outcome.stderr


def barriers(linked: Path, kernel: str) -> int:
    """How many calls of the barrier a kernel holds."""

    def work() -> int:
        from fatcrate.lto.llvm import LlvmliteEngine

        function = LlvmliteEngine().parse_bitcode(linked.read_bytes()).find(kernel)
        assert function is not None
        return function.text().count("@__fc_barrier()")

    return isolate.run(work)


def test_barrier_is_not_copied_into_branches(shop: Workshop, compile_: Compile) -> None:
    """rustc's jump threading would make two of one; see recipe.bzl."""
    outcome = compile_(
        '#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: u32) { unsafe {'
        "  let first = gpu::thread_rank() < n;"
        "  let own = x.add(gpu::global_rank());"
        "  if first { *own = 2.0; } gpu::barrier(); if first { *own += 1.0; }"
        "} }"
    )
    assert outcome.code == 0, outcome.stderr
    assert shop.link("k").code == 0
    assert barriers(shop.folder / "k.bc", "k") == 1


def test_shared_memory_of_equal_names_in_two_crates_survives(
    shop: Workshop, compile_: Compile
) -> None:
    library = "pub fn tile() -> *mut u32 { gpu::shared!(u32).as_ptr() }\n"
    for name in ("one", "two"):
        assert compile_(library, name).code == 0
    outcome = compile_(
        '#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn k(x: *mut u32) { unsafe {'
        "  *one::tile() = 1; *two::tile() = 2; *x = *one::tile(); *x.add(1) = *two::tile();"
        "} }",
        deps=["gpu", "one", "two"],
    )
    assert outcome.code == 0, outcome.stderr
    assert shop.link("k").code == 0
    (kernel,) = shop.json("k.manifest.json")["kernels"]
    assert kernel["static_shared"] == 8
    x = np.zeros(2, np.uint32)
    with cpu.Module(shop.folder / "k.bc", shop.folder / "k.manifest.json") as module:
        module.launch("k", grid=1, block=1, args=[x])
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("level", ["0", "1", "2", "3", "s", "z"])
def test_every_optimisation_level_gives_the_same_bits(
    shop: Workshop, compile_: Compile, root: Path, level: str
) -> None:
    """The reduce example, compiled and optimised at each level."""
    for name, deps in (("slices", []), ("reduction", []), ("reduce", ["reduction", "slices"])):
        source = root / "examples" / "reduce" / f"{name}.rs"
        outcome = shop.compile(name, source, deps=["gpu", *deps], opt_level=level)
        assert outcome.code == 0, outcome.stderr
    assert shop.link("reduce").code == 0
    files = shop.folder / "reduce.bc", shop.folder / "reduce.manifest.json"
    x = np.random.default_rng(1).standard_normal(3000).astype(np.float32)
    results = []
    for stage, opt_level in (("unoptimised", "3"), ("linked", level), ("linked", "0")):
        with cpu.Module(*files, stage=stage, opt_level=opt_level) as module:  # type: ignore[arg-type]
            out = np.zeros(4, np.float32)
            module.launch("dot", grid=4, block=96, args=[x, x, 3000, out, 4])
            results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    assert results[0].sum() == pytest.approx(np.dot(x.astype("f8"), x), rel=1e-6)


HANDLER = (
    "#[panic_handler] fn mine(_: &core::panic::PanicInfo<'_>) -> ! {"
    "  unsafe { *FLAG.get() = 7 }; gpu::trap() }\n"
    "struct Flag(core::cell::UnsafeCell<u32>); unsafe impl Sync for Flag {}\n"
    "impl Flag { fn get(&self) -> *mut u32 { self.0.get() } }\n"
    "static FLAG: Flag = Flag(core::cell::UnsafeCell::new(0));\n"
    '#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn flag(x: *mut u32) {'
    "  unsafe { *x = *FLAG.get() } }\n"
)
PANIC = (
    '#[unsafe(no_mangle)] pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: usize) {'
    "  unsafe { *x = core::slice::from_raw_parts(x, 4)[n] } }\n"
)


@pytest.mark.parametrize("panic", ["immediate-abort", "abort"])
@pytest.mark.parametrize("own", [False, True])
def test_panic_handlers(root: Path, tools: Tools, tmp_path: Path, panic: str, own: bool) -> None:
    """No crate needs a handler; a crate's own one is used where panics get as far."""
    shop = Workshop(tools, tmp_path, panic)
    assert shop.gpu(root).code == 0
    source = tmp_path / "kern.rs"
    source.write_text(HEAD + PANIC + (HANDLER if own else ""))
    outcome = shop.compile("kern", source, deps=["gpu"])
    assert outcome.code == 0, outcome.stderr
    outcome = shop.link("k")
    assert outcome.code == 0, outcome.stderr
    with cpu.Module(tmp_path / "k.bc", tmp_path / "k.manifest.json") as module:
        x = np.array([5, 6, 7, 8], np.uint32)
        module.launch("k", grid=1, block=1, args=[x, 3])
        assert x[0] == 8
        result = module.launch("k", grid=1, block=1, args=[x, 4], allow_traps=True)
        assert result.trap_count == 1
        if own:
            module.launch("flag", grid=1, block=1, args=[x])
            assert x[0] == (7 if panic == "abort" else 0)


def test_library_as_cargo_uses_it(root: Path, tools: Tools, tmp_path: Path) -> None:
    """With cargo's default feature the library brings the `#[panic_handler]` itself."""
    shop = Workshop(tools, tmp_path)
    assert shop.gpu(root).code == 0
    source = root / "toolchain/device/gpu/src/lib.rs"
    outcome = shop.compile("gpu", source, features=["panic-handler"])
    assert outcome.code == 0, outcome.stderr
    text = (root / "toolchain/device/gpu/Cargo.toml").read_text()
    assert 'default = ["panic-handler"]' in text
    locked = subprocess.run(
        [tools.cargo, "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"],
        cwd=root / "toolchain/device",
        capture_output=True,
        check=False,
    )
    assert locked.returncode == 0, locked.stderr
