"""Every operation that rustc hands to LLVM: GPU code on the CPU against plain Rust on the host.

``rows/ops.rs`` is a table with a row for each operation and type; ``rows/language.rs`` and
``rows/values.rs`` are tables of what the language builds from them. The same rows are kernels of
a device crate, merged and linked, and functions of a program that rustc builds for this machine.
Both get the same random records; their results are the same bits, NaN aside. All rows are
generated and assembled for an old and a new architecture.
"""

from __future__ import annotations

import re
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from fatcrate import cpu
from fatcrate.rules import rustc
from fatcrate.toolchain.discover import Tools
from support import launches
from support.device import Workshop
from support.listed import once

HERE = Path(__file__).parent / "rows"
COUNT = 96

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def flags(full: bool) -> list[str]:
    """All rows with ``--full``; else some integer types stand for the others."""
    return ["--cfg=all_rows"] if full else []


@pytest.fixture(scope="module")
def shop(
    root: Path, tools: Tools, tmp_path_factory: pytest.TempPathFactory, flags: list[str]
) -> Workshop:
    """The rows as a linked module of kernels."""

    def build(folder: Path) -> Path:
        made = Workshop(tools, folder)
        for outcome in (
            made.gpu(root),
            made.compile("kernels", HERE / "kernels.rs", deps=["gpu"], rustc_flags=flags),
            made.link("rows"),
        ):
            assert outcome.code == 0, outcome.stderr
        return folder

    return Workshop(tools, once(tmp_path_factory, "rows", build))


@pytest.fixture(scope="module")
def host(shop: Workshop, flags: list[str]) -> Path:
    """The rows as a program of this machine."""
    for name in ("host.rs", "ops.rs", "language.rs", "values.rs", "prelude.rs"):
        (shop.folder / name).write_text((HERE / name).read_text())
    names = [k["name"] for k in shop.json("rows.manifest.json")["kernels"]]
    rows = "".join(f'    ("{n}", signature_{n}, {n}),\n' for n in names)
    text = f"const ROWS: &[(&str, &str, Run)] = &[\n{rows}];\n"
    (shop.folder / "list.rs").write_text(text)
    program = shop.folder / "host"
    command = [shop.tools.rustc, "--edition=2024", "-Copt-level=0", "-Cdebug-assertions=off"]
    done = subprocess.run(
        [*command, *flags, "-Awarnings", "-o", program, shop.folder / "host.rs"],
        env=rustc.ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return program


def elements(kind: str) -> list[str]:
    """The scalars of a type: ``[[u8; 2]; 3]`` is six ``u8``."""
    match = re.fullmatch(r"\[(.+); ?(\d+)\]", kind.strip())
    return elements(match[1]) * int(match[2]) if match else [kind.strip()]


def split(kinds: str) -> list[str]:
    """The scalars of a list of types."""
    return [e for kind in re.split(r",\s*(?![^\[]*\])", kinds) if kind for e in elements(kind)]


def width(kind: str) -> int:
    """Bytes of a scalar."""
    return 1 if kind == "bool" else int(kind[1:]) // 8


def records(name: str, kinds: list[str]) -> Array:
    """Random records, packed; edges among them."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    columns = []
    for kind in kinds:
        if kind[1:] == "128":
            halves = launches.values(rng, "u64", 2 * COUNT, "")
            columns.append(halves.view("u1").reshape(COUNT, 16))
        else:
            values = launches.values(rng, kind, COUNT, "")
            columns.append(values.view("u1").reshape(COUNT, width(kind)))
    return np.ascontiguousarray(np.concatenate(columns, axis=1)).reshape(-1)


def canonical(data: bytes, kinds: list[str]) -> list[bytes]:
    """Each record of a result as columns, with one NaN in place of all."""
    rows = np.frombuffer(data, "u1").reshape(COUNT, -1)
    found, start = [], 0
    for kind in kinds:
        column = np.ascontiguousarray(rows[:, start : start + width(kind)])
        start += width(kind)
        if kind[0] == "f":
            column = np.frombuffer(launches.canonical(column.view(f"f{width(kind)}")), "u1")
        found.append(column.tobytes())
    assert start == rows.shape[1]
    return found


def test_results_are_those_of_the_host(shop: Workshop, host: Path, full: bool) -> None:
    listing = subprocess.run([host, "list"], capture_output=True, text=True, check=True).stdout
    rows = {}
    for line in listing.splitlines():
        name, _, signature = line.partition(": ")
        given, _, result = signature.rpartition(" -> ")
        rows[name] = split(given), elements(result)
    assert len(rows) > (650 if full else 220)
    inputs = {name: records(name, kinds) for name, (kinds, _) in rows.items()}
    frames = b"".join(
        struct.pack("<I", len(part)) + part
        for name, data in inputs.items()
        for part in (name.encode(), data.tobytes())
    )
    answer = subprocess.run([host], input=frames, capture_output=True, check=True).stdout
    exact = {}
    for name, (_, result) in rows.items():
        (size,) = struct.unpack_from("<I", answer)
        exact[name] = canonical(answer[4 : 4 + size], result)
        answer = answer[4 + size :]
    stages = launches.ALL_STAGES if full else (launches.STAGES[0], launches.STAGES[-1])
    wrong = []
    for stage, level in stages:
        linked, manifest = shop.folder / "rows.bc", shop.folder / "rows.manifest.json"
        with cpu.Module(linked, manifest, stage=stage, opt_level=level) as module:
            for name, (_, result) in rows.items():
                out = np.zeros(COUNT * sum(map(width, result)), "u1")
                module.launch(name, grid=2, block=33, args=[inputs[name], out, COUNT])
                if canonical(out.tobytes(), result) != exact[name]:
                    wrong.append(f"{name} ({stage}, {level})")
    assert not wrong


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One architecture and level; more with ``--full``."""
    if "arch" in metafunc.fixturenames:
        more = [("sm_75", "0"), ("sm_120", "3")] if metafunc.config.getoption("--full") else []
        metafunc.parametrize(("arch", "level"), [("sm_120", "0"), *more])


def test_rows_are_assembled(shop: Workshop, arch: str, level: str, full: bool) -> None:
    """PTX that ptxas takes, with an instruction for what should be one."""
    outcome = shop.codegen("rows", arch, level)
    assert outcome.code == 0, outcome.stderr
    outcome = shop.assemble("rows", arch, *([] if full else ["-O0"]))
    assert outcome.code == 0, outcome.stderr
