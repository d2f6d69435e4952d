"""Bazel and Ninja make the same of one project: the same command lines and the same bytes.

The project is the folder ``both``: its ``fatcrate.yaml`` and its ``BUILD`` describe one thing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fatcrate.toolchain.discover import Tools
from support import bazel
from support.bazel import Workspace

PROJECT = Path(__file__).parent / "both"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The project, built by both."""
    base = tmp_path_factory.mktemp("both")
    shutil.copytree(PROJECT, base / "project")
    workspace = bazel.scratch(base / "project", base / "bazel", {})
    subprocess.run(bazel.fatcrate("build", "--quiet"), cwd=workspace.root, check=True, timeout=300)
    workspace.build("//...")
    yield workspace
    workspace.close()


@dataclass(frozen=True)
class Rewriting:
    """Replaces paths by names that both front ends share."""

    rules: tuple[tuple[str, str], ...]  # (regular expression, replacement), in order

    def apply(self, words: list[str]) -> tuple[str, ...]:
        return tuple(self._word(word) for word in words)

    def _word(self, word: str) -> str:
        for pattern, replacement in self.rules:
            word = re.sub(pattern, replacement, word)
        return word


def ninja_commands(workspace: Workspace, tools: Tools, cache: Path) -> set[tuple[str, ...]]:
    """What build.ninja runs, without what only Ninja needs (depfiles) and how steps start.

    With an empty cache even the sysroot is to be built; nothing is run here.
    """
    plan = bazel.fatcrate("build", "--quiet", "--dry-run", "--out", "planned")
    environ = os.environ | {"XDG_CACHE_HOME": str(cache)}
    subprocess.run(plan, cwd=workspace.root, env=environ, check=True, timeout=60)
    show = [bazel.ninja(), "-C", workspace.root / "planned", "-t", "commands"]
    done = subprocess.run(show, capture_output=True, text=True, check=True)
    found = []
    for command in done.stdout.splitlines():
        words = shlex.split(command.partition(" exec ")[2], comments=True)
        if "fatcrate" not in words:
            continue  # an edge that only gives outputs a name
        words = words[words.index("fatcrate") + 1 :]
        for option in ("--depfile", "--depfile-target", "--depfile-base"):
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        found.append(words)
    rewriting = ninja_rewriting(found, tools)
    return {rewriting.apply(words) for words in found if words[0] != "build"}


def ninja_rewriting(commands: list[list[str]], tools: Tools) -> Rewriting:
    """Names for the tools, the sysroots and the outputs."""
    rules = [
        (f"^(.*=)?{re.escape(path)}$", rf"\1{name}")
        for path, name in (
            (tools.rustc, "RUSTC"),
            (tools.host_linker, "CC"),
            (tools.ptxas, "PTXAS"),
            (tools.libdevice, "LIBDEVICE"),
            (tools.nvlink, "NVLINK"),
            (tools.libllvm, "LIBLLVM"),
            (tools.rust_src, "RUST_SRC"),
            ("planned/.fatcrate/toolchain.json", "IDENTITY"),
        )
    ]
    for words in commands:
        if words[0] == "sysroot":
            directory = words[words.index("--output") + 1]
            panic = words[words.index("--panic") + 1]
            rules.append((re.escape(directory), f"SYSROOT-{panic}"))
    rules += [
        (re.escape(str(bazel.CHECKOUT / "toolchain/device")), "DEVICE"),
        ("planned/crates-host/([^/]*)(?=/|$)", r"OUT/\1/host"),
        ("planned/crates/", "OUT/"),
        ("planned/", "OUT/"),
        (r"^(\w+)=fatcrate\.yaml:\d+:\d+$", r"\1=PLACE"),
    ]
    return Rewriting(tuple(rules))


