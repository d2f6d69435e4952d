"""The crates of a Bazel workspace, as its compile actions describe them.

``bazel aquery`` lists the actions of a pattern without running them; the argv of each CRATE
step (``crate_argv`` in ``recipe.bzl``) says all that an editor wants to know.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass, field
from typing import Any

from fatcrate.rules import errors
from fatcrate.toolchain.diagnostics import fail

Key = tuple[str, str]  # name, metadata: what makes a crate one


@dataclass
class BazelCrate:
    """A crate. ``deps`` are (extern name, key); ``library`` is the proc macro's."""

    key: Key
    kind: str  # "device", "host" or "proc-macro"
    source: str
    edition: str
    library: str
    cfgs: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    externs: list[tuple[str, str]] = field(default_factory=list)  # (extern name, path)
    deps: list[tuple[str, Key]] = field(default_factory=list)


@dataclass(frozen=True)
class Workspace:
    """Where a workspace's files lie; ``rustc`` is that of the actions."""

    root: str
    execution_root: str
    output_base: str
    rustc: str
    crates: list[BazelCrate]  # each after those that it depends on

    def absolute(self, path: str) -> str:
        """A path of an action, as editors open it."""
        if os.path.isabs(path):
            return path
        for base in (self.root, self.output_base, self.execution_root):
            if os.path.exists(os.path.join(base, path)):
                return os.path.realpath(os.path.join(base, path))
        return os.path.join(self.execution_root, path)


def load(folder: str, pattern: str, program: str) -> Workspace:
    """Asks Bazel. Raises FC0130 when that fails or there are no crates."""
    bazel = shlex.split(program)
    query = f'mnemonic("GpuCompile", deps({pattern}))'
    listed = json.loads(_ask(bazel, folder, "aquery", "--output=jsonproto", query))
    info = _ask(bazel, folder, "info", "workspace", "execution_root", "output_base")
    places = dict(line.split(": ", 1) for line in info.splitlines())
    actions = [action["arguments"] for action in listed.get("actions", ())]
    if not actions:
        fail(
            errors.NO_BAZEL_CRATES,
            pattern,
            "has no Rust crates for the GPU",
            remedy="name targets of gpu_rust_library or gpu_kernels, or what depends on them",
        )
    rustc = actions[0][actions[0].index("--") + 1]
    for base in (places["output_base"], places["execution_root"]):
        if os.path.exists(os.path.join(base, rustc)):
            rustc = os.path.realpath(os.path.join(base, rustc))
    return Workspace(
        places["workspace"],
        places["execution_root"],
        places["output_base"],
        rustc,
        crates([parse(argv) for argv in actions]),
    )


def _ask(bazel: list[str], folder: str, *words: str) -> str:
    try:
        done = subprocess.run(
            [*bazel, *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        fail(
            errors.NO_TOOL,
            bazel[0],
            f"cannot be started: {error.strerror}",
            remedy="install Bazel, or name it with --bazel-program",
        )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "FATAL"))]
        fail(errors.NO_BAZEL_CRATES, "bazel", f"{words[0]} failed", notes=said or [done.stderr])
    return done.stdout


def parse(argv: list[str]) -> BazelCrate:
    """A crate from the argv of its CRATE step."""
    split = argv.index("--")
    step, rustc = argv[:split], argv[split + 1 :]
    found: dict[str, list[str]] = {}
    for words in (step, rustc):
        for index, word in enumerate(words[:-1]):
            found.setdefault(word, []).append(words[index + 1])
    metadata = next(w.removeprefix("-Cmetadata=") for w in rustc if w.startswith("-Cmetadata="))
    kind = "device" if "--target" in rustc else "host"
    if found["--crate-type"] == ["proc-macro"]:
        kind = "proc-macro"
    return BazelCrate(
        key=(found["--crate-name"][0], metadata),
        kind=kind,
        source=rustc[-1],
        edition=found["--edition"][0],
        library=found["--output"][0],
        cfgs=found.get("--cfg", []),
        env=dict(item.split("=", 1) for item in found.get("--env", [])),
        externs=[(name, path) for name, _, path in _externs(found.get("--extern", []))],
    )


def _externs(items: list[str]) -> list[tuple[str, str, str]]:
    return [item.partition("=") for item in items if "=" in item]


def crates(parsed: list[BazelCrate]) -> list[BazelCrate]:
    """Each crate once, as compiled for the GPU where it is, after those that it depends on."""
    rank = {"device": 0, "proc-macro": 1, "host": 2}
    by_library = {crate.library: crate.key for crate in parsed}
    chosen: dict[Key, BazelCrate] = {}
    for crate in sorted(parsed, key=lambda crate: rank[crate.kind]):
        chosen.setdefault(crate.key, crate)
    order: dict[Key, BazelCrate] = {}

    def add(key: Key) -> None:
        crate = chosen[key]
        crate.deps = [
            (name, by_library[path]) for name, path in crate.externs if path in by_library
        ]
        for _, dep in crate.deps:
            if dep not in order:
                add(dep)
        order[key] = crate

    for key in chosen:
        if key not in order:
            add(key)
    return list(order.values())


def entry(crate: BazelCrate, workspace: Workspace, number: dict[Key, int]) -> dict[str, Any]:
    """The crate in rust-project.json, but for the target's own cfgs."""
    root = workspace.absolute(crate.source)
    return {
        "display_name": crate.key[0],
        "root_module": root,
        "edition": crate.edition,
        "deps": [{"crate": number[key], "name": name} for name, key in crate.deps],
        "cfg": crate.cfgs,
        "env": crate.env,
        "is_workspace_member": root.startswith(workspace.root + "/"),
        "is_proc_macro": crate.kind == "proc-macro",
        "source": {"include_dirs": [os.path.dirname(root)], "exclude_dirs": []},
    }
