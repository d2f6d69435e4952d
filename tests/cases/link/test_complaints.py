"""Public complaints about linking device code: LLVM's tools alone still give them cause.

Each row of README.md's table has a test here that links the row's first case with `llvm-link`,
`opt`, `llc` and ptxas, and finds what the complaint says. The PTX that comes out, if any, does
not pass the case's own expectations, so these would notice the fault in ours.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.lto_set import llvm_tool
from fatcrate.lto import assemble, inputs
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools

from tests.cases.link.test_link_cases import CASES, HERE, Case

ROWS = re.findall(r"^\| ([^|]+) \| (`[^|]+`) \|", (HERE / "README.md").read_text(), re.MULTILINE)


class ByHand:
    """A case's inputs, and LLVM's tools in the folder."""

    def __init__(self, case: Case) -> None:
        self.case, self.folder = case, case.shop.folder
        self.arch = case.spec.get("archs", ["sm_80"])[0]
        self.modules = {
            name: [self._module(f"{name}.{n}", m.data) for n, m in enumerate(unit.members)]
            for name, path in case.shop.crates.items()
            for unit in [inputs.load(name, "crate", str(path))]
        }

    def _module(self, name: str, data: bytes) -> Path:
        path = self.folder / f"{name}.hand.bc"
        path.write_bytes(data)
        return path

    def tool(self, name: str, *argv: str | Path) -> subprocess.CompletedProcess[str]:
        command = [llvm_tool(name), *argv]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)

    def text(self, module: str) -> str:
        return self.tool("llvm-dis", module, "-o", "-").stdout

    def link(self, *argv: str | Path) -> subprocess.CompletedProcess[str]:
        modules = argv or [path for paths in self.modules.values() for path in paths]
        return self.tool("llvm-link", *modules, "-o", "all.bc")

    def generate(self, level: str = "3") -> subprocess.CompletedProcess[str]:
        """PTX of what was linked: ``hand.ptx``, in the oldest version that has the arch."""
        done = self.tool("opt", f"-mcpu={self.arch}", f"-O{level}", "all.bc", "-o", "opt.bc")
        assert done.returncode == 0, done.stderr
        return self.tool("llc", f"-mcpu={self.arch}", f"-O{level}", "opt.bc", "-o", "hand.ptx")

    def ptx(self, level: str = "3") -> str:
        """Links, generates, and returns the PTX, which the case's expectations must refuse."""
        assert self.link().returncode == 0
        return self.generated(level)

    def generated(self, level: str = "3") -> str:
        done = self.generate(level)
        assert done.returncode == 0, done.stderr
        text = (self.folder / "hand.ptx").read_text()
        if "stderr" not in self.case.spec and self.ptxas().code == 0:
            (self.folder / f"case.{self.arch}.ptx").write_text(text)
            with pytest.raises(AssertionError):
                self.case.check_code(self.arch)
        return text

    def ptxas(self) -> assemble.Run:
        ptx, cubin = str(self.folder / "hand.ptx"), str(self.folder / "hand.cubin")
        tools = self.case.shop.tools
        return assemble.run_ptxas(tools.ptxas, parse_one(self.arch), ptx, cubin, [])


def _undefined_function(hand: ByHand) -> None:
    assert re.search(r"^\.extern \.func .*\bmissing$", hand.ptx(), re.MULTILINE)


def _bounds_check(hand: ByHand) -> None:
    assert hand.link().returncode == 0 and hand.generate().returncode == 0
    assert re.search(r"\.extern \.func \w*panic_bounds_check", hand.generated())
    assert re.search(r"Unresolved extern function '\w*panic_bounds_check", hand.ptxas().output)


def _memcpy(hand: ByHand) -> None:
    said = hand.link()
    assert said.returncode == 1
    assert said.stderr.strip() == (
        "error: Linking globals named 'memcpy': symbol multiply defined!"
    )


def _aliases(hand: ByHand) -> None:
    assert hand.link().returncode == 0
    said = hand.generate()
    assert said.returncode != 0 and "alias" in said.stderr


def _colliding(hand: ByHand) -> None:
    text = hand.ptx()
    assert re.findall(r"\.shared .*\btile\[(\d+)\]", text) == ["256"]
    assert ".entry ka" in text and ".entry kb" in text and hand.ptxas().code == 0


def _in_global_memory(hand: ByHand) -> None:
    assert re.search(r"^\.global .*3BUF\[128\]", hand.ptx(), re.MULTILINE)
    assert hand.ptxas().code == 0


def _generic_store(hand: ByHand) -> None:
    text = hand.ptx()
    pointer = re.search(r"st\.b32 \t\[(%rd\d+)\]", text)  # any address space
    assert pointer and ".shared" not in text
    assert re.search(r"call\.uni \(retval0\), \w+___fatcrate_shared", text)


def _dots(hand: ByHand) -> None:
    assert hand.link().returncode == 0
    said = hand.generate("0")
    assert said.returncode != 0 and "Symbol name with unsupported characters" in said.stderr


def _convention(hand: ByHand) -> None:
    (kernel,) = hand.modules["kern"]
    libdevice = hand.case.shop.tools.libdevice
    assert hand.link("--internalize", libdevice, kernel).returncode == 0
    assert "define internal ptx_kernel void @k(" in hand.text("all.bc")
    assert hand.tool("opt", "-passes=globaldce", "all.bc", "-o", "opt.bc").returncode == 0
    assert "@k(" not in hand.text("opt.bc")


def _dropped(hand: ByHand) -> None:
    assert hand.link("--only-needed", *hand.modules["b"], *hand.modules["a"]).returncode == 0
    text = hand.generated()
    assert ".entry from_top(" in text and "from_library" not in text
    assert hand.ptxas().code == 0


def _nothing(hand: ByHand) -> None:
    assert ".entry" not in hand.ptx() and hand.ptxas().code == 0


def _debug(hand: ByHand) -> None:
    assert ".debug_info" in hand.ptx("0")
    said = hand.ptxas()
    assert said.code != 0 and "requires PTX ISA .version 7.0" in said.output


def _host(hand: ByHand) -> None:
    said = hand.link()
    assert said.returncode == 0 and "different target triples" in said.stderr
    assert 'target triple = "x86_64' in hand.text("all.bc")


def _selection(hand: ByHand) -> None:
    assert hand.link().returncode == 0
    said = hand.generate("0")
    assert said.returncode != 0 and "setmaxnreg" in said.stderr


SYMPTOMS: dict[str, Callable[[ByHand], None]] = {
    "undefined-function": _undefined_function,
    "panic-bounds-check-printing": _bounds_check,
    "memcpy-twice": _memcpy,
    "resolve-alias-variable": _aliases,
    "shared-sizes-differ": _colliding,
    "shared-section": _in_global_memory,
    "shared-generic-store": _generic_store,
    "dots-in-names": _dots,
    "kernel-convention-libdevice": _convention,
    "library-kernels": _dropped,
    "kernels-none": _nothing,
    "debug-full": _debug,
    "host-crate": _host,
    "arch-guard": _selection,
}


def test_the_table_names_cases() -> None:
    named = [re.findall(r"`([^`]+)`", cases) for _, cases in ROWS]
    assert {name for names in named for name in names} <= set(CASES)
    assert [names[0] for names in named] == list(SYMPTOMS)


@pytest.mark.parametrize("name", SYMPTOMS)
def test_complaint(
    name: str, tools: Tools, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        llvm_tool("llvm-link")
    except SystemExit as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    case = Case(name, tools, tmp_path, root)
    case.build_inputs()
    SYMPTOMS[name](ByHand(case))
