"""Dep-info of rustc in, depfile of Ninja out; Ninja itself is the judge."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fatcrate.rules import depfile
from fatcrate.rules.ninja import runner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def test_parses_what_rustc_writes() -> None:
    text = (
        "out/x y.d: a\\ b.rs src/$c.rs d:e.rs src/$c.rs\n\nliba.rlib: wrong.rs\n\na\\ b.rs:\n\n"
        "# env-dep:HOME=/somewhere\n"
    )
    found = depfile.parse_dep_info(text, "out/x y.d")
    assert found == ["a b.rs", "src/$c.rs", "d:e.rs"]


def test_a_missing_rule_is_not_an_empty_one() -> None:
    with pytest.raises(ValueError, match=r"no rule for other\.d"):
        depfile.parse_dep_info("x.d: a.rs\n", "other.d")


@pytest.mark.parametrize("name", ["a;b", "a*b", "a|b", "a<b", "a`b", "a\\b", "a\tb", "a\nb", "a:"])
def test_names_that_ninja_cannot_track(name: str) -> None:
    assert depfile.untrackable(name)


def read_by_ninja(folder: Path, names: list[str]) -> list[str]:
    """The dependencies that Ninja takes from a depfile with these names."""
    (folder / "made.d").write_text(depfile.ninja_depfile("out", names), encoding="utf-8")
    (folder / "build.ninja").write_text(
        "rule r\n  command = cp made.d out.d && touch out\n  depfile = out.d\n  deps = gcc\n"
        "build out: r\n",
        encoding="utf-8",
    )
    (folder / "out").unlink(missing_ok=True)
    subprocess.run([runner.find()], cwd=folder, check=True, capture_output=True)
    listed = subprocess.run(
        [runner.find(), "-t", "deps", "out"], cwd=folder, check=True, capture_output=True
    ).stdout.decode("utf-8")
    return [line[4:] for line in listed.splitlines() if line.startswith("    ")]


@pytest.mark.parametrize(
    "name",
    [
        "plain.rs",
        "a b",
        "a $b",
        "a$$b",
        "a#b",
        "a:b",
        "it's",
        'say "x"',
        "ü/ß.rs",
        "%&()[]{}=+~!?,@",
    ],
)
def test_ninja_reads_back_what_is_written(tmp_path: Path, name: str) -> None:
    assert read_by_ninja(tmp_path, [name, "z"]) == [name, "z"]


#: Names without the folder parts that Ninja would fold, such as `./` and `a//b`.
_NAMES = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="/\u0085\u2028\u2029"),
    min_size=1,
    max_size=12,
).filter(lambda name: not depfile.untrackable(name) and name not in (".", ".."))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(_NAMES, min_size=1, max_size=30, unique=True))
def test_any_name_comes_back(tmp_path: Path, names: list[str]) -> None:
    assert read_by_ninja(tmp_path, names) == names
