"""`fatcrate abi-check`: PTX and cubins against the manifest, and the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fatcrate.toolchain.discover import Tools
from fatcrate.toolchain.manifest import DeviceStatic, Kernel, Manifest, Parameter
from support import images
from support.device import Outcome, fatcrate

_PARAMETERS = [
    Parameter(0, 0, 4, 4, "int", "n", "u32"),
    Parameter(1, 4, 4, 4, "float", "a", "f32"),
    Parameter(2, 8, 8, 8, "pointer", "x", "*const f32"),
    Parameter(3, 16, 8, 8, "pointer", "y", "*mut f32"),
]
_KERNEL = Kernel("saxpy", "kern", _PARAMETERS, max_threads=[256, 1, 1])
_MANIFEST = Manifest("demo", "nvptx64-nvidia-cuda", [_KERNEL], [], [], {})


class Project:
    """A folder with images of one kernel, and a manifest."""

    def __init__(self, path: Path, tools: Tools) -> None:
        self.path = path
        (path / "sm_80.cubin").write_bytes(images.cubin(tools.ptxas, "80"))
        (path / "sm_120a.cubin").write_bytes(images.cubin(tools.ptxas, "120a"))
        (path / "compute_90.ptx").write_bytes(images.ptx("90"))
        (path / "link.json").write_text('{"linked": ["kern"]}')
        (path / "sm_80.json").write_text('{"spills": 0}')

    def check(self, manifest: Manifest = _MANIFEST, *argv: str) -> Outcome:
        (self.path / "m.json").write_text(manifest.to_json())
        return fatcrate(
            "abi-check", "--manifest", "m.json", "--link-report", "link.json",
            "--assemble-report", "sm_80=sm_80.json", "--report", "report.json",
            *(argv or ("sm_80=sm_80.cubin", "sm_120a=sm_120a.cubin", "compute_90=compute_90.ptx")),
        )  # fmt: skip

    def report(self) -> Any:
        return json.loads((self.path / "report.json").read_text())


@pytest.fixture
def project(tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, tools)


def _changed(**fields: Any) -> Manifest:
    return _MANIFEST._replace(kernels=[_KERNEL._replace(**fields)])


def _parameter(ordinal: int, **fields: Any) -> Manifest:
    made = list(_PARAMETERS)
    made[ordinal] = made[ordinal]._replace(**fields)
    return _changed(parameters=made)


def test_what_agrees_is_reported(project: Project) -> None:
    assert project.check() == Outcome(0, "", "")
    made = project.report()
    assert (made["version"], made["name"], made["link"]) == (1, "demo", {"linked": ["kern"]})
    assert sorted(made["archs"]) == ["compute_90", "sm_120a", "sm_80"]
    cubin = made["archs"]["sm_80"]
    assert cubin["kind"] == "cubin" and cubin["assemble"] == {"spills": 0}
    (kernel,) = cubin["kernels"]
    assert kernel["registers"] == 10 and kernel["max_threads"] == [256, 1, 1]
    assert "assemble" not in made["archs"]["sm_120a"]
    first = (project.path / "report.json").read_bytes()
    project.check()
    assert (project.path / "report.json").read_bytes() == first


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (
            _changed(name="gone"),
            [
                "error[FC0501]: gone: is missing from the cubin for sm_80\n  --> sm_80.cubin\n"
                "  note: the kernel comes from crate kern\n",
                "error[FC0502]: saxpy: is in the ptx for compute_90, but not in the manifest\n",
            ],
        ),
        (
            _parameter(3, offset=24),
            [
                "error[FC0503]: saxpy: parameter 3 (y) is 8 bytes at 16 instead of 8 bytes at 24"
                " in the cubin for sm_120a\n  --> sm_120a.cubin\n"
                "  note: the manifest has (n: 4 bytes at 0, a: 4 bytes at 4, x: 8 bytes at 8,"
                " y: 8 bytes at 24)\n"
                "  note: the image has (4 bytes at 0, 4 bytes at 4, 8 bytes at 8,"
                " 8 bytes at 16)\n",
            ],
        ),
        (
            _parameter(1, cls="int"),
            [
                "error[FC0503]: saxpy: parameter 1 (a) has PTX type .f32, but is int"
                " in the ptx for compute_90\n"
            ],
        ),
        (
            _parameter(0, cls="float"),
            ["parameter 0 (n) has PTX type .u32, but is float in the ptx for compute_90\n"],
        ),
        (
            _changed(parameters=_PARAMETERS[:3]),
            [
                "error[FC0503]: saxpy: has 4 parameters instead of 3 in the cubin for sm_80\n",
                "error[FC0503]: saxpy: has 4 parameters instead of 3 in the ptx for compute_90\n",
            ],
        ),
        (
            _changed(max_threads=[128, 1, 1]),
            [
                "error[FC0506]: saxpy: has largest block (256, 1, 1) instead of (128, 1, 1)"
                " in the cubin for sm_80\n",
                "in the ptx for compute_90\n",
            ],
        ),
        (
            _MANIFEST._replace(statics=[DeviceStatic("TABLE", "kern", 16, 4, "global", True)]),
            ["error[FC0507]: TABLE: is missing from the cubin for sm_80; the manifest has 16"],
        ),
    ],
)
def test_each_disagreement(project: Project, manifest: Manifest, expected: list[str]) -> None:
    done = project.check(manifest)
    assert done.code == 1
    for text in expected:
        assert text in done.stderr, done.stderr
    assert not (project.path / "report.json").exists()


def test_statics_that_are_there(project: Project, tools: Tools) -> None:
    cubin = images.cubin(tools.ptxas, "80", "rich")
    (project.path / "rich.cubin").write_bytes(cubin)
    statics = [DeviceStatic("counter", "kern", 8, 8, "global", True)]
    kernels = [
        Kernel("empty", "kern", []),
        Kernel(
            "with_shared",
            "kern",
            [
                Parameter(0, 0, 24, 8, "aggregate"),
                Parameter(1, 24, 1, 1, "int"),
                Parameter(2, 32, 8, 8, "pointer"),
            ],
        ),
        Kernel(
            "with_stack", "kern", [Parameter(0, 0, 8, 8, "pointer"), Parameter(1, 8, 4, 4, "int")]
        ),
    ]
    manifest = _MANIFEST._replace(kernels=kernels, statics=statics)
    assert project.check(manifest, "sm_80=rich.cubin") == Outcome(0, "", "")
    wrong = manifest._replace(statics=[statics[0]._replace(size=4)])
    assert "has 8 bytes in the cubin for sm_80; the manifest has 4" in (
        project.check(wrong, "sm_80=rich.cubin").stderr
    )


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["sm_75=sm_80.cubin"], 1, "error[FC0504]: sm_80.cubin: is cubin for sm_80, not for sm_75"),
        (["sm_120=sm_120a.cubin"], 1, "is cubin for sm_120a, not for sm_120"),
        (["compute_80=compute_90.ptx"], 1, "is ptx for compute_90, not for compute_80"),
        (["sm_80=link.json"], 1, "is neither PTX, a cubin nor a code object"),
        (["sm_80=nothing"], 3, "nothing: No such file or directory"),
        (["sm_80"], 2, "is not of the form ARCH=FILE"),
    ],
)
def test_wrong_images(project: Project, argv: list[str], code: int, message: str) -> None:
    done = project.check(_MANIFEST, *argv)
    assert (done.code, message in done.stderr) == (code, True), done.stderr


def test_reports_that_are_no_json(project: Project) -> None:
    (project.path / "sm_80.json").write_text("{")
    done = project.check()
    assert done.code == 1 and "error[FC0505]: sm_80.json: is not JSON" in done.stderr


def test_a_ptx_that_is_cut_off(project: Project) -> None:
    (project.path / "compute_90.ptx").write_bytes(images.ptx("90")[:-20])
    assert "is cut off: its braces do not balance" in project.check().stderr
