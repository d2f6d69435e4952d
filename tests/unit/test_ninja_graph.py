"""Edges of projects: which crates are compiled as what, in which order, from which inputs."""

from __future__ import annotations

from types import SimpleNamespace

from fatcrate.rules import recipe
from fatcrate.rules.ninja import archs, project, targets
from fatcrate.rules.ninja.graph import Edge, Graph, Setting, closure, device_crates
from fatcrate.rules.ninja.model import Crate, Project
from fatcrate.rules.ninja.places import Places
from fatcrate.toolchain import arch
from fatcrate.toolchain.diagnostics import Collector
from fatcrate.toolchain.discover import Tools

GPU = Crate(key="gpu", name="gpu", source="/fc/gpu/src/lib.rs", origin="fatcrate/gpu")


def load(text: str) -> Project:
    return project.load("version: 1\n" + text, "fatcrate.yaml", "/p", lambda _: True, [GPU])


def graph(text: str, prebuilt: bool = False) -> Graph:
    loaded = load(text)
    names = ("immediate-abort", "abort")
    sysroots = {panic: "" if prebuilt else f"/cache/{panic}" for panic in names}
    setting = Setting(
        recipe=recipe.load(),
        tools=SimpleNamespace(
            step=["fc"],
            rustc="rustc",
            rust_src="library",
            host_linker="cc",
            ptxas="ptxas",
            libdevice="/libdevice.bc",
            identity="out/.fatcrate/toolchain.json",
        ),
        places=Places("/p", "/p/out"),
        stamps={"rustc": "out/.fatcrate/rustc.json", "host": "out/.fatcrate/host.json"},
        archs={
            name: arch.parse_list(text for text, _ in target.archs)
            for name, target in loaded.targets.items()
        },
        sysroots=sysroots,
        sysroot_libs={panic: [("core", f"/cache/{panic}/libcore.rlib")] for panic in names},
    )
    return targets.build(loaded, setting)


def edge(made: Graph, what: str) -> Edge:
    (found,) = (edge for edge in made.edges if edge.what == what)
    return found


def whats(made: Graph, word: str = "") -> list[str]:
    return [edge.what for edge in made.edges if edge.what.startswith(word)]


DIAMOND = """\
crates:
  top: {path: top.rs, deps: [left, right]}
  left: {path: left.rs, deps: [base]}
  right: {path: right.rs, deps: [base]}
  base: {path: base.rs}
  alone: {path: alone.rs}
kernels:
  demo: {crates: [top], archs: [sm_90, compute_90], host: [x86_64, aarch64]}
"""


def test_dependencies_first_left_to_right() -> None:
    assert closure(load(DIAMOND), ["top"]) == ["base", "left", "right", "top"]
    assert closure(load(DIAMOND), ["right", "top"]) == ["base", "right", "left", "top"]


def test_steps_of_a_target() -> None:
    made = graph(DIAMOND)
    assert [what for what in whats(made) if not what.startswith("check ") or "ABI" in what] == [
        "build core and alloc for the GPU, panic=immediate-abort",
        "compile base",
        "compile left",
        "compile right",
        "compile top",
        "link demo",
        "generate demo for sm_90",
        "assemble demo for sm_90",
        "generate demo for compute_90",
        "check the ABI of demo",
        "pack demo",
        "embed demo for x86_64",
        "embed demo for aarch64",
        "write the header of demo",
        "compile alone",
    ]
    assert made.names["demo"] == (
        "out/demo.fatbin",
        "out/demo.report.json",
        "out/demo.manifest.json",
        "out/demo.x86_64.o",
        "out/demo.aarch64.o",
        "out/demo.h",
    )
    assert made.names["alone"] == ("out/crates/alone/libalone.rlib",)


def test_inputs_cover_what_the_argv_reads() -> None:
    top = edge(graph(DIAMOND), "compile top")
    assert set(top.inputs) == {
        "top.rs",
        "out/.fatcrate/rustc.json",
        "/cache/immediate-abort/libcore.rlib",
        *(f"out/crates/{key}/lib{key}.rlib" for key in ("base", "left", "right")),
    }
    assert [word for word in top.argv if word.startswith("-Ldependency")] == [
        "-Ldependency=out/crates/base",
        "-Ldependency=out/crates/left",
        "-Ldependency=out/crates/right",
    ]
    link = edge(graph(DIAMOND), "link demo")
    assert "out/.fatcrate/toolchain.json" in link.inputs and "/libdevice.bc" in link.inputs
    assert [link.argv[i + 1] for i, word in enumerate(link.argv) if word == "--crate"] == [
        f"{key}=out/crates/{key}/lib{key}.rlib" for key in ("base", "left", "right", "top")
    ]


def test_every_input_is_made_or_is_a_source() -> None:
    made = graph(DIAMOND)
    outputs = set(made.outputs())
    for one in made.edges:
        for path in one.inputs:
            assert path in outputs or not path.startswith("out/") or ".fatcrate/" in path


