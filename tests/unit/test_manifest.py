"""The manifest's reader: canonical text, every type checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fatcrate.toolchain import manifest
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.manifest import DeviceStatic, Input, Kernel, Manifest, Parameter
from hypothesis import given
from hypothesis import strategies as st

SAMPLE = Manifest(
    "demo",
    "nvptx64-nvidia-cuda",
    [
        Kernel(
            "saxpy", "kern", [Parameter(0, 0, 4, 4, "int", "n"), Parameter(1, 8, 8, 8, "pointer")]
        )
    ],
    [DeviceStatic("TABLE", "kern", 64, 4, "constant", False)],
    [Input("libkern.rlib", "crate", "00")],
    {"rustc": "1.96.0"},
)


def fault(text: str) -> str:
    with pytest.raises(FatcrateError, match="FC0220") as caught:
        manifest.loads(text, "m.json")
    return caught.value.diagnostics[0].message


def test_round_trip(tmp_path: Path) -> None:
    assert manifest.loads(SAMPLE.to_json()) == SAMPLE
    (tmp_path / "m.json").write_text(SAMPLE.to_json(), encoding="utf-8")
    assert manifest.load(tmp_path / "m.json").to_json() == SAMPLE.to_json()
    assert SAMPLE.kernel("saxpy") is SAMPLE.kernels[0] and SAMPLE.kernel("no") is None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 99, "has version 99; this fatcrate reads version 1"),
        (["name"], 5, "manifest.name must be str, not int"),
        (["kernels"], {}, "manifest.kernels must be a list, not dict"),
        (["kernels", 0], [], "manifest.kernels[0] must be an object, not list"),
        (
            ["kernels", 0, "parameters", 1, "size"],
            True,
            "manifest.kernels[0].parameters[1].size must be int, not bool",
        ),
        (["toolchain", "rustc"], None, "manifest.toolchain.rustc must be str, not NoneType"),
        (["extra"], 1, "unknown field manifest.extra"),
    ],
)
def test_wrong_values(path: list[str | int], value: object, message: str) -> None:
    data = json.loads(SAMPLE.to_json())
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert fault(json.dumps(data)) == message


def test_missing_field() -> None:
    data = json.loads(SAMPLE.to_json())
    del data["kernels"][0]["crate"]
    assert fault(json.dumps(data)) == "field manifest.kernels[0].crate is missing"


def test_not_json_says_where() -> None:
    with pytest.raises(FatcrateError) as caught:
        manifest.loads('{\n  "version": ]', "m.json")
    assert "--> m.json:2:14" in caught.value.diagnostics[0].render()


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(b"{\xff")
    with pytest.raises(FatcrateError, match="is not UTF-8 text"):
        manifest.load(tmp_path / "m.json")


@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_any_text_is_refused_or_read(text: str) -> None:
    try:
        manifest.loads(text)
    except FatcrateError as error:
        assert error.diagnostics[0].kind.code == "FC0220"


def test_deep_nesting() -> None:
    assert "is not JSON" in fault("[" * 200_000)
