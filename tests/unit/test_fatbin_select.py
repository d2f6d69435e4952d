"""Which image a device uses, against nvJitLink, which selects without a GPU."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from fatcrate.fatbin import cubin, packer, select
from fatcrate.fatbin.select import Candidate
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch, parse_one
from fatcrate.toolchain.discover import Tools
from support import images, nvidia
from support.device import fatcrate


def _marker(kind: str, arch: str) -> str:
    return f"{kind}_{arch}"


def _input(ptxas: str, kind: str, arch: str) -> packer.Input:
    name = _marker(kind, arch)
    if kind == "ptx":
        data = images.ptx(arch, name=name)
        return packer.Input("ptx", parse_one(f"compute_{arch}"), Source(name, data=data))
    # Relocatable: of a linked cubin, nvJitLink keeps nothing that would tell its name.
    data = images.cubin(ptxas, arch, name=name, options=("-c",))
    return packer.Input("cubin", parse_one(f"sm_{arch}"), Source(name, data=data))


def _target(device: int) -> str:
    return f"sm_{device}a" if device >= 90 else f"sm_{device}"


def _measured(fatbin: bytes, device: int) -> str | None:
    """The marker of the image that nvJitLink takes."""
    linked = nvidia.linked(fatbin, _target(device))
    if linked is None:
        return None
    kernels = cubin.read(Source("linked", data=linked)).kernels
    return kernels[0].name if kernels else None


def test_selection_equals_nvjitlink(tools: Tools, full: bool) -> None:
    rnd = random.Random(11)
    pool = [(kind, arch) for arch in images.ARCHS for kind in ("cubin", "ptx")]
    for _ in range(20_000 if full else 500):
        chosen = rnd.sample(pool, rnd.randint(1, 6))
        inputs = [_input(tools.ptxas, kind, arch) for kind, arch in chosen]
        fatbin = packer.pack(inputs, packer.Options(mode=rnd.choice(["none", "default"])))
        device = rnd.choice(select.MEASURED_DEVICES)
        candidates = [Candidate(i.kind, i.arch) for i in inputs]
        made = select.choose(candidates, device)
        ours = None if made.index is None else _marker(*chosen[made.index])
        assert ours == _measured(fatbin, device), (chosen, device, made)


@pytest.mark.parametrize("arch", images.ARCHS)
def test_each_image_alone_on_each_device(tools: Tools, arch: str) -> None:
    for kind in ("cubin", "ptx"):
        one = _input(tools.ptxas, kind, arch)
        fatbin = packer.pack([one])
        for device in select.MEASURED_DEVICES:
            made = select.choose([Candidate(one.kind, one.arch)], device)
            assert (made.index is not None) == (_measured(fatbin, device) is not None), device


def test_without_the_compatibility_record_a_cubin_does_not_move_up() -> None:
    with_record = Candidate("cubin", Arch("sm", 100), has_compat=True)
    without = Candidate("cubin", Arch("sm", 100), has_compat=False)
    assert select.choose([with_record], 103).index == 0
    assert select.choose([without], 103).index is None
    assert select.choose([without], 100).index == 0


def _fatbin(tmp_path: Path, tools: Tools, *items: tuple[str, str]) -> Path:
    path = tmp_path / "k.fatbin"
    path.write_bytes(packer.pack([_input(tools.ptxas, kind, arch) for kind, arch in items]))
    return path


def _json(*argv: str | Path) -> tuple[int, Any]:
    done = fatcrate("select", "--json", *argv)
    return done.code, json.loads(done.stdout)


def test_json_for_one_device(tools: Tools, tmp_path: Path) -> None:
    path = _fatbin(tmp_path, tools, ("cubin", "80"), ("cubin", "90a"), ("ptx", "80"))
    assert _json("--device", "sm_89", path) == (
        0,
        {
            "device": "8.9",
            "image": {"kind": "cubin", "arch": "sm_80"},
            "reason": "cubin of the same major, 8.0 <= 8.9",
            "verdict": "measured",
        },
    )
    for spelling in ("9.0", "sm_90", "9.0a", "sm_90a"):
        assert _json("--device", spelling, path)[1]["image"] == {"kind": "cubin", "arch": "sm_90a"}
    code, made = _json("--device", "sm_75", path)
    assert (code, made["image"]) == (1, None)
    assert made["reason"] == "every image is newer than 7.5"


def test_verdicts(tools: Tools, tmp_path: Path) -> None:
    path = _fatbin(tmp_path, tools, ("cubin", "80"), ("ptx", "86"))
    made = _json("--device", "8.9", path)[1]
    assert (made["image"], made["verdict"]) == (
        {"kind": "ptx", "arch": "compute_86"},
        "contradicted",
    )
    assert _json("--device", "8.7", path)[1]["verdict"] == "contradicted"
    assert _json("--device", "7.0", path)[1]["verdict"] == "documented"
    assert _json("--device", "9.0", path)[1]["verdict"] == "measured"


def test_exact_demands_the_own_sm(tools: Tools, tmp_path: Path) -> None:
    path = _fatbin(tmp_path, tools, ("cubin", "80"), ("ptx", "80"))
    assert _json("--device", "8.0", "--exact", path)[0] == 0
    code, made = _json("--device", "8.6", "--exact", path)
    assert (code, made["image"], made["reason"]) == (1, None, "no cubin for sm_86")


def test_ten_seven_next_to_ten_zero(tools: Tools, tmp_path: Path) -> None:
    path = _fatbin(tmp_path, tools, ("cubin", "100"), ("ptx", "100"))
    done = fatcrate("select", "--device", "10.7", path)
    assert done.code == 1
    assert "cubin sm_100 ranks first, but 10.7 cannot run it" in done.stdout
    assert "error[FC0412]" in done.stderr


def test_the_table_of_all_devices(tools: Tools, tmp_path: Path) -> None:
    path = _fatbin(tmp_path, tools, ("cubin", "80"), ("ptx", "80"))
    lines = fatcrate("select", path).stdout.splitlines()
    assert lines[0].split() == ["device", "image", "verdict", "reason"]
    assert len(lines) == 1 + len(select.DEVICES)
    assert "   12.1    ptx compute_80  measured" in "\n".join(lines)


@pytest.mark.parametrize("device", ["gfx942", "sm_9", "x", "compute_90", "sm_999", "10.1"])
def test_what_is_no_device(tools: Tools, tmp_path: Path, device: str) -> None:
    path = _fatbin(tmp_path, tools, ("cubin", "80"))
    done = fatcrate("select", "--device", device, path)
    assert done.code == 2 and "error[FC0409]" in done.stderr
