"""Tables that exist on several sides: primitives, libdevice's names, the runner's state."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from fatcrate.lto import isolate, layout, mathmap
from fatcrate.lto.cpu import hostmath, opening, prepare, state
from fatcrate.toolchain import arch, names
from fatcrate.toolchain.discover import Tools

_DEFINE = re.compile(r"^define (\S+) @(__fc_\w+)\(([^)]*)\)", re.MULTILINE)
_DECLARE = re.compile(r"^\s*(?:pub safe fn )?(__fc_\w+)\(([^)]*)\)(?: -> ([^;]+))?;", re.MULTILINE)
_RUST = {"u32": "i32", "u64": "i64", "f32": "float", "f64": "double", "*mut u8": "ptr"}

Signatures = dict[str, tuple[str, ...]]


def row(text: str) -> Signatures:
    """name -> (result, parameter types...) of a row's definitions."""
    found: Signatures = {}
    for result, name, parameters in _DEFINE.findall(text):
        found[name] = (result, *(p.split()[0] for p in parameters.split(",") if p.strip()))
    return found


def rust(text: str) -> Signatures:
    """The same of the device library's declarations."""
    found: Signatures = {}
    for name, parameters, result in _DECLARE.findall(text):
        types = [p.split(":")[1].strip() for p in parameters.split(",") if p.strip()]
        kind = "void" if result in ("", "!") else _RUST.get(result, result)
        found[name] = (kind, *(_RUST.get(t, t) for t in types))
    return found


def backends(root: Path) -> dict[str, Signatures]:
    """Every row of the table of primitives."""
    return {p.stem: row(p.read_text()) for p in (root / "lto" / "backends").glob("*.ll")}


def test_every_back_end_defines_the_same_primitives(root: Path) -> None:
    rows = backends(root)
    assert {"nvptx", "cpu"} <= rows.keys()
    assert all(r == rows["nvptx"] for r in rows.values())


def test_device_library_declares_what_the_rows_define(root: Path) -> None:
    text = (root / "toolchain/device/gpu/src/primitives.rs").read_text()
    declared = rust(text)
    assert declared.pop(names.ARCH_QUERY) == ("i32",)
    assert declared.pop(names.FEATURE_QUERY) == ("bool", "i32")
    assert declared == backends(root)["nvptx"]


def test_features_have_the_same_numbers_in_rust(root: Path) -> None:
    text = (root / "toolchain/device/gpu/src/feature.rs").read_text()
    found = {name: int(number) for name, number in re.findall(r"^    (\w+) = (\d+),", text, re.M)}
    assert found == {feature.name: feature.id for feature in arch.FEATURES}


def test_shared_record_is_the_one_of_the_contract(root: Path) -> None:
    text = (root / "toolchain/device/gpu/src/shared.rs").read_text()
    record = re.search(r"#\[repr\(C\)\]\npub struct Record \{(.*?)\}", text, re.DOTALL)
    assert record is not None
    fields = [line.strip() for line in record[1].strip().splitlines()]
    assert fields == ['symbol: unsafe extern "C" fn() -> *mut u8,', "size: u64,", "align: u64,"]
    assert f'link_section = "{names.META_SECTION}"' in text


def test_host_math_has_libdevices_signatures(tools: Tools) -> None:
    data = Path(tools.libdevice).read_bytes()

    def read() -> dict[str, str]:
        from fatcrate.lto.llvm import LlvmliteEngine

        functions = LlvmliteEngine().parse_bitcode(data).functions()
        return {f.name: f.text().partition("\n{")[0].strip() for f in functions}

    headers = isolate.run(read)

    def signature(header: str) -> tuple[str, ...]:
        match = re.search(r"(\S+) @\w+\(", header)
        assert match is not None
        begin = match.end() - 1
        inner = header[begin + 1 : opening.closing(header, begin)]
        return (match[1], *(layout.type_text(p) for p in layout.split(inner)))

    for name in sorted(hostmath.supported()):
        ours = hostmath.definitions([name], "x86_64").splitlines()[0]
        define = next(
            line
            for line in headers[name].splitlines()
            if line.startswith(("define", "declare")) and f"@{name}(" in line
        )
        assert signature(ours) == signature(define), name


def test_host_math_covers_the_row_and_what_link_calls() -> None:
    assert opening.row_math() <= hostmath.supported()
    needed = {f"__nv_{name}{f}" for name, _ in mathmap.LIBDEVICE.values() for f in ("", "f")}
    needed |= {"__nv_fmod", "__nv_fmodf"}  # what LINK makes of `%`
    assert needed <= hostmath.supported()


def test_state_is_laid_out_as_the_scheduler_has_it(root: Path) -> None:
    text = (root / "lto/cpu/runtime.ll").read_text()
    head = opening.row()

    def sizes() -> list[tuple[int, int] | None]:
        from fatcrate.lto.cpu import jit
        from fatcrate.lto.llvm import LlvmliteEngine

        engine = LlvmliteEngine()
        host = jit.host(0)
        found = []
        for source, name in (
            (text, "fc.state"),
            (text, "fc.fiber"),
            (text, "fc.shared"),
            (text, "fc.trap"),
            (head, "fc.head"),
        ):
            module = engine.parse_text(source)
            module.set_target(host.target.triple, host.layout)
            found.append(module.struct_size(name))
        return found

    whole, fiber, shared, trap, start = isolate.run(sizes)
    assert whole == (ctypes.sizeof(state.State), 8)
    assert fiber == (ctypes.sizeof(state.Fiber), 8)
    assert shared == (ctypes.sizeof(state.Shared), 8)
    assert trap == (ctypes.sizeof(state.Trap), 8)
    assert start is not None
    assert start[0] == state.State.scheduler.offset  # the first field after the head


def test_state_fields_have_the_scheduler_types(root: Path) -> None:
    text = (root / "lto/cpu/runtime.ll").read_text()
    body = re.search(r"%fc\.state = type \{(.*?)\n\}", text, re.DOTALL)
    assert body is not None
    types = re.findall(r"\bi32\b|\bi64\b|\bptr\b|\[64 x %fc\.trap\]", re.sub(r";.*", "", body[1]))
    kinds = {ctypes.c_uint32: "i32", ctypes.c_int64: "i64", ctypes.c_uint64: "i64"}
    ours: list[str] = []
    for _, kind, *_ in state.State._fields_:
        if kind is ctypes.c_void_p:
            ours.append("ptr")
        elif kind in kinds:
            ours.append(kinds[kind])
        elif kind is ctypes.c_uint32 * 3:
            ours += ["i32"] * 3
        else:
            ours.append("[64 x %fc.trap]")
    assert ours == types


def test_machines_have_their_switch(root: Path) -> None:
    for machine in prepare.MACHINES:
        text = (root / f"lto/cpu/switch_{machine}.ll").read_text()
        assert "@__fc_cpu_switch(" in text
        assert "@__fc_cpu_prepare(" in text


def test_device_library_names_no_target(root: Path) -> None:
    for source in (root / "toolchain/device/gpu/src").rglob("*.rs"):
        code = re.sub(r"//.*", "", source.read_text())
        assert not re.search(r"\basm!|core::arch|target_arch|llvm\.", code), source
