"""PTX that one architecture takes over from another is what it would have got by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fatcrate.lto import isolate, share
from support.device import Outcome, fatcrate
from support.listed import MODULES, NAMES, Shelf

ARCHS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
#: Modules that share PTX: what the whitelist is for.
SHARING = {
    "examples/saxpy:saxpy",
    "tests/cases/cargo/project:demo",
    "tests/cases/kernels:mandelbrot",
    "tests/cases/kernels:scan",
}


def generate(
    archs: list[str], linked: Path, manifest: Path, identity: Path, out: Path, *options: str
) -> Outcome:
    """PTX for all of ``archs``, in one run."""
    first, *others = [f"{arch}={out}.{arch}.ptx" for arch in archs]
    arch, _, output = first.partition("=")
    argv = ["--arch", arch, "--toolchain", identity, "--manifest", manifest, "--output", output]
    return fatcrate("codegen", *argv, *(f"--also={o}" for o in others), *options, linked)


def allowed(linked: Path, ptx: str) -> bool:
    """What the whitelists say of a module and its PTX."""

    def work() -> bool:
        from fatcrate.lto.llvm import LlvmliteEngine

        text = LlvmliteEngine().parse_bitcode(linked.read_bytes()).text()
        return share.module_allows(text)

    return isolate.run(work) and share.ptx_allows(ptx)


def body(ptx: str) -> str:
    """PTX without the lines that name the architecture and the ISA."""
    text, count = re.subn(r"^\.(?:target|version) .*$", "", ptx, flags=re.MULTILINE)
    assert count == 2
    return text


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_shared_ptx_is_that_of_separate_generation(
    shelf: Shelf, module: dict[str, Any], tmp_path: Path, full: bool
) -> None:
    """For all architectures where one is shared or with ``--full``, else for some."""
    name = NAMES[MODULES.index(module)]
    archs = ARCHS if full or name in SHARING else ARCHS[::3]
    linked, manifest = shelf.files(module)
    identity = tmp_path / "toolchain.json"
    identity.write_text(shelf.tools.identity.to_json())
    texts: list[list[str]] = []
    for kind, options in (("together", []), ("apart", ["--no-share"])):
        out = tmp_path / kind
        outcome = generate(archs, linked, manifest, identity, out, *options)
        assert outcome.code == 0, outcome.stderr
        texts.append([Path(f"{out}.{arch}.ptx").read_text() for arch in archs])
    together, apart = texts
    assert together == apart
    sharing = allowed(linked, together[0])
    assert sharing == (name in SHARING)
    if sharing:
        assert len({body(text) for text in apart}) == 1
        targets = [re.search(r"^\.target (\w+)", text, re.MULTILINE) for text in together]
        assert [t[1] for t in targets if t] == archs
