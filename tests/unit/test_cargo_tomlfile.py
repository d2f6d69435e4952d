"""TOML with positions, against Python's own reader and the text itself."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from fatcrate.rules.cargo import tomlfile

EVERY_FORM = """\
# a comment
top = "a \\"quoted\\" # text"   # behind
'lit key' = 'C:\\no\\escape'
"b.c" = \"\"\"
two
 "lines" \\"\"\"\"\"
many = '''it's'''
[a . b]
x.y."z w" = [1, [2.5, "three"], { four = [true], "fi ve" = 1979-05-27T07:32:00Z, },
  # between
  'six',
]
[[rows]]
n = 1
[[rows]]
n = 2
[rows.inner]
deep = {}
[a]
last = ""
"""


def plain(node: yaml.Node) -> Any:
    """A node's values, all as text."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    return node.value


def words(value: Any) -> Any:
    """tomllib's values with scalars as TOML writes them, where that is one way only."""
    if isinstance(value, dict):
        return {key: words(item) for key, item in value.items()}
    if isinstance(value, list):
        return [words(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else value


def check_places(node: yaml.Node, lines: list[str]) -> None:
    """Every scalar stands where its mark says."""
    if isinstance(node, yaml.ScalarNode):
        found = lines[node.start_mark.line][node.start_mark.column :]
        first = node.value.split("\n")[0]
        assert found[:1] in ("'", '"') or found.startswith(first), found
        return
    for item in node.value:
        for part in item if isinstance(item, tuple) else (item,):
            check_places(part, lines)


def test_every_form() -> None:
    root = tomlfile.parse(EVERY_FORM.replace(" },\n", " },\n"))
    wanted = words(tomllib.loads(EVERY_FORM.replace(", },", " },")))
    wanted["a"]["b"]["x"]["y"]["z w"][0] = "1"
    wanted["a"]["b"]["x"]["y"]["z w"][1][0] = "2.5"
    wanted["a"]["b"]["x"]["y"]["z w"][2]["fi ve"] = "1979-05-27T07:32:00Z"
    wanted["rows"] = [{"n": "1"}, {"n": "2", "inner": {"deep": {}}}]
    assert plain(root) == wanted
    check_places(root, EVERY_FORM.split("\n"))


def test_places_of_keys_and_values() -> None:
    node = tomlfile.find(tomlfile.parse(EVERY_FORM), "a", "b", "x", "y", "z w")
    assert isinstance(node, yaml.SequenceNode)
    marks = [(item.start_mark.line + 1, item.start_mark.column + 1) for item in node.value]
    assert marks == [(9, 14), (9, 17), (9, 33), (11, 3)]
    assert tomlfile.find(tomlfile.parse(EVERY_FORM), "a", "none") is None


def _manifests() -> list[Path]:
    root = Path(__file__).parent.parent
    return [*root.glob("crates/**/Cargo.toml"), *root.glob("cases/cargo/**/Cargo.toml")]


def test_manifests_are_read_as_python_reads_them() -> None:
    def texts(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: texts(item) for key, item in value.items()}
        return [texts(item) for item in value] if isinstance(value, list) else str(value).lower()

    found = _manifests()
    assert len(found) > 40
    for path in found:
        text = path.read_text("utf-8")
        root = tomlfile.parse(text)
        assert texts(plain(root)) == texts(tomllib.loads(text)), path
        check_places(root, text.split("\n"))


@pytest.mark.parametrize(
    "text", ["a = ", "[a", "= 1", 'a = "b', "[a]\nb = [1", "a = 1\n[a.b]\nc=2"]
)
def test_other_text_ends_it(text: str) -> None:
    tomlfile.parse(text)
