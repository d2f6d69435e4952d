"""The project file where it is right: keys, defaults, merges, spellings."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fatcrate.fatbin import checks, compression
from fatcrate.lto import budget
from fatcrate.rules.ninja import kernels, project
from fatcrate.rules.ninja.model import Crate, Dep, Project
from fatcrate.rules.ninja.yamlfile import Reader
from fatcrate.toolchain.diagnostics import FatcrateError
from hypothesis import given
from hypothesis import strategies as st

GPU = Crate(key="gpu", name="gpu", source="/fc/lib.rs", origin="gpu", edition="2024")


def load(text: str, *there: str) -> Project:
    found = {*there, "mathlib.rs", "kern/src/lib.rs", "flat/lib.rs", "/abs/x.rs", "../up/lib.rs"}
    return project.load(text, "fatcrate.yaml", "/p", found.__contains__, [GPU])


def names(deps: tuple[Dep, ...]) -> list[tuple[str, str]]:
    return [(dep.extern, dep.crate) for dep in deps]


def test_every_key_of_a_crate() -> None:
    crate = load("""\
version: 1
crates:
  mathlib: {path: mathlib.rs}
  kern-el: {path: ./kern/, deps: [mathlib, {other: gpu}], edition: 2024, features: [fast],
    cfgs: [wide], proc_macro: false, opt_level: s, debug: line-directives-only,
    rustc_flags: [-Cx=1], env: {A: 1.0, B: ""}, name: kern}
""").crates["kern-el"]
    assert (crate.key, crate.name, crate.source) == ("kern-el", "kern", "kern/src/lib.rs")
    assert crate.origin == "kern/src/lib.rs" and crate.remaps == ()
    assert names(crate.deps) == [("", "mathlib"), ("other", "gpu")]
    assert (crate.edition, crate.opt_level, crate.debug) == ("2024", "s", "line-directives-only")
    assert (crate.features, crate.cfgs, crate.rustc_flags) == (("fast",), ("wide",), ("-Cx=1",))
    assert dict(crate.env) == {"A": "1.0", "B": ""}
    assert not crate.proc_macro


def test_every_key_of_a_target() -> None:
    target = load("""\
version: 1
crates: {mathlib: {path: mathlib.rs}}
kernels:
  two-words:
    crates: [mathlib]
    archs: [sm_80, 9.0, 10.0+PTX, "sm_90a sm_86", all-major]
    host: [aarch64, x86_64, aarch64]
    exports: [k]
    opt_level: 1
    panic: abort
    ptxas_options: [-O1, --maxrregcount=32]
    compress: none
    allow: [uncovered-device, never-chosen]
    deny: all
    symbol: other
    min_driver: 535
    budgets: {max_registers: 64, k: {max_stack: 0, min_occupancy: 0.5@256}}
""").targets["two-words"]
    assert [text for text, _ in target.archs] == [
        *("sm_80", "9.0", "10.0+PTX", "sm_90a", "sm_86", "all-major"),
    ]
    assert target.host == ("aarch64", "x86_64")
    assert (target.exports, target.panic) == (("k",), "abort")
    assert target.code == {"opt_level": "1", "min_driver": "535"}
    assert [(name, str(place)) for name, place in target.places] == [("k", "fatcrate.yaml:8:15")]
    assert target.ptxas_options == ("-O1", "--maxrregcount=32")
    assert (target.compress, target.symbol) == ("none", "other")
    assert (target.allow, target.deny) == (("uncovered-device", "never-chosen"), ("all",))
    assert target.min_driver == "535"
    assert target.budgets == ("max_registers=64", "k:max_stack=0", "k:min_occupancy=0.5@256")


def test_keys_that_choose_the_code() -> None:
    target = load("""\
version: 1
crates: {mathlib: {path: mathlib.rs}}
kernels:
  demo:
    crates: [mathlib]
    archs: [sm_80]
    engine: libllvm
    relocatable: true
    partitions: {all: [mathlib]}
    map: true
    remarks: true
    time_trace: true
    print_gc: true
    ftz: true
    div: full
    sqrt: approx
    contract: on
    debug: full
    inline_threshold: 99
    unroll: false
    vectorize: true
    llvm_options: [-unroll-count=2]
""").targets["demo"]
    assert target.code == {
        "div": "full",
        "sqrt": "approx",
        "contract": "on",
        "debug": "full",
        "ftz": True,
        "unroll": False,
        "vectorize": True,
        "inline_threshold": "99",
        "llvm_options": ["-unroll-count=2"],
    }
    assert (target.engine, target.relocatable, target.map) == ("libllvm", True, True)
    assert (target.remarks, target.time_trace, target.questions) == (True, True, {"print_gc": True})
    assert [(part.name, part.kernels_of) for part in target.partitions] == [("all", ("mathlib",))]


def test_defaults_of_a_target() -> None:
    target = load("""\
version: 1
crates: {mathlib: {path: mathlib.rs}}
kernels: {two-words: {crates: mathlib, archs: sm_80}}
""").targets["two-words"]
    assert (target.symbol, target.compress, target.panic) == (
        *("two_words", "balanced", "immediate-abort"),
    )
    assert len(target.host) == 1 and target.exports == ()


def test_defaults_and_what_crates_say() -> None:
    crates = load("""\
version: 1
defaults: {edition: 2024, opt_level: 0, debug: 2, cfgs: [a], rustc_flags: [-Cx]}
crates:
  mathlib: {path: mathlib.rs}
  kern: {path: kern, edition: 2018, opt_level: 3, debug: none, cfgs: [b], rustc_flags: [-Cy]}
