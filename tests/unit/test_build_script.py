"""The BUILD SCRIPT step, with scripts in Python: the step takes any program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fatcrate.rules import build_script
from fatcrate.rules.cargo import crate_env, script_env
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools

Step = Callable[..., dict[str, object]]


@pytest.fixture
def step(tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> Step:
    """Runs the step in a folder of its own: ``step(CODE, *options)``, gives flags.json."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "data.txt").write_text("data")

    def run(code: str, *options: str) -> dict[str, object]:
        program = tmp_path / "script"
        program.write_text(f"#!{sys.executable}\nimport os, sys\nenv = os.environ\n{code}\n")
        program.chmod(0o755)
        argv = ["--program", "script", "--manifest-dir", "pkg", "--rustc", tools.rustc]
        argv += ["--package-env", "CARGO_PKG_NAME=demo", "--output", "out", *options]
        assert build_script.main(argv) == 0
        found: dict[str, object] = json.loads((tmp_path / "out" / "flags.json").read_text())
        return found

    return run


def test_the_environment_is_the_documented_one(
    step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    code = "for name, value in sorted(env.items()): print(f'cargo:{name}={value}')"
    device = ["--target", "nvptx64-nvidia-cuda", "--feature", "a-b", "--opt-level", "2"]
    found = dict(step(code, *device, "--links", "z", "--debug", "1")["metadata"])  # type: ignore[call-overload]
    assert "SECRET" not in found
    assert found["TARGET"] == "nvptx64-nvidia-cuda"
    assert found["HOST"].endswith("linux-gnu")
    assert found["CARGO_CFG_TARGET_ARCH"] == "nvptx64"
    assert found["CARGO_CFG_TARGET_POINTER_WIDTH"] == "64"
    assert found["CARGO_CFG_FEATURE"] == "a-b"
    assert found["CARGO_FEATURE_A_B"] == "1"
    assert found["CARGO_MANIFEST_LINKS"] == "z"
    assert (found["OPT_LEVEL"], found["DEBUG"], found["PROFILE"]) == ("2", "true", "release")
    assert found["CARGO_MANIFEST_DIR"] == "/proc/self/cwd/pkg"
    assert found["OUT_DIR"] == "/proc/self/cwd/out/out"


def test_paths_in_outputs_do_not_depend_on_the_place(step: Step, tmp_path: Path) -> None:
    code = (
        "out = env['OUT_DIR']\n"
        "open(out + '/a.rs', 'w').write(f'include!(\"{out}/b.rs\");')\n"
        "open(out + '/c.bin', 'wb').write(b'\\0' + out.encode())\n"
        "print(f'cargo:rustc-env=FILE={out}/b.rs')\n"
        "print(f'cargo:rustc-env=ROOT={os.getcwd()}')\n"
    )
    flags = step(code)
    assert flags["env"] == [
        ["FILE", "/proc/self/cwd/out/out/b.rs"],
        ["ROOT", "/proc/self/cwd/pkg"],
    ]
    made = (tmp_path / "out" / "out" / "a.rs").read_text()
    assert made == 'include!("/proc/self/cwd/out/out/b.rs");'
    argv, env = crate_env.flags("demo", "pkg", "out")
    assert env["FILE"] == env["OUT_DIR"] + "/b.rs" == "/proc/self/cwd/out/out/b.rs"
    assert "--remap-path-prefix=/proc/self/cwd/out/out=/fatcrate/out/demo" in argv


def test_same_results_keep_their_time_stamps(step: Step, tmp_path: Path) -> None:
    step("print('cargo:rustc-cfg=x')")
    before = os.stat(tmp_path / "out" / "flags.json").st_mtime_ns
    step("print('cargo:rustc-cfg=x')  # no change")
    assert os.stat(tmp_path / "out" / "flags.json").st_mtime_ns == before
    step("print('cargo:rustc-cfg=x'); open(env['OUT_DIR'] + '/f', 'w').write('1')")
    assert os.stat(tmp_path / "out" / "flags.json").st_mtime_ns != before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "pkg", "script"]


def test_the_depfile_names_what_the_script_watches(step: Step, tmp_path: Path) -> None:
    options = ["--depfile", "d", "--depfile-target", "t"]
    step("pass", *options)
    assert (tmp_path / "d").read_text() == "t: \\\n  pkg/data.txt\n"
    step("print('cargo:rerun-if-env-changed=X')", *options)
    assert (tmp_path / "d").read_text() == "t:\n"
    step("print('cargo:rerun-if-changed=../script')", *options, "--depfile-base", "..")
    assert (tmp_path / "d").read_text() == "t: \\\n  ../script\n"


def test_metadata_of_dependencies(step: Step, tmp_path: Path) -> None:
    step("print('cargo:include=' + env['OUT_DIR']); print('cargo:rustc-cfg=y')")
    os.rename(tmp_path / "out", tmp_path / "dep")
    flags = step("print('cargo:seen=' + env['DEP_MY_LIB_INCLUDE'])", "--dep", "my-lib=dep")
    assert flags["metadata"] == [["seen", "/proc/self/cwd/out/out"]]


def test_a_failing_script_is_shown_and_leaves_nothing(step: Step, tmp_path: Path) -> None:
    with pytest.raises(FatcrateError) as caught:
        step("print('on the way'); sys.exit('cannot go on')")
    assert str(caught.value) == (
        "error[FC0154]: demo: its build script ended with exit code 1\n"
        "  note: on the way\n"
        "  note: cannot go on"
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pkg", "script"]
    with pytest.raises(FatcrateError) as caught:
        step("os.kill(os.getpid(), 11)")
    assert "its build script was ended by signal 11" in str(caught.value)


def test_cfg_variables_join_values_of_one_name() -> None:
    printed = 'debug_assertions\nunix\ntarget_feature="a"\ntarget_feature="b"\n'
    assert script_env.cfg_variables(printed, []) == {
        "CARGO_CFG_UNIX": "",
        "CARGO_CFG_TARGET_FEATURE": "a,b",
    }
