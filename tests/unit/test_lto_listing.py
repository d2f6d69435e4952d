"""`fatcrate ir`, and the places of instructions through inlining."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.lto import listing, places

IR = """\
@table = constant [2 x i32] [i32 1, i32 2]
@unused = constant i32 7

define ptx_kernel void @k(ptr %0) !dbg !4 {
  %2 = load i32, ptr @table, align 4, !dbg !7
    #dbg_value(i32 %2, !99, !DIExpression(), !7)
  %3 = call i32 @"odd name"(i32 %2), !dbg !8
  ret void, !dbg !13
}

define internal i32 @"odd name"(i32 %0) {
  ret i32 %0
}

define internal void @_RNvCs1234_1a4gone() {
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "./k.rs", directory: ".")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !6)
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 3, type: !3, unit: !0)
!5 = distinct !DISubprogram(name: "get", scope: !10, file: !10, line: 8, type: !3, unit: !0)
!6 = !{}
!7 = !DILocation(line: 9, column: 5, scope: !11, inlinedAt: !8)
!8 = distinct !DILocation(line: 4, column: 2, scope: !12)
!10 = !DIFile(filename: "/lib/get.rs", directory: ".")
!11 = distinct !DILexicalBlock(scope: !5, file: !10, line: 8)
!12 = distinct !DILexicalBlock(scope: !4, file: !1, line: 3)
!13 = !DILocation(line: 0, scope: !4)
"""


def test_what_a_kernel_reaches() -> None:
    assert listing.kernel_text([IR], "k") == (
        "@table = constant [2 x i32] [i32 1, i32 2]\n"
        "\n"
        "define ptx_kernel void @k(ptr %0) {  ; k.rs:3:0\n"
        "  %2 = load i32, ptr @table, align 4  ; /lib/get.rs:9:5 in k.rs:4:2\n"
        '  %3 = call i32 @"odd name"(i32 %2)  ; k.rs:4:2\n'
        "  ret void\n"
        "}\n"
        "\n"
        'define internal i32 @"odd name"(i32 %0) {\n'
        "  ret i32 %0\n"
        "}\n"
    )
    assert listing.kernel_text([IR], "absent") == ""


def test_definitions_of_other_modules_count() -> None:
    caller = "define void @k() {\n  call void @f()\n  ret void\n}\ndeclare void @f()\n"
    text = listing.kernel_text([caller, "define void @f() {\n  ret void\n}\n"], "k")
    assert text.count("define ") == 2


def test_names_are_demangled() -> None:
    text = listing.kernel_text([IR], "_RNvCs1234_1a4gone")
    assert text.startswith("; a::gone\ndefine internal void @_RNvCs1234_1a4gone() {\n")


def test_numbered_places_are_valid_and_told() -> None:
    from fatcrate.lto.llvm import LlvmliteEngine

    text, table = places.number(IR)
    assert table == (
        "// place 1000000 = /lib/get.rs:9:5 in k.rs:4:2\n// place 1000001 = k.rs:4:2\n"
    )
    assert "!7 = !DILocation(line: 1000000, column: 1, scope: !4)\n" in text
    assert "!13 = !DILocation(line: 0, scope: !4)\n" in text
    verified = text.replace("    #dbg_value(i32 %2, !99, !DIExpression(), !7)\n", "")
    LlvmliteEngine().parse_text(verified).verify()


def ir(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fatcrate", "ir", *argv], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "FC0304"), (b"BC\xc0\xde damaged", "FC0302"), (b"\x7fELF" + bytes(60), "FC0303")],
)
def test_bad_files_are_refused(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "in.bc"
    path.write_bytes(content)
    done = ir("--output", tmp_path / "out.ll", path)
    assert done.returncode == 1 and f"[{code}]" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "out.ll").exists()


def test_a_kernel_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "in.ll"
    path.write_text(IR)
    done = ir("--kernel", "absent", "--output", tmp_path / "out.ll", path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1,
        f"error[FC0317]: absent: is not in {path}",
    )
    assert ir("--output", tmp_path / "out.ll", tmp_path / "none").returncode == 3