""").crates
    one, other, gpu = crates["mathlib"], crates["kern"], crates["gpu"]
    assert (one.edition, one.opt_level, one.debug, one.cfgs) == ("2024", "0", "2", ("a",))
    assert (other.edition, other.opt_level, other.debug) == ("2018", "3", "none")
    assert (other.cfgs, other.rustc_flags) == (("a", "b"), ("-Cx", "-Cy"))
    assert (gpu.edition, gpu.opt_level, gpu.debug, gpu.cfgs) == ("2024", "0", "2", ())


def test_merges() -> None:
    crates = load("""\
version: 1
crates:
  mathlib: &base {path: mathlib.rs, edition: 2024, opt_level: 1}
  kern: {<<: *base, path: kern, opt_level: 2}
  flat: {<<: [{debug: 1}, *base], path: flat}
""").crates
    assert (crates["kern"].edition, crates["kern"].opt_level) == ("2024", "2")
    assert crates["kern"].source == "kern/src/lib.rs"
    assert (crates["flat"].debug, crates["flat"].opt_level) == ("1", "1")


def test_sources_elsewhere_get_a_name_in_place_of_their_path() -> None:
    crates = load("""\
version: 1
crates:
  far: {path: /abs/x.rs}
  up: {path: ../up}
  near: {path: /p/mathlib.rs}
""").crates
    assert (crates["far"].origin, crates["far"].remaps) == (
        *("crate/far", (("/abs", "/crates/far"),)),
    )
    assert (crates["up"].source, crates["up"].remaps) == (
        *("../up/lib.rs", (("../up", "/crates/up"),)),
    )
    assert (crates["near"].source, crates["near"].remaps) == ("mathlib.rs", ())


def test_choices_are_those_of_the_steps() -> None:
    """They are listed here so that reading a project needs no other package."""
    assert sorted(kernels.COMPRESS_MODES) == sorted(compression.MODES)
    assert kernels.BUDGETS == budget.NAMES
    assert sorted(kernels.PACK_CHECKS) == sorted(["all", *checks.NAMES])


_SCALARS = st.one_of(st.text(max_size=8), st.integers(-3, 99), st.booleans(), st.none())
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["version", "crates", "kernels", "defaults", "path", "deps", "archs", "a", "<<"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(tree=_TREES)
def test_any_tree_is_read_or_refused(tree: object) -> None:
    """Never another exception than the one that carries faults to a user."""
    import yaml
    from fatcrate.toolchain.diagnostics import FatcrateError

    try:
        load(yaml.safe_dump(tree, allow_unicode=True))
    except FatcrateError as error:
        assert error.exit_code == 1


@given(text=st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    from fatcrate.toolchain.diagnostics import FatcrateError

    try:
        Reader("x", text).parse()
    except FatcrateError as error:
        assert error.exit_code == 1


def test_the_file_in_the_docs(root: Path) -> None:
    """The first example of docs/ninja.md is a project file."""
    text = (root / "docs/ninja.md").read_text(encoding="utf-8")
    example = text.split("```yaml\n")[1].split("```")[0]
    found = load(example)
    assert list(found.targets) == ["demo"]


def partitions(text: str) -> tuple[list[tuple[str, tuple[str, ...]]], int]:
    target = load(f"""\
version: 1
crates: {{mathlib: {{path: mathlib.rs}}, kern: {{path: mathlib.rs, name: k}}}}
kernels: {{demo: {{crates: [mathlib, kern], archs: sm_80, partitions: {text}}}}}
""").targets["demo"]
    return [(part.name, part.kernels_of) for part in target.partitions], target.auto_partitions


def test_partitions_in_all_forms() -> None:
    assert partitions("auto") == ([], 2)
    assert partitions("1") == ([], 1)
    assert partitions("40") == ([], 2)
    assert partitions("[mathlib, kern]") == ([("mathlib", ("mathlib",)), ("kern", ("kern",))], 0)
    assert partitions("{a: [mathlib, kern/one], b: kern}") == (
        [("a", ("mathlib", "kern/one")), ("b", ("kern",))],
        0,
    )


def _bomb(form: str) -> str:
    """Twelve lines, each of which takes in the one before nine times."""
    lines = [form % (i, i, ", ".join([f"*x{i - 1}"] * 9)) for i in range(1, 13)]
    return "\n".join(["x0: &x0 {path: a.rs}", *lines, "crates: {a: {<<: *x12}}"])


def _many(line: str) -> str:
    return "crates:\n" + "".join(line.replace("#", str(i)) for i in range(4000))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (_many("  c#: {path: a.rs}\n"), ""),
        (_many("  c#: {path: a.rs, deps: [d#]}\n"), "FC0115"),
        (_many("  c#: {path: a.rs, bad: 1}\n"), "FC0111"),
        ("crates: " + "[" * 100_000, "FC0110"),
        (_bomb("x%d: &x%d {<<: [%s]}"), "FC0111"),
        (_bomb("x%d: &x%d [%s]"), "FC0111"),
    ],
    ids=["crates", "dependencies", "keys", "nesting", "merges", "lists"],
)
def test_hostile_files_take_seconds(text: str, code: str) -> None:
    """Not minutes, and not all memory."""
    begin, found = time.monotonic(), ""
    try:
        project.load(f"version: 1\n{text}", "fatcrate.yaml", "/p", lambda _: True, [])
    except FatcrateError as error:
        found = error.diagnostics[0].kind.code
    assert found == code
    assert time.monotonic() - begin < 20
