"""Chains of dependencies, and what turns a feature off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fatcrate.rules.cargo import graph, refusal, why
from fatcrate.toolchain.diagnostics import Collector, Diagnostic

REGISTRY = "registry+https://example.org/index"


def dependency(name: str, **more: Any) -> dict[str, Any]:
    spec = {"name": name, "kind": None, "rename": None, "features": [], "optional": False}
    return spec | {"uses_default_features": True} | more


def package(name: str, source: str, features: dict[str, list[str]], *deps: Any) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "manifest_path": f"/p/{name}/Cargo.toml",
        "source": source or None,
        "features": features,
        "dependencies": list(deps),
    }


def unit(name: str, features: list[str], *deps: tuple[str, int]) -> dict[str, Any]:
    return {
        "pkg_id": name,
        "target": {"kind": ["lib"], "name": name, "src_path": f"/p/{name}/src/lib.rs"},
        "platform": "nvptx64-nvidia-cuda",
        "mode": "build",
        "features": features,
        "dependencies": [{"extern_crate_name": extern, "index": i} for extern, i in deps],
    }


def made(packages: list[dict[str, Any]], units: list[dict[str, Any]]) -> graph.Graph:
    known = graph.packages({"packages": packages})
    return graph.read({"units": units, "roots": [0]}, known)


STD = {"default": ["std"], "std": []}


def test_own_manifest_with_default_features() -> None:
    found = made(
        [package("app", "", {}, dependency("leaf")), package("leaf", REGISTRY, STD)],
        [unit("app", [], ("leaf", 1)), unit("leaf", ["default", "std"])],
    )
    (cause,) = why.causes(found, 1, "std")
    assert cause.chain == ("app 1.0.0", "leaf 1.0.0 (feature `std`)")
    assert cause.own
    assert cause.remedy == "in app's Cargo.toml give `leaf` `default-features = false`"


def test_listed_renamed_and_through_another_feature() -> None:
    features = {"default": [], "full": ["std"], "std": []}
    spec = dependency("leaf", rename="l", features=["full"])
    found = made(
        [package("app", "", {}, spec), package("leaf", REGISTRY, features)],
        [unit("app", [], ("l", 1)), unit("leaf", ["default", "full", "std"])],
    )
    (cause,) = why.causes(found, 1, "std")
    assert cause.remedy == 'in app\'s Cargo.toml give `l` no "full" in its features'


def test_a_package_from_elsewhere_that_insists() -> None:
    found = made(
        [
            package("app", "", {}, dependency("middle")),
            package("middle", REGISTRY, {}, dependency("leaf")),
            package("leaf", REGISTRY, STD),
        ],
        [unit("app", [], ("middle", 1)), unit("middle", [], ("leaf", 2)), unit("leaf", ["std"])],
    )
    (cause,) = why.causes(found, 2, "std")
    assert cause.chain == ("app 1.0.0", "middle 1.0.0", "leaf 1.0.0 (feature `std`)")
    assert not cause.own
    assert cause.remedy == (
        "middle 1.0.0 always turns it on: use another version or crate in its place, or patch it"
    )


def test_features_that_turn_on_features_of_dependencies() -> None:
    middle = {"default": ["big"], "big": ["leaf?/std"]}
    off = dependency("leaf", uses_default_features=False)
    found = made(
        [
            package("app", "", {"default": ["more"], "more": ["middle/big"]}, dependency("middle")),
            package("middle", REGISTRY, middle, off),
            package("leaf", REGISTRY, STD),
        ],
        [
            unit("app", ["default", "more"], ("middle", 1)),
            unit("middle", ["big", "default"], ("leaf", 2)),
            unit("leaf", ["std"]),
        ],
    )
    remedies = [cause.remedy for cause in why.causes(found, 2, "std")]
    assert remedies == [
        "in app's Cargo.toml give `middle` `default-features = false`",
        "import with --no-default-features, or take `more` out of the features of app",
    ]


def test_circles_of_features_end() -> None:
    features = {"default": ["a"], "a": ["b"], "b": ["a", "std"], "std": ["default"]}
    assert why.closure(features, ["default"]) == {"default", "a", "b", "std"}


def test_crates_merge_and_split() -> None:
    """Same features on both machines: one crate; others: the host's has a name of its own."""
    units = [
        unit("app", [], ("derive", 1), ("same", 2), ("split", 3)),
        unit("derive", [], ("same", 4), ("split", 5)),
        unit("same", []),
        unit("split", []),
        unit("same", []),
        unit("split", ["host"]),
    ]
    for index in (1, 4, 5):
        units[index]["platform"] = None
    units[1]["target"]["kind"] = ["proc-macro"]
    for item in units:
        item["profile"] = {"opt_level": "3"}
        item["target"] |= {"edition": "2021"}
    packages = [package(name, "", {}) for name in ("app", "derive", "same", "split")]
    crates, of_unit = graph.crates(made(packages, units), lambda package: False)
    assert sorted(crates) == ["app", "derive", "same", "split", "split.host"]
    assert (of_unit[2], of_unit[4]) == ("same", "same")
    assert (of_unit[3], of_unit[5]) == ("split", "split.host")
    assert crates["derive"].deps == (("same", "same"), ("split", "split.host"))


