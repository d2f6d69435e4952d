"""Rewrites of textual IR: every result is valid IR, and does what it stands for."""

from __future__ import annotations

import re

import pytest
from fatcrate.lto import lower, policy, references, runtime
from fatcrate.lto.llvm import LlvmliteEngine
from fatcrate.toolchain.diagnostics import FatcrateError

ENGINE = LlvmliteEngine()


def rewritten(body: str, prelude: str = "") -> str:
    """The rewritten module, parsed and verified."""
    text = f"{prelude}define void @f(ptr %p, i128 %a, i128 %b, float %x, half %h) {{\n{body}\n"
    made = lower.rewrite(text + "  ret void\n}\n")
    assert made is not None
    module = ENGINE.parse_text(made)
    module.verify()
    return module.text()


@pytest.mark.parametrize(
    ("operation", "function"),
    [
        ("sdiv", "__divti3"),
        ("udiv exact", "__udivti3"),
        ("srem", "__modti3"),
        ("urem", "__umodti3"),
    ],
)
def test_division(operation: str, function: str) -> None:
    text = rewritten(f"  %r = {operation} i128 %a, 17\n  store i128 %r, ptr %p")
    assert f"%r = call i128 @{function}(i128 %a, i128 17)" in text


def test_unnamed_values_keep_their_numbers() -> None:
    text = rewritten(
        "  %1 = sdiv i128 %a, %b\n  %2 = sitofp i128 %1 to half\n  store half %2, ptr %p"
    )
    assert "%1 = call i128 @__divti3" in text
    assert re.search(r"%fc\.2\.w = call float @__floattisf\(i128 %1\)", text)
    assert "%2 = fptrunc float %fc.2.w to half" in text


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("%r = uitofp nneg i128 %a to float", "call float @__floatuntisf(i128 %a)"),
        ("%r = sitofp i128 %a to double", "call double @__floattidf(i128 %a)"),
        ("%r = fptoui float %x to i128", "call i128 @__fixunssfti(float %x)"),
        ("%r = fptosi half %h to i128", "call i128 @__fixsfti(float %fc.r.w)"),
        ("%r = frem fast float %x, 2.0", "call float @__nv_fmodf(float %x, float 2.000000e+00)"),
        ("%r = frem half %h, %h", "call float @__nv_fmodf(float %fc.r.wx, float %fc.r.wy)"),
    ],
)
def test_conversions_and_remainders(line: str, call: str) -> None:
    assert call in rewritten(f"  {line}")


def test_vector_remainder_goes_lane_by_lane() -> None:
    text = rewritten(
        "  %v = load <2 x double>, ptr %p\n"
        "  %r = frem <2 x double> %v, <double 2.0, double 3.0>\n  store <2 x double> %r, ptr %p"
    )
    assert text.count("call double @__nv_fmod(") == 2
    assert "frem" not in text


def test_locations_stay_on_the_call() -> None:
    made = lower.rewrite(
        "define i128 @f(i128 %a) !dbg !4 {\n  %r = udiv i128 %a, 3, !dbg !7\n  ret i128 %r\n}\n"
    )
    assert made is not None and "@__udivti3(i128 %a, i128 3), !dbg !7" in made


def test_nothing_to_do() -> None:
    assert lower.rewrite("define void @f() {\n  ret void\n}\n") is None
    assert (
        lower.rewrite("define void @f(i128 %a) {\n  %r = mul i128 %a, 3\n  ret void\n}\n") is None
    )


def test_aliases_of_aliases_and_of_parts() -> None:
    prelude = (
        "@table = internal global [4 x i32] zeroinitializer\n"
        "@part = alias i32, getelementptr inbounds (i8, ptr @table, i64 4)\n"
        '@"again.1" = internal alias i32, ptr @part\n'
    )
    text = rewritten('  store i32 1, ptr @"again.1"', prelude)
    assert "alias" not in text
    assert "getelementptr inbounds (i8, ptr @table, i64 4)" in text


def test_names_in_strings_are_no_code() -> None:
    prelude = (
        "@table = internal global [4 x i32] zeroinitializer\n"
        "@part = alias i32, ptr @table\n"
        '@text = internal constant [22 x i8] c"see @part, !dbg !1 (!)"\n'
        "@use = global ptr @text\n"
    )
    text = rewritten("  store i32 1, ptr @part", prelude)
    assert 'c"see @part, !dbg !1 (!)"' in text
    changed = policy.Policy(debug="none", ftz=True).apply(prelude + DEBUG)
    assert 'c"see @part, !dbg !1 (!)"' in ENGINE.parse_text(changed).text()
    assert references.graph(ENGINE.parse_text(prelude))["text"] == []


def test_a_kernels_alias_is_a_second_kernel() -> None:
    made = lower.rewrite(
        "@second = alias void (), ptr @first\ndefine ptx_kernel void @first() {\n  ret void\n}\n"
    )
    assert made is not None
    assert len(re.findall(r"^define ptx_kernel void @(first|second)\(", made, re.MULTILINE)) == 2
    ENGINE.parse_text(made).verify()