def bazel_commands(workspace: Workspace) -> set[tuple[str, ...]]:
    """What Bazel runs."""
    run = workspace.run("aquery", 'mnemonic("Gpu.*", deps(//...))', "--output=jsonproto")
    actions = json.loads(run.stdout)["actions"]
    rewriting = Rewriting(
        (
            (r"external/fatcrate_machine/rustc/rustc", "RUSTC"),
            (r"external/fatcrate_machine/host_linker/\w+", "CC"),
            (r"external/fatcrate_machine/cuda/ptxas", "PTXAS"),
            (r"external/fatcrate_machine/cuda/libdevice.10.bc", "LIBDEVICE"),
            (r"external/fatcrate_machine/cuda/nvlink", "NVLINK"),
            (r"external/fatcrate_machine/rustc/lib/libLLVM[^/]*$", "LIBLLVM"),
            (r"external/fatcrate_machine/rust_src", "RUST_SRC"),
            (r"^(\w+)=//:[\w-]+$", r"\1=PLACE"),
            (r"external/fatcrate_tools/(toolchain|rust).json", "IDENTITY"),
            (r"bazel-out/[^/]*/bin/external/fatcrate/rules/sysroot-", "SYSROOT-"),
            (r"bazel-out/[^/]*/bin/external/fatcrate/toolchain/device/gpu/", "OUT/"),
            (r"bazel-out/[^/]*/bin/", "OUT/"),
            (r"external/fatcrate/toolchain/device", "DEVICE"),
        )
    )
    start = len(["python3", "-I", "-S", "-B", "step.py", "packages"])
    commands = {rewriting.apply(action["arguments"][start:]) for action in actions}
    return needed(commands)


def needed(commands: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """All commands but those that compile a crate for this machine to no purpose: Bazel plans
    them for every library and runs none that nothing asks for."""
    spare = {c for c in commands if c[0] == "compile" and "/host/" in c[2]}
    kept = commands - spare
    while True:
        externs = {word.rpartition("=")[2] for command in kept for word in command}
        more = {command for command in spare - kept if command[2] in externs}
        if not more:
            return kept
        kept |= more


def difference(ours: set[tuple[str, ...]], theirs: set[tuple[str, ...]]) -> list[str]:
    """The commands that one side alone has."""
    return [
        *(f"Bazel: {shlex.join(command)}" for command in sorted(ours - theirs)),
        *(f"Ninja: {shlex.join(command)}" for command in sorted(theirs - ours)),
    ]


def test_the_same_commands(project: Workspace, tools: Tools, tmp_path: Path) -> None:
    ours, theirs = bazel_commands(project), ninja_commands(project, tools, tmp_path)
    assert {command[0] for command in ours} == {
        *("sysroot", "compile", "partition", "link", "merge-manifests", "codegen", "assemble"),
        *("nvlink", "abi-check", "merge-reports", "pack", "embed"),
    }
    found = difference(ours, theirs)
    assert not found, "\n".join(found)


def test_the_same_bytes(project: Workspace) -> None:
    out = project.root / "fatcrate-out"
    made = project.hashes()
    compared = []
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        name = str(path.relative_to(out))
        if name.startswith((".", "build.ninja")) or path.suffix == ".d":
            continue
        if name.endswith(".trace.json"):
            continue  # durations
        name = re.sub(r"^crates-host/([^/]*)/", r"\1/host/", name)
        name = re.sub(r"^crates/gpu/", "external/fatcrate/toolchain/device/gpu/gpu/", name)
        name = name.removeprefix("crates/")
        assert bazel.sha256(path) == made[name], name
        compared.append(name)
    assert {"demo.fatbin", "demo.aarch64.o", "demo/sm_100a.cubin", "kern/libkern.rlib"} <= {
        *compared
    }
    assert {"split.first.fatbin", "split/rest/sm_80.remarks.yaml", "split/first/link.map"} <= {
        *compared
    }
    assert {"spread.2.fatbin", "spread/plan.json", "joined.fatbin", "joined/sm_80.cubin"} <= {
        *compared
    }
    assert "generate/libgenerate.so" in compared
    assert len(compared) > 80


def test_an_edit_makes_its_own_partition_anew(project: Workspace) -> None:
    """The last test of this file: it changes the project."""
    source = project.root / "alone.rs"
    source.write_text(source.read_text(encoding="utf-8").replace("42", "43"), encoding="utf-8")
    run = project.build("//:joined", "//:spread")
    assert run.steps("compile") == ["//:alone"]
    assert run.steps("codegen") == ["//:joined", "//:spread"]
    assert run.steps("assemble") == ["//:joined", "//:spread"]
    assert run.steps("nvlink") == ["//:joined"]
    assert run.steps("pack") == ["//:joined", "//:spread"]
    subprocess.run(bazel.fatcrate("build", "--quiet"), cwd=project.root, check=True, timeout=300)
    made = project.hashes()
    for name in ("joined.fatbin", "spread.1.fatbin", "spread.2.fatbin", "spread.x86_64.o"):
        assert bazel.sha256(project.root / "fatcrate-out" / name) == made[name], name
