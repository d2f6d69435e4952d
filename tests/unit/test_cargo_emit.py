"""The files that an import writes."""

from __future__ import annotations

import yaml
from fatcrate.rules.cargo import emit_bazel, emit_yaml, package_env
from fatcrate.rules.cargo.model import Entry, Import, Kernels, Script
from fatcrate.rules.ninja import project as project_file
from hypothesis import given
from hypothesis import strategies as st

#: Fields of manifests have no line breaks here, and no lone surrogates anywhere.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"))

LEAF = Entry(
    key="leaf-1.0.0",
    name="leaf",
    source="vendor/leaf-1.0.0/src/lib.rs",
    folder="vendor/leaf-1.0.0",
    edition="2018",
    features=("std-like", "1"),
    opt_level="s",
    debug="line-tables-only",
    rustc_flags=("--cap-lints=allow",),
    fields={"name": "leaf", "version": "1.0.0", "description": 'it\'s: "odd" #1, ü'},
    script=Script("vendor/leaf-1.0.0/build.rs", "2018", (("cc", "cc"),), "leaf"),
)
CC = Entry("cc", "cc", "vendor/cc-1/lib.rs", "vendor/cc-1", "2021")
APP = Entry(
    key="app",
    name="app",
    source="src/lib.rs",
    folder=".",
    edition="2024",
    deps=(("gpu", "gpu"), ("l", "leaf-1.0.0")),
)
NAMES = {"leaf-1.0.0": "leaf", "cc": "cc", "app": "app", "gpu": "gpu"}
PROJECT = Import(
    "Cargo.toml", (APP, CC, LEAF), (Kernels("app", "app", ("sm_80", "9.0+PTX")),), NAMES
)


@given(TEXTS)
def test_scalars_are_read_as_written(value: str) -> None:
    assert yaml.safe_load(f"{{a: {emit_yaml.text(value)}}}") == {"a": value}


def test_the_project_file_reads_what_an_import_writes() -> None:
    text = emit_yaml.document(PROJECT, "")
    gpu = project_file.Crate("gpu", "gpu", "gpu.rs", "gpu")
    read = project_file.load(text, "fatcrate.yaml", "/p", lambda path: True, [gpu])
    leaf = read.crates["leaf-1.0.0"]
    assert (leaf.name, leaf.edition, leaf.features) == ("leaf", "2018", ("std-like", "1"))
    assert (leaf.opt_level, leaf.debug) == ("s", "line-tables-only")
    assert leaf.manifest_dir == "vendor/leaf-1.0.0"
    assert dict(leaf.env)["CARGO_PKG_DESCRIPTION"] == LEAF.fields["description"]
    assert leaf.script is not None
    assert (leaf.script.source, leaf.script.links) == ("vendor/leaf-1.0.0/build.rs", "leaf")
    assert [(d.extern, d.crate) for d in read.crates["app"].deps] == [
        ("", "gpu"),
        ("l", "leaf-1.0.0"),
    ]
    assert [arch for arch, _ in read.targets["app"].archs] == ["sm_80", "9.0+PTX"]


def test_own_part_is_kept_word_for_word() -> None:
    own = "kernels: {}  # mine\n# and this\n"
    before = emit_yaml.document(PROJECT, "").partition(emit_yaml.KEPT)[0]
    assert emit_yaml.document(PROJECT, f"{before}{emit_yaml.KEPT}\n{own}").endswith(
        f"{emit_yaml.KEPT}\n{own}"
    )


def test_build_files(tmp_path: object) -> None:
    files = emit_bazel.documents(PROJECT, str(tmp_path), "vendor", "//rules:defs.bzl")
    assert sorted(files) == ["BUILD.bazel", "vendor/BUILD.bazel"]
    top, vendor = files["BUILD.bazel"], files["vendor/BUILD.bazel"]
    # The kernel target has the first choice of names.
    assert 'name = "app",' in top and 'name = "app.crate",' in top
    assert 'crates = ["//:app.crate"],' in top
    assert '"//vendor:leaf-1.0.0": "l",' in top
    assert '"//toolchain/device/gpu",' in top
    assert 'build_script = ":leaf-1.0.0.script",' in vendor
    assert 'manifest_dir = "leaf-1.0.0",' in vendor
    # What only the build script uses is for this machine.
    cc = vendor.partition('name = "cc"')[2].partition(")\n\n")[0]
    assert "host_only = True" in cc and vendor.count("host_only") == 1


def test_variables_of_a_package() -> None:
    env = package_env.of_crate({"name": "a-b", "version": "1.2.3-rc.1+5"}, "a_b")
    assert env["CARGO_PKG_VERSION"] == "1.2.3-rc.1+5"
    parts = [env[f"CARGO_PKG_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH", "PRE")]
    assert parts == ["1", "2", "3", "rc.1"]
    assert env["CARGO_CRATE_NAME"] == "a_b"
    assert env["CARGO_PKG_HOMEPAGE"] == ""
