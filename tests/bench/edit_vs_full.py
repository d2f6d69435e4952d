"""An edit in one crate of twenty, each a partition, against building all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fatcrate.rules import sysroot
from fatcrate.rules.ninja import plan
from support.device import SYSROOT_CRATES, Workshop

from bench import harness, lto_set

CRATES = 20
ARCH = "sm_90"


class _Build:
    """The steps of a target of one partition per crate, each command a process."""

    def __init__(self, made: lto_set.CrateSet) -> None:
        self.shop: Workshop = made.shop
        self.folder: Path = made.shop.folder
        self.tools = made.shop.recipe_tools
        self.tools.step = plan.step_prefix()
        self.names = [n for n in made.shop.crates if n != "library"]

    def compile(self, name: str) -> None:
        deps = [] if name == "library" else [("library", "liblibrary.rlib")]
        argv = self.shop.recipe.crate_argv(
            self.tools,
            name,
            f"{name}.rs",
            f"lib{name}.rlib",
            name,
            edition="2024",
            sysroot=self.shop.sysroot,
            deps=deps,
            dep_dirs=["."],
        )
        harness.timed(argv, cwd=self.folder)

    def partition(self, name: str) -> None:
        recipe, lib = self.shop.recipe, sysroot.library_folder(self.shop.sysroot)
        files = [f"{name}.part.bc", f"{name}.part.json", f"{name}.part.link.json"]
        crates = [(n, f"lib{n}.rlib") for n in ("library", name)]
        libraries = [(c, f"{lib}/lib{c}.rlib") for c in SYSROOT_CRATES]
        ptx = f"{name}.part.ptx"
        for argv in (
            recipe.link_argv(
                self.tools, name, crates, libraries, *files, options=["--kernels-of", name]
            ),
            recipe.codegen_argv(self.tools, ARCH, files[0], files[1], ptx),
            recipe.assemble_argv(
                self.tools, ARCH, ptx, f"{name}.part.cubin", f"{name}.part.cubin.json"
            ),
        ):
            harness.timed(argv, cwd=self.folder)

    def merge(self) -> None:
        parts = [f"{n}.part.json" for n in self.names]
        step = [*self.tools.step, "merge-manifests", "--name", "all", "--output", "all.json"]
        harness.timed([*step, *parts], cwd=self.folder)

    def make(self, crates: Sequence[str], partitions: Sequence[str]) -> float:
        """Seconds to compile crates and make partitions, two commands at a time."""
        begun = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            for work, names in ((self.compile, crates), (self.partition, partitions)):
                run: Callable[[str], None] = work
                list(pool.map(run, names))
        if partitions:
            self.merge()
        return time.perf_counter() - begun


def run() -> harness.Result:
    """Full builds and edits by turns."""
    with harness.workspace() as folder:
        build = _Build(lto_set.make(folder, CRATES))
        fulls, edits = [], []
        for turn in range(3):
            build.make(["library"], [])
            fulls.append(build.make(build.names, build.names))
            edited = build.names[turn]
            source = folder / f"{edited}.rs"
            text = source.read_text(encoding="utf-8")
            source.write_text(text.replace("+ 0.1 *", f"+ 0.{turn + 2} *"), encoding="utf-8")
            edits.append(build.make([edited], [edited]))
    ratios = [edit / full for edit, full in zip(edits, fulls, strict=True)]
    detail = {
        "crates": CRATES,
        "full_s": round(harness.median(fulls), 2),
        "edit_s": round(harness.median(edits), 2),
    }
    return harness.Result(harness.median(ratios), ratios, detail)


BENCH = harness.Bench(
    "edit-vs-full",
    "ratio",
    0.15,
    f"compile, link, generate and assemble one of {CRATES} crates ÷ all of them, each crate a"
    " partition, two commands at a time",
    run,
)
