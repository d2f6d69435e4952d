"""Device crates, sysroots and links for tests, through the real steps."""

from __future__ import annotations

import contextlib
import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fatcrate.rules import cli, recipe, sysroot
from fatcrate.toolchain.discover import Tools

SYSROOT_CRATES = ("core", "compiler_builtins", "alloc")


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


def fatcrate(*argv: str | Path) -> Outcome:
    """Runs a command of ``fatcrate`` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main([str(a) for a in argv])
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
    return Outcome(code, out.getvalue(), err.getvalue())


def _cache() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or f"{os.environ.get('HOME', '/tmp')}/.cache"
    return f"{base}/fatcrate/sysroot"


def build_sysroot(tools: Tools, panic: str) -> str:
    """The sysroot of a panic strategy, built once per toolchain into the user's cache."""
    key = sysroot.cache_key(tools.identity, panic)
    directory = f"{_cache()}/{key}"
    sysroot.build(tools.rustc, tools.rust_src, panic, key, directory)
    return directory


@dataclass
class Workshop:
    """A folder in which crates are compiled and linked."""

    tools: Tools
    folder: Path
    panic: str = "immediate-abort"
    crates: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.recipe = recipe.load()
        self.sysroot = build_sysroot(self.tools, self.panic)
        self.identity = self.folder / "toolchain.json"
        self.identity.write_text(self.tools.identity.to_json(), encoding="utf-8")

    @property
    def recipe_tools(self) -> SimpleNamespace:
        """`tools` as the recipe's functions take it."""
        return SimpleNamespace(
            step=[],
            rustc=self.tools.rustc,
            host_linker=self.tools.host_linker,
            ptxas=self.tools.ptxas,
            libdevice=self.tools.libdevice,
            rust_src=self.tools.rust_src,
            identity=str(self.identity),
        )

    def compile(self, name: str, source: Path, **options: Any) -> Outcome:
        """Compiles a crate into ``libNAME.rlib``.

        ``options`` are those of the recipe's ``crate_argv``, and ``crate_name``.
        """
        output = self.folder / f"lib{name}.rlib"
        deps = [(dep, str(self.crates[dep])) for dep in options.pop("deps", [])]
        options.setdefault("sysroot", self.sysroot)
        options.setdefault("edition", "2024")
        argv = self.recipe.crate_argv(
            self.recipe_tools,
            options.pop("crate_name", name),
            str(source),
            str(output),
            name,
            panic=self.panic,
            deps=deps,
            dep_dirs=[str(self.folder)],
            **options,
        )
        outcome = fatcrate(*argv)
        if outcome.code == 0:
            self.crates[name] = output
        return outcome

    def gpu(self, root: Path) -> Outcome:
        """Compiles the device library under the name ``gpu``."""
        device = self.recipe.device_crate(str(root / "toolchain" / "device"))
        return self.compile(
            device.name, Path(device.source), edition=device.edition, remaps=device.remaps
        )

    def link(
        self, name: str, *options: str, crates: list[tuple[str, Path]] | None = None
    ) -> Outcome:
        """Links; outputs are ``NAME.bc``, ``NAME.manifest.json`` and ``NAME.link.json``."""
        lib = sysroot.library_folder(self.sysroot)
        argv = self.recipe.link_argv(
            self.recipe_tools,
            name,
            [(n, str(p)) for n, p in (crates or self.crates.items())],
            [(c, f"{lib}/lib{c}.rlib") for c in SYSROOT_CRATES],
            str(self.folder / f"{name}.bc"),
            str(self.folder / f"{name}.manifest.json"),
            str(self.folder / f"{name}.link.json"),
            options=list(options),
        )
        return fatcrate(*argv)

    def codegen(self, name: str, arch: str, level: str = "3", *options: str) -> Outcome:
        """Generates ``NAME.ARCH.ptx``."""
        argv = self.recipe.codegen_argv(
            self.recipe_tools,
            arch,
            str(self.folder / f"{name}.bc"),
            str(self.folder / f"{name}.manifest.json"),
            str(self.folder / f"{name}.{arch}.ptx"),
            level,
            options=list(options),
        )
        return fatcrate(*argv)

    def assemble(self, name: str, arch: str, *options: str) -> Outcome:
        """Assembles ``NAME.ARCH.cubin`` with report ``NAME.ARCH.json``."""
        argv = self.recipe.assemble_argv(
            self.recipe_tools,
            arch,
            str(self.folder / f"{name}.{arch}.ptx"),
            str(self.folder / f"{name}.{arch}.cubin"),
            str(self.folder / f"{name}.{arch}.json"),
            list(options),
        )
        return fatcrate(*argv)

    def text(self, file: str) -> str:
        """An output as text."""
        return (self.folder / file).read_text(encoding="utf-8")

    def json(self, file: str) -> Any:
        """An output as JSON."""
        return json.loads(self.text(file))
