"""`build.ninja`: escaping, long commands, and the whole text of a small project."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from fatcrate.rules.ninja import runner, writer
from fatcrate.rules.ninja.graph import Edge, Graph
from fatcrate.rules.ninja.places import Places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

AGAIN = writer.Regeneration("fatcrate.yaml", ("fatcrate", "build"), ("fatcrate.yaml",))


def written(edges: list[Edge], places: Places) -> str:
    graph = Graph(edges, {"all of it": tuple(path for edge in edges for path in edge.outputs)})
    return writer.text(graph, places, AGAIN, 1)


def build(places: Places, *edges: Edge) -> None:
    """Writes `build.ninja` and runs Ninja."""
    Path(places.folder).mkdir(exist_ok=True)
    (Path(places.folder) / "build.ninja").write_text(written(list(edges), places))
    (Path(places.root) / "fatcrate.yaml").write_text("version: 1\n")
    (Path(places.folder) / "build.ninja").touch()
    done = subprocess.run([runner.find()], cwd=places.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def copy(source: str, target: str) -> Edge:
    return Edge("step", f"copy {source}", ("cp", source, target), (target,), (source,))


ODD = [
    "a b",
    "a$b",
    "a$ b",
    "a:b",
    "a|b",
    "it's",
    'say "x"',
    "ü",
    "a#b",
    "-x",
    "a;b",
    "a&b",
    "$(x)",
]


@pytest.mark.parametrize("inside", [True, False])
def test_odd_paths(tmp_path: Path, inside: bool) -> None:
    root = tmp_path / "the $root: 'ü|\""
    root.mkdir()
    folder = root / "o $ut" if inside else tmp_path / "o $ut: |"
    places = Places(str(root), str(folder))
    for name in ODD:
        (root / name).write_text(name)
    build(places, *(copy(f"./{name}", f"{places.out}/{name}") for name in ODD))
    assert sorted(path.name for path in folder.iterdir() if path.name in ODD) == sorted(ODD)
    for name in ODD:
        assert (folder / name).read_text() == name


_WORDS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\n\r"), max_size=20
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(_WORDS, min_size=1, max_size=8))
def test_any_word_reaches_the_step(tmp_path: Path, words: list[str]) -> None:
    places = Places(str(tmp_path), str(tmp_path / "out"))
    (tmp_path / "in").write_text("".join(words))
    (tmp_path / "out/x").unlink(missing_ok=True)
    script = 'out=$1; shift; printf "%s\\0" "$@" > "$out"'
    argv = ("sh", "-c", script, "sh", "out/x", *words)
    build(places, Edge("step", "echo", argv, ("out/x",), ("in",)))
    assert (tmp_path / "out/x").read_bytes().decode().split("\0")[:-1] == words


def test_a_long_command_goes_through_a_file(tmp_path: Path) -> None:
    places = Places(str(tmp_path), str(tmp_path / "out"))
    (tmp_path / "in").write_text("")
    step = tmp_path / "step"
    # What `fatcrate COMMAND @FILE` does, in small.
    step.write_text('#!/bin/sh\ncp "${1#@}" out/x\n')
    step.chmod(0o755)
    words = [f"--word={index} 'x' $y" for index in range(10_000)]
    build(places, Edge("step", "long", ("./step", *words), ("out/x",), ("in",)))
    assert shlex.split((tmp_path / "out/x").read_text()) == words
    assert not (tmp_path / "out/x.args").exists()


def test_whole_text(tmp_path: Path) -> None:
    places = Places("/project", "/project/out")
    edges = [
        Edge("crate", "compile k", ("fc", "compile", "k.rs"), ("out/c/libk.rlib",), ("k.rs",)),
        Edge("step", "link d", ("fc", "link"), ("out/d.bc", "out/d.json"), ("out/c/libk.rlib",)),
    ]
    graph = Graph(edges, {"d": ("out/d.bc",), "c/libk.rlib": ("out/c/libk.rlib",)})
    text = writer.text(graph, places, AGAIN, 2)
    assert (
        text[text.index("\nbuild ") + 1 :]
        == """\
build build.ninja: regenerate $
    ../fatcrate.yaml
  what = read the project file
  argv = fatcrate build
build c/libk.rlib: crate $
    ../k.rs
  what = compile k
  depfile = c/libk.rlib.d
  argv = fc compile k.rs
build d.bc d.json: step $
    c/libk.rlib
  what = link d
  argv = fc link
build d: phony $
    d.bc
default d.bc c/libk.rlib
"""
    )


@pytest.mark.parametrize(
    ("folder", "out", "base", "node"),
    [
        ("/project/out", "out", "..", "../src/x.rs"),
        ("/project/a/b", "a/b", "../..", "../../src/x.rs"),
        ("/elsewhere", "/elsewhere", "/project", "/project/src/x.rs"),
        ("/project2", "/project2", "/project", "/project/src/x.rs"),
    ],
)
def test_places(folder: str, out: str, base: str, node: str) -> None:
    places = Places("/project", folder)
    assert (places.out, places.base, places.node("src/x.rs")) == (out, base, node)
    assert places.node(f"{out}/demo/x.ptx") == "demo/x.ptx"
    assert places.node("/abs/x") == "/abs/x"
    assert places.absolute("src") == "/project/src"