MACROS = """\
crates:
  syn: {path: syn.rs, deps: [quote]}
  quote: {path: quote.rs}
  shared: {path: shared.rs}
  derive: {path: derive.rs, proc_macro: true, deps: [syn, shared]}
  lib: {path: lib.rs, deps: [derive, shared]}
  kern: {path: kern.rs, deps: [lib, gpu]}
kernels:
  demo: {crates: [kern], archs: [sm_90]}
"""


def test_proc_macros_and_what_serves_them_are_for_this_machine() -> None:
    made = graph(MACROS)
    assert set(whats(made, "compile")) == {
        "compile quote for this machine",
        "compile syn for this machine",
        "compile shared for this machine",
        "compile derive for this machine",
        "compile shared",
        "compile lib",
        "compile gpu",
        "compile kern",
    }
    kern = edge(made, "compile kern")
    assert "out/crates/derive/libderive.so" in kern.inputs
    assert not [path for path in kern.inputs if "crates-host" in path]
    derive = edge(made, "compile derive for this machine")
    assert "out/crates-host/syn/libsyn.rlib" in derive.inputs
    assert "out/.fatcrate/host.json" in derive.inputs
    link = edge(made, "link demo")
    assert not [word for word in link.argv if "derive" in word or "syn" in word]


def test_device_crates() -> None:
    assert device_crates(load(MACROS)) == ["shared", "lib", "gpu", "kern"]
    assert "gpu" not in device_crates(load(DIAMOND))


def test_a_crate_for_two_panic_strategies() -> None:
    made = graph(
        DIAMOND + "  loud: {crates: [left], archs: [sm_90], panic: abort}\n",
    )
    assert whats(made, "compile left") == ["compile left", "compile left"]
    assert made.names["left"] == (
        "out/crates/left/libleft.rlib",
        "out/crates-abort/left/libleft.rlib",
    )
    assert "build core and alloc for the GPU, panic=abort" in whats(made)
    assert len(set(made.outputs())) == len(list(made.outputs()))


def test_checks() -> None:
    made = graph(MACROS)
    assert list(made.checks) == ["shared", "lib", "gpu", "kern"]
    kern = edge(made, "check kern")
    assert kern.outputs == (
        "out/.fatcrate/check/kern/libkern.rmeta",
        "out/.fatcrate/check/kern/diagnostics.json",
    )
    assert "out/.fatcrate/check/lib/liblib.rmeta" in kern.inputs
    assert "out/crates/derive/libderive.so" in kern.inputs
    assert set(made.checks["kern"].needs) == {"derive", "shared", "lib", "gpu"}


def test_one_sysroot_when_all_targets_agree() -> None:
    loud = graph(DIAMOND.replace("archs:", "panic: abort, archs:"))
    assert whats(loud, "build core") == ["build core and alloc for the GPU, panic=abort"]
    assert "-Cpanic=abort" in edge(loud, "compile alone").argv


def test_a_prebuilt_sysroot_is_not_built() -> None:
    made = graph(DIAMOND, prebuilt=True)
    assert whats(made, "build") == []
    assert "--sysroot" not in edge(made, "compile top").argv


SCRIPT = """\
crates:
  cc: {path: cc.rs}
  low: {path: low.rs, package: {dir: low, name: low}, build_script: {path: b.rs, links: low}}
  kern:
    path: kern.rs
    deps: [low]
    package: {dir: pkg, name: kern, version: 1.2.3}
    build_script: {path: build.rs, edition: 2024, deps: [cc]}
kernels:
  demo: {crates: [kern], archs: [sm_90]}
"""


def test_build_scripts() -> None:
    made = graph(SCRIPT)
    program = edge(made, "compile the build script of kern")
    assert program.outputs == ("out/crates-host/kern/build-script",)
    assert "out/crates-host/cc/libcc.rlib" in program.inputs
    run = edge(made, "run the build script of kern")
    assert run.outputs == ("out/crates/kern/script/flags.json",)
    assert "out/crates/low/script/flags.json" in run.inputs
    assert "low=out/crates/low/script" in run.argv
    kern = edge(made, "compile kern")
    assert "out/crates/kern/script/flags.json" in kern.inputs
    assert "CARGO_PKG_VERSION=1.2.3" in kern.argv
    assert "compile cc" not in whats(made)


def test_groups_of_archs(tools: Tools) -> None:
    faults = Collector()
    everything = archs.resolve([("all", None)], tools.identity, faults)
    major = archs.resolve([("all-major", None)], tools.identity, faults)
    assert {one for one in major if not one.is_ptx} < set(everything)
    assert all(not one.suffix for one in everything)
    for chosen in (everything, major):  # the PTX belongs to the newest cubin
        (ptx,) = (one for one in chosen if one.is_ptx)
        assert ptx.number == max(one.number for one in chosen if not one.is_ptx)
    generations = [one.major for one in major if not one.is_ptx]
    assert len(generations) == len(set(generations)) > 3
    assert not faults.errors
