"""Time traces and remarks of CODEGEN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from fatcrate.lto import timing
from fatcrate.toolchain.discover import Tools
from support.device import Workshop

SOURCE = """
#![no_std]
fn small(x: f32) -> f32 { x * 2.0 }
#[inline(never)]
fn big(x: f32, n: u32) -> f32 {
    let (mut s, mut i) = (0.0, 0);
    while i < n { s += small(x); i += 1; }
    s
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: u32) { unsafe { *x = big(*x, n); } }
"""


@pytest.fixture
def shop(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(tmp_path)
    made = Workshop(tools, tmp_path)
    (tmp_path / "kern.rs").write_text(SOURCE)
    assert made.compile("kern", Path("kern.rs"), debug=1, opt_level=0).code == 0
    assert made.link("t").code == 0
    return made


def test_the_trace_is_chromes_format(shop: Workshop) -> None:
    assert shop.codegen("t", "sm_80", "3", "--time-trace", "trace.json").code == 0
    events = shop.json("trace.json")["traceEvents"]
    names = [event["name"] for event in events]
    assert names == [
        "start LLVM",
        "read the module",
        "answer arch queries",
        "inline primitives",
        "optimise",
        "generate code",
    ]
    assert all(e["ph"] == "X" and e["dur"] >= 0 and e["ts"] >= 0 for e in events)
    starts = [event["ts"] for event in events]
    assert starts == sorted(starts)


def test_remarks_are_yaml_with_source_places(shop: Workshop) -> None:
    assert shop.codegen("t", "sm_80", "3", "--remarks", "remarks.yaml").code == 0
    remarks = yaml.safe_load(shop.text("remarks.yaml"))
    placed = [r for r in remarks if r.get("file") == "kern.rs"]
    assert any("inlined into" in r["text"] for r in placed)
    assert all(isinstance(r["line"], int) for r in placed)


def test_remarks_do_not_change_the_code(shop: Workshop) -> None:
    assert shop.codegen("t", "sm_80").code == 0
    before = shop.text("t.sm_80.ptx")
    assert shop.codegen("t", "sm_80", "3", "--remarks", "r", "--time-trace", "t").code == 0
    assert shop.text("t.sm_80.ptx") == before


def test_parsing_of_remarks() -> None:
    text = (
        "remark: ./a.rs:3:5: 'f' inlined into 'g'\n"
        "remark: <unknown>:0:0: loop not unrolled\n"
        "remark: ./a.rs:3:5: 'f' inlined into 'g'\n"
        "warning: something else\n"
    )
    assert yaml.safe_load(timing.remarks_yaml(text)) == [
        {"text": "loop not unrolled"},
        {"text": "'f' inlined into 'g'", "file": "a.rs", "line": 3, "column": 5},
    ]
    assert json.loads(timing.remarks_yaml("")) == []


def test_one_arch_at_a_time(shop: Workshop) -> None:
    outcome = shop.codegen("t", "sm_80", "3", "--also=sm_90=x.ptx", "--remarks", "r.yaml")
    assert outcome.code == 2
    assert "--also: does not go with --time-trace and --remarks" in outcome.stderr