def test_sections_become_address_spaces() -> None:
    prelude = (
        '@C = constant [2 x i32] [i32 1, i32 2], section ".constant", align 4\n'
        '@S = internal global [2 x i32] undef, section ".shared", align 4\n'
        "@P = global ptr @C\n"
    )
    text = rewritten("  store ptr @S, ptr @C", prelude)
    assert "@C = addrspace(4) externally_initialized constant" in text
    assert "@S.mem = internal addrspace(3) global" in text
    assert "@P = global ptr addrspacecast (ptr addrspace(4) @C to ptr)" in text


def test_shared_memory_has_no_initial_value() -> None:
    with pytest.raises(lower.InitialisedShared, match="S"):
        lower.rewrite('@S = internal global i32 0, section ".shared", align 4\n')


# --- policies --------------------------------------------------------------------------

DEBUG = """\
define void @f() !dbg !4 {
  call void @g(), !dbg !7
    #dbg_value(i32 0, !8, !DIExpression(), !7)
  ret void, !dbg !7
}
declare void @g()
!llvm.module.flags = !{!0, !1}
!llvm.dbg.cu = !{!2}
!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !3, emissionKind: FullDebug)
!3 = !DIFile(filename: "a.rs", directory: ".")
!4 = distinct !DISubprogram(name: "f", scope: !3, file: !3, line: 1, type: !5, unit: !2)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocalVariable(name: "x", scope: !4, file: !3, line: 1)
"""


def test_debug_none_leaves_nothing() -> None:
    text = ENGINE.parse_text(policy.strip_debug(DEBUG)).text()
    assert "!dbg" not in text and "#dbg" not in text and "DI" not in text
    assert "PIC Level" in text and "Debug Info Version" not in text


def test_debug_line_keeps_places_only() -> None:
    text = policy.Policy(debug="line").apply(DEBUG)
    assert "emissionKind: DebugDirectivesOnly" in text
    ENGINE.parse_text(text).verify()


def test_ftz_reaches_every_function() -> None:
    text = policy.flush_subnormals(
        "define float @a(float %x) #0 {\n  ret float %x\n}\n"
        "define float @b(float %x) {\n  ret float %x\n}\n"
        'attributes #0 = { nounwind "denormal-fp-math"="ieee,ieee" }\n'
    )
    module = ENGINE.parse_text(text)
    assert module.text().count('"denormal-fp-math-f32"="preserve-sign,preserve-sign"') >= 1
    for value in module.functions():
        assert any("denormal-fp-math-f32" in a for a in value.attributes()), value.name
    assert '"nvvm-reflect-ftz", i32 1' in module.text()


# --- records, references ---------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        r'<{ ptr, [16 x i8] }> <{ ptr @s, [16 x i8] c"\00\04\00\00\00\00\00\00'
        r'\10\00\00\00\00\00\00\00" }>',
        "{ ptr, i64, i64 } { ptr @s, i64 1024, i64 16 }",
    ],
)
def test_shared_records(value: str) -> None:
    text = f'@R = internal constant {value}, section ".fatcrate.meta", align 8'
    assert runtime.shared_record(text, "kern") == runtime.SharedRecord("s", 1024, 16)


@pytest.mark.parametrize(
    "value",
    [
        "i64 5",
        "{ ptr, i64 } { ptr @s, i64 1024 }",
        "{ ptr, i64, i64 } { ptr @s, i64 1024, i64 3 }",
        "{ ptr, i64, i64 } { ptr @s, i64 1024, i64 0 }",
        "{ ptr, i64, i64 } { ptr @s, i64 99999999999999, i64 4 }",
    ],
)
def test_faulty_records(value: str) -> None:
    with pytest.raises(FatcrateError) as caught:
        runtime.shared_record(f'@R = constant {value}, section ".fatcrate.meta"', "kern")
    assert caught.value.diagnostics[0].kind.code == "FC0316"


def test_the_shortest_chain_of_references() -> None:
    edges = {"k": ["a", "b"], "a": ["c"], "b": ["d"], "c": ["d"], "d": [], "lost": ["d"]}
    assert references.chain(edges, ["k"], "d") == ["k", "b", "d"]
    assert references.chain(edges, ["k"], "lost") == []
    assert references.reachable(edges, ["a"]) == ["a", "c", "d"]
    assert references.referrers(edges, "d") == ["b", "c", "lost"]


def test_references_are_read_from_functions_and_statics() -> None:
    module = ENGINE.parse_text(
        '@"odd name" = global ptr @f\n@t = global [1 x ptr] [ptr @"odd name"]\n'
        "define void @f() {\n  call void @g()\n  %v = load ptr, ptr @t\n  ret void\n}\n"
        "declare void @g()\n"
    )
    assert references.graph(module) == {"f": ["g", "t"], "odd name": ["f"], "t": ["odd name"]}
