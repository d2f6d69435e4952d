"""The readers and views of `fatcrate stages`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from fatcrate.rules.ninja import build, session
from fatcrate.rules.stages import command, files, mir, parse, view
from fatcrate.rules.stages.model import (
    Chain,
    Listing,
    Place,
    by_place,
    own_place,
    parse_chain,
    text_of,
)
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools


def own(file: str) -> bool:
    return not file.startswith("/")


def test_chains() -> None:
    text = "/rustc/core/a.rs:1:2 in my file in b.rs:30:4 in c.rs:5:0"
    chain = parse_chain(text)
    assert chain == (
        Place("/rustc/core/a.rs", 1, 2),
        Place("my file in b.rs", 30, 4),
        Place("c.rs", 5),
    )
    assert own_place(chain, own) == Place("my file in b.rs", 30)
    assert own_place(chain[:1], own) is None
    assert parse_chain(text_of(chain[:2])) == chain[:2]
    for other in ("", "preds = %4", "a.rs:1", "a.rs:1:2 and more"):
        assert parse_chain(other) == ()


IR = """\
@tile = internal addrspace(3) global [4 x i8] undef

; demo::k
define ptx_kernel void @k(i32 %0) {  ; k.rs:3:0
  %2 = add i32 %0, 1  ; k.rs:4:5
  br label %3

3:                                                ; preds = %1
  ret void  ; /core/x.rs:9:1 in k.rs:5:2
}
"""


def test_ir() -> None:
    listing = parse.ir("linked", IR)
    assert listing.lines[4].text == "  %2 = add i32 %0, 1"
    tied = by_place(listing.lines, own)
    assert {place and place.line: [n for n, _ in lines] for place, lines in tied.items()} == {
        3: [1, 3, 4],
        4: [5],
        None: [6],
        5: [8, 9, 10],
    }


PTX = """\
.version 9.0

.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	ret;
}
.extern .func abort
()
;
.visible .entry other(
)
{
	ret;
}
	// .globl	k
.visible .entry k(
	.param .u32 k_param_0
)
{
	.reg .b32 	%r<3>;
$L__func_begin0:
	.loc	1 3 0
	ld.param.b32 	%r1, [k_param_0];
$L__tmp0:
	.loc	1 1000001 1
	call.uni (retval0), helper, (param0);
	.loc	1 0 1
	bra.uni	$L__BB0_1;
$L__BB0_1:
	.loc	1 1000000 1
	ret;
}
	.file	1 "./k.rs", 1, 1
// place 1000000 = k.rs:6:2
// place 1000001 = /core/y.rs:1:1 in k.rs:5:7
"""


def test_ptx() -> None:
    listing = parse.ptx(PTX, "k")
    code = [(line.text.split()[0], text_of(line.chain)) for line in listing.lines if line.chain]
    assert code == [
        ("ld.param.b32", "k.rs:3"),
        ("call.uni", "/core/y.rs:1:1 in k.rs:5:7"),
        ("ret;", "k.rs:6:2"),
    ]
    text = "\n".join(line.text for line in listing.lines)
    assert "helper(" in text and "other" not in text and "abort" not in text
    assert "$L__BB0_1:" in text and "$L__tmp0" not in text and ".loc" not in text
    assert parse.ptx(PTX, "absent").lines == []


SASS = """\
	.target	sm_90
//--------------------- .text.other --------------------------
	.section	.text.other,"ax",@progbits
.text.other:
        /*0000*/                   EXIT ;
//--------------------- .text.k     --------------------------
	.section	.text.k,"ax",@progbits
	.align	128
k:
.text.k:
	//## File "./k.rs", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "./k.rs", line 1000001
        /*0010*/              @!P0 IMAD   R1, R2 ;
.L_x_0:
        /*0020*/                   BRA `(.L_x_0);
"""


def test_sass() -> None:
    listing = parse.sass(SASS, "k", parse.table(PTX))
    assert [(line.text, text_of(line.chain)) for line in listing.lines] == [
        ("/*0000*/  LDC R1, c[0x0][0x28] ;", "k.rs:3"),
        ("/*0010*/  @!P0 IMAD  R1, R2 ;", "/core/y.rs:1:1 in k.rs:5:7"),
        (".L_x_0:", ""),
        ("/*0020*/  BRA `(.L_x_0);", "/core/y.rs:1:1 in k.rs:5:7"),
    ]


MIR = """\
// WARNING: for people
const N: usize = const 4_usize;

fn away() -> () {
    bb0: {
        return;                          // scope 0 at k.rs:90:2: 90:2
    }
}

fn k(_1: u32) -> () {
    debug n => _1;                       // in scope 0 at k.rs:3:6: 3:7
    let mut _0: ();                      // return place in scope 0 at k.rs:3:9: 3:9
    scope 1 (inlined #[track_caller] a::f) { // at k.rs:5:9: 5:12
        scope 2 {
            scope 3 (inlined b::g) { // at a.rs:20:1: 20:4
            }
        }
    }

    bb0: {
        _2 = Add(copy _1, const 1_u32);  // scope 3 at /core/b.rs:7:8: 7:9
                                         // mir::ConstOperand
        goto -> bb1;                     // scope 0 at k.rs:6:1: 6:2
    }
}
"""


