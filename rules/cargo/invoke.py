"""Runs cargo: packages and their manifests, and the graph of what would be compiled.

Two questions are asked. ``cargo metadata`` lists packages. ``cargo build --unit-graph`` gives
the result of the resolver as cargo itself would build it: each crate with the features that it
gets for the GPU or, apart from that (resolver 2), for this machine. The latter is unstable in
name (``-Z unstable-options``); its format has been version 1 ever since it exists.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any, NoReturn

from fatcrate.rules.cargo import errors
from fatcrate.toolchain import names
from fatcrate.toolchain.diagnostics import fail


@dataclass(frozen=True)
class Selection:
    """What of a workspace is imported, in the words of cargo's own options."""

    packages: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    all_features: bool = False
    no_default_features: bool = False
    profile: str = "release"

    def feature_options(self) -> list[str]:
        options = ["--features", ",".join(self.features)] if self.features else []
        options += ["--all-features"] if self.all_features else []
        return options + (["--no-default-features"] if self.no_default_features else [])


@dataclass(frozen=True)
class Cargo:
    """A cargo with its rustc, for one manifest."""

    program: str
    rustc: str
    manifest: str
    mode: tuple[str, ...] = ()  # of --offline, --locked, --frozen

    def metadata(self, *, all_features: bool = False) -> dict[str, Any]:
        """The packages for the GPU and for this machine. Raises FC0150, FC0151."""
        arguments = ["metadata", "--format-version", "1"]
        for target in (names.NVPTX_TRIPLE, self._host()):
            arguments += ["--filter-platform", target]
        text = self._run(arguments + (["--all-features"] if all_features else []))
        found: dict[str, Any] = json.loads(text)
        return found

    def _host(self) -> str:
        ran = subprocess.run([self.rustc, "-vV"], capture_output=True, text=True, check=False)
        return ran.stdout.partition("host: ")[2].partition("\n")[0]

    def unit_graph(self, selection: Selection) -> dict[str, Any]:
        """What a build of the selected libraries for the GPU compiles. Raises FC0150, FC0151."""
        arguments = ["build", "--unit-graph", "-Z", "unstable-options", "--lib"]
        arguments += ["--target", names.NVPTX_TRIPLE, "--profile", selection.profile]
        for package in selection.packages:
            arguments += ["--package", package]
        text = self._run([*arguments, *selection.feature_options()])
        graph: dict[str, Any] = json.loads(text)
        if graph.get("version") != 1:
            fail(
                errors.CARGO_FAILED,
                self.program,
                f"its unit graph has version {graph.get('version')}; 1 is known",
                remedy="name another cargo with FATCRATE_CARGO",
            )
        return graph

    def cfgs(self) -> str:
        """``rustc --print cfg`` for the GPU."""
        argv = [self.rustc, "--print", "cfg", "--target", names.NVPTX_TRIPLE]
        ran = subprocess.run(argv, capture_output=True, text=True, check=False)
        return ran.stdout

    def _run(self, arguments: list[str]) -> str:
        argv = [self.program, *arguments, "--manifest-path", self.manifest, *self.mode]
        # The user's environment stays: cargo's configuration, proxies and caches are theirs.
        environment = os.environ | {
            "RUSTC": self.rustc,
            "RUSTC_BOOTSTRAP": "1",
            "CARGO_TERM_COLOR": "never",
        }
        try:
            ran = subprocess.run(
                argv,
                cwd=os.path.dirname(self.manifest),  # cargo looks for its configuration there
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            fail(errors.NO_CARGO, self.program, f"cannot be started: {error.strerror}")
        if ran.returncode:
            _failed(self.manifest, arguments[0], ran.stderr)
        return ran.stdout


def _failed(manifest: str, command: str, text: str) -> NoReturn:
    """Raises FC0151 with cargo's own words."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    # Progress ("Updating …") comes before the error.
    start = next((n for n, line in enumerate(lines) if line.startswith("error")), 0)
    said = lines[start : start + 30] or ["it said nothing"]
    remedy = ""
    if "offline" in text or "--frozen" in text:
        remedy = "run `cargo fetch` once with the network, or leave out --offline"
    elif "--locked" in text:
        remedy = "run `cargo update`, or leave out --locked"
    elif "git_proxy_options" in text:
        # Debian's cargo-web 1.96 with Debian 12's libgit2.
        remedy = (
            "this cargo does not fit its libgit2 and reads no git sources: name another,"
            " such as rustup's, with FATCRATE_CARGO"
        )
    fail(
        errors.CARGO_FAILED,
        manifest,
        f"cargo {command}: {said[0].removeprefix('error: ')}",
        remedy=remedy,
        notes=[line.strip() for line in said[1:]],
    )
