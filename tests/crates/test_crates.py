"""Registry crates, unchanged, in kernels: the CPU runner against plain Rust on this machine.

Each folder is a package that uses a crate from the registry in a function; ``harness`` makes a
kernel of it, ``reference`` a host program. Both must write the same words. ``--full`` takes all
of them, a normal run those in :data:`FAST`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fatcrate import cpu
from fatcrate.lto.cpu.prepare import Stage
from fatcrate.toolchain.discover import Tools

from tests.support import bazel

HERE = Path(__file__).parent
ITEMS = 64
BLOCK = 32

#: One with a build script and floats, one with many crates below it, one with derive macros,
#: one that allocates.
FAST = ("alloc", "bytemuck", "libm", "sha2")

#: Of those, what Bazel builds too: one that allocates, one with a build script.
FAST_BAZEL = ("alloc", "libm")

ARCHS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120")

_KERNEL = re.compile(r"harness::kernel!\((\w+), (\d+), case\);")


def all_cases() -> list[str]:
    """Names of the cases: the folders whose source has a kernel."""
    found = sorted(path.parent.parent.name for path in HERE.glob("*/src/lib.rs"))
    return [name for name in found if name != "harness"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        every = metafunc.config.getoption("--full")
        metafunc.parametrize("case", all_cases() if every else FAST)


def run(argv: list[str], **variables: str) -> bytes:
    """Runs a program in this folder; shows what it said when it fails."""
    done = subprocess.run(
        argv, cwd=HERE, env=os.environ | variables, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


@pytest.fixture(scope="session")
def chosen(full: bool) -> list[str]:
    return all_cases() if full else list(FAST)


@pytest.fixture(scope="session")
def built(chosen: list[str]) -> Path:
    """The output folder after an import and a build of the chosen cases."""
    program = [sys.executable, "-m", "fatcrate"]
    run([*program, "import", "Cargo.toml", "--locked"])
    run([*program, "build", "--quiet", *chosen])
    return HERE / "fatcrate-out"


@pytest.fixture(scope="session")
def reference(chosen: list[str], tools: Tools) -> Path:
    """The host program, built by cargo."""
    features = ",".join(f"case-{name}" for name in chosen)
    target = HERE / "target"
    run(
        [tools.cargo, "build", "--quiet", "--locked", "-p", "reference", "--features", features],
        RUSTC=tools.rustc,
        CARGO_TARGET_DIR=str(target),
    )
    return target / "debug" / "reference"


@pytest.mark.parametrize("stage", ["linked", "unoptimised"])
def test_same_words_as_on_the_host(case: str, stage: Stage, built: Path, reference: Path) -> None:
    match = _KERNEL.search((HERE / case / "src" / "lib.rs").read_text())
    assert match is not None
    kernel, words = match[1], int(match[2])
    wanted = np.frombuffer(run([str(reference), case, str(ITEMS)]), dtype="<u4")
    items = np.unique(wanted.reshape(ITEMS, words), axis=0)
    assert len(items) > ITEMS // 4  # they do differ
    out = np.zeros(ITEMS * words, dtype=np.uint32)
    with cpu.Module(
        built / case / "linked.bc", built / f"{case}.manifest.json", stage=stage
    ) as module:
        module.launch(kernel, grid=ITEMS // BLOCK, block=BLOCK, args=[ITEMS, out])
    different = np.nonzero(out != wanted)[0]
    assert not len(different), [
        f"item {at // words} word {at % words}: {out[at]:#x}, on the host {wanted[at]:#x}"
        for at in different[:5]
    ]


def test_an_image_for_every_arch(case: str, built: Path) -> None:
    for arch in ARCHS:
        assert (built / case / f"{arch}.cubin").stat().st_size > 1000
    assert (built / f"{case}.fatbin").stat().st_size > 6000


def test_bazel_makes_the_same_bytes(built: Path, full: bool, tmp_path: Path) -> None:
    place = tmp_path / "crates"
    made = shutil.ignore_patterns("fatcrate-out", "target", "fatcrate.yaml", "test_*", "__*")
    shutil.copytree(HERE, place, ignore=made)
    harness = place / "harness" / "Cargo.toml"
    device = bazel.CHECKOUT / "toolchain" / "device" / "gpu"
    harness.write_text(harness.read_text().replace("../../../toolchain/device/gpu", str(device)))
    workspace = bazel.scratch(place, tmp_path / "bazel", {})
    try:
        argv = bazel.fatcrate("import", "--locked", "--offline", "--bazel")
        subprocess.run(argv, cwd=place, check=True, stdout=subprocess.DEVNULL)
        names = all_cases() if full else list(FAST_BAZEL)
        workspace.build(*[f"//:{name}" for name in names])
        files = [f"{name}.{what}" for name in names for what in ("fatbin", "manifest.json")]
        different = [
            file
            for file in files
            if bazel.sha256(workspace.bin() / file) != bazel.sha256(built / file)
        ]
        assert different == []
    finally:
        workspace.close()


def test_clippy(built: Path, chosen: list[str]) -> None:
    """Of the cases' own sources; those of the registry are others'."""
    lints = ["-Dwarnings", "-Dclippy::all", "-Dclippy::undocumented_unsafe_blocks"]
    run([sys.executable, "-m", "fatcrate", "clippy", *chosen, "--", *lints])


def test_try_crate(reference: Path) -> None:
    """Says of crates that the cache holds (the reference uses them) whether they work."""
    assert reference.exists()
    program = [sys.executable, "-m", "fatcrate", "try-crate", "--offline"]
    said = run([*program, "bytemuck", "--archs", "sm_80"]).decode()
    assert re.fullmatch(
        r"bytemuck 1\.\S+ works in device code: bytemuck = .*\n"
        r"built and linked for sm_80: 1 crate\n",
        said,
    )
    done = subprocess.run(
        [*program, "typenum", "--features", "nothing-like-it"], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"typenum does not work in device code (import)" in done.stdout
    assert b"FC0151" in done.stdout and b"nothing-like-it" in done.stdout