def test_mir() -> None:
    listing = mir.listing([MIR], "k", {Place("k.rs", 5)})
    text = "\n".join(line.text for line in listing.lines)
    assert text.startswith("fn k(_1: u32) -> () {\n    debug n => _1;\n")
    assert "away" not in text and "//" not in text
    chains = {line.text.strip(): text_of(line.chain) for line in listing.lines if line.chain}
    assert chains["_2 = Add(copy _1, const 1_u32);"] == ("/core/b.rs:7:8 in a.rs:20:1 in k.rs:5:9")
    assert chains["scope 3 (inlined b::g) {"] == "a.rs:20:1 in k.rs:5:9"
    assert chains["goto -> bb1;"] == "k.rs:6:1"


def listing(stage: str, *lines: tuple[str, Chain]) -> Listing:
    made = Listing(stage)
    for text, chain in lines:
        made.add(text, chain)
    return made


def test_side_by_side() -> None:
    source = view.Source(own, lambda file: [f"line {n} of {file}" for n in range(1, 20)])
    first = listing(
        "ptx", ("  one", (Place("a.rs", 2),)), ("  two", ()), ("  three", (Place("a.rs", 4),))
    )
    second = listing("sass", ("a very long instruction, indeed", (Place("b.rs", 9),)))
    shown = view.side_by_side([first, second], source, "a.rs", 66, colours=False)
    assert list(shown) == [
        "source               │ ptx                  │ sass",
        "─────────────────────┼──────────────────────┼─────────────────────",
        "a.rs",
        "2  line 2 of a.rs    │ 1   one              │",
        "3  line 3 of a.rs    │                      │",
        "4  line 4 of a.rs    │ 3   three            │",
        "b.rs",
        "9  line 9 of b.rs    │                      │ 1 a very long",
        "                     │                      │     instruction,",
        "                     │                      │     indeed",
        "of no source line of the project",
        "                     │ 2   two              │",
    ]


def test_gaps_are_shown_as_such() -> None:
    places = {Place("b.rs", 1), Place("a.rs", 1), Place("a.rs", 5), Place("a.rs", 10)}
    assert view.shown_lines(places, "b.rs") == {"b.rs": [1], "a.rs": [1, 2, 3, 4, 5, 0, 10]}


@pytest.mark.parametrize(
    ("width", "stages"),
    [
        (40, ["source", "sass"]),
        (160, ["source", "ptx", "sass"]),
        (161, ["source", "optimised", "ptx", "sass"]),
        (400, ["source", "mir", "compiled", "linked", "optimised", "ptx", "sass"]),
    ],
)
def test_as_many_stages_as_fit(width: int, stages: list[str]) -> None:
    assert view.fitting(command.STAGES, width) == stages


def test_files(tmp_path: Path) -> None:
    ptx = listing("ptx", ("ret;", (Place("a.rs", 2, 1), Place("b.rs", 3))), ("}", ()))
    paths = files.write(str(tmp_path / "new"), [ptx], {"version": 1})
    assert [Path(path).name for path in paths] == ["4.ptx", "stages.json"]
    assert Path(paths[0]).read_text() == f"{'ret;':<60}  // a.rs:2:1 in b.rs:3\n}}\n"
    assert files.annotated(listing("linked", ("x", (Place("a.rs", 2),)))).endswith("  ; a.rs:2\n")


@pytest.fixture
def no_nvdisasm(tools: Tools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A project, in a world without nvdisasm."""
    without = dataclasses.replace(tools, nvdisasm="")
    for module in (session, command):
        monkeypatch.setattr(module, "discover", lambda **_: without)
    (tmp_path / "k.rs").write_text("#![no_std]\n")
    (tmp_path / "fatcrate.yaml").write_text(
        "version: 1\ncrates:\n  k: {path: k.rs}\nkernels:\n  t: {crates: [k], archs: [sm_90]}\n"
    )
    return tmp_path


def test_sass_needs_nvdisasm(no_nvdisasm: Path) -> None:
    with pytest.raises(FatcrateError) as caught:
        command.main(["t", "k", "-C", str(no_nvdisasm), "--stage", "source,ptx,sass"])
    assert str(caught.value) == (
        "error[FC0127]: nvdisasm: is not installed; it shows machine code as text\n"
        "  help: pip install nvidia-cuda-nvdisasm, or show the other stages:"
        " --stage source,ptx"
    )
    assert caught.value.exit_code == 3
    with pytest.raises(FatcrateError, match=r"help: pip install nvidia-cuda-nvdisasm$"):
        build.main(["-C", str(no_nvdisasm), "--save-temps", "--quiet"])