def test_only_the_device_library_is_called_gpu() -> None:
    units = [unit("app", [], ("gpu", 1)), unit("gpu", [])]
    for item in units:
        item["profile"] = {}
        item["target"] |= {"edition": "2021"}
    found = made([package("app", "", {}), package("gpu", REGISTRY, {})], units)
    assert sorted(graph.crates(found, lambda p: p.name == "gpu")[0]) == ["app", "gpu"]
    assert sorted(graph.crates(found, lambda p: False)[0]) == ["app", "gpu-1.0.0"]


def test_a_dependency_that_a_feature_brings() -> None:
    """Nobody can edit `middle`, but its feature `threads` is what has `leaf` in it."""
    middle = {"default": ["threads"], "threads": ["dep:leaf"], "leaf": []}
    found = made(
        [
            package("app", "", {}, dependency("middle")),
            package("middle", REGISTRY, middle, dependency("leaf", optional=True)),
            package("leaf", REGISTRY, STD, dependency("deep")),
            package("deep", REGISTRY, {}),
        ],
        [
            unit("app", [], ("middle", 1)),
            unit("middle", ["default", "threads"], ("leaf", 2)),
            unit("leaf", ["std"], ("deep", 3)),
            unit("deep", []),
        ],
    )
    remedy = "in app's Cargo.toml give `middle` `default-features = false`"
    (cause,) = why.causes(found, 2, "std")
    assert cause.note() == (
        "app 1.0.0 -> middle 1.0.0 (feature `threads`) -> leaf 1.0.0 (feature `std`)"
    )
    assert cause.remedy == remedy and cause.own
    (cause,) = why.presence(found, 3)
    assert cause.note() == (
        "app 1.0.0 -> middle 1.0.0 (feature `threads`) -> leaf 1.0.0 -> deep 1.0.0"
    )
    assert cause.remedy == remedy


def test_no_feature_takes_out_what_is_there_without_one() -> None:
    found = made(
        [
            package("app", "", {"x": ["dep:leaf"]}, dependency("leaf", optional=True), MIDDLE),
            package("middle", REGISTRY, {}, dependency("leaf")),
            package("leaf", REGISTRY, {}),
        ],
        [
            unit("app", ["x"], ("leaf", 2), ("middle", 1)),
            unit("middle", [], ("leaf", 2)),
            unit("leaf", []),
        ],
    )
    assert why.presence(found, 2) == []
    assert why.presence(found, 1) == []


MIDDLE = dependency("middle")
NO_STD, STD_CRATE = "#![no_std]\n", "pub fn f() {}\n"


def refused(tmp_path: Path, packages: list[dict[str, Any]], units: list[dict[str, Any]]) -> str:
    """What an import says of these units, whose sources are under ``tmp_path``."""
    for item in units:
        item["target"]["src_path"] = str(tmp_path / f"{item['pkg_id']}.rs")
    faults = Collector()
    refusal.check(made(packages, units), "", faults)
    return "\n".join(d.render() for d in sorted(faults.errors, key=Diagnostic.sort_key))


def test_what_goes_with_a_hopeless_crate_is_no_fault_of_its_own(tmp_path: Path) -> None:
    for name, text in [("app", NO_STD), ("runtime", STD_CRATE), ("z-sys", STD_CRATE)]:
        (tmp_path / f"{name}.rs").write_text(text)
    packages = [
        package("app", "", {}, dependency("runtime")),
        package("runtime", REGISTRY, {}, dependency("z-sys")),
        package("z-sys", REGISTRY, {}) | {"links": "z"},
    ]
    units = [
        unit("app", [], ("runtime", 1)),
        unit("runtime", [], ("z_sys", 2)),
        unit("z-sys", []),
    ]
    packages[1]["links"] = packages[0]["links"] = None
    assert refused(tmp_path, packages, units) == (
        "error[FC0152]: runtime 1.0.0: needs `std`: it does not declare #![no_std]\n"
        "  note: pulled in by app 1.0.0 -> runtime 1.0.0\n"
        "  help: runtime has no feature that turns `std` off: use another crate"
    )
    (tmp_path / "runtime.rs").write_text(NO_STD)
    assert refused(tmp_path, packages, units) == (
        "error[FC0153]: z-sys 1.0.0: is there for the native library 'z', machine code for a CPU\n"
        "  note: pulled in by app 1.0.0 -> runtime 1.0.0 -> z-sys 1.0.0\n"
        "  help: use a crate in pure Rust"
    )
