"""Runs every folder beside this file as a case: sources, flags and expectations.

A case has ``case.toml`` and sources. Rust sources are crates, compiled in the order of their
names; first comment lines may say ``// deps: a b``, ``// flags: -Copt-level=0``,
``// edition: 2021``, ``// name: other``, ``// host`` (compiled for this machine) or ``// gpu``
(needs the device library). ``.ll`` files are passed as they are, ``.c``, ``.cpp`` and ``.cu``
(CUDA C++ without NVIDIA's headers) go through clang. Keys of ``case.toml``, all optional but
``about``:

``about``       what the case shows
``panic``       panic strategy of the sysroot (immediate-abort)
``crates``      what is linked, in this order (all)
``link``, ``codegen``, ``assemble``  further options of the steps
``archs``, ``levels``                what code is generated for (sm_80; 3)
``exit``, ``stderr``                 of the step that fails: its code and its whole text
``warnings``    whole text on stderr of the steps that succeed
``run``         launches on the CPU, lines of ``support/launches.py``; unoptimised and optimised
                code must give the same bits. Every kernel of a case has one, or stands in
``[not_run]``   kernel to the reason why the CPU cannot run it
``[expect]``    ``kernels``, ``statics``, ``kept``, ``pruned`` (lists; ``kept`` and ``pruned``
                are regular expressions on demangled names), ``ptx``, ``not_ptx`` (regular
                expressions), ``shared`` (kernel to bytes), ``max_registers``, ``stack``

``check.py`` in the folder may define ``check(shop, case)`` for anything else.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import re
import shutil
import subprocess
import tomllib
import zlib
from pathlib import Path
from typing import Any

import pytest
from fatcrate.lto import assemble, symbols
from fatcrate.toolchain.arch import parse_one
from fatcrate.toolchain.discover import Tools
from support import launches
from support.device import Outcome, Workshop

HERE = Path(__file__).parent
_SOURCES = (".rs", ".ll", ".c", ".cpp", ".cu")
CASES = sorted(p.parent.name for p in HERE.glob("*/case.toml"))


class StepFailed(Exception):
    """A step ended with an error, as a case may want it."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__(outcome.stderr)


def header(source: Path) -> dict[str, str]:
    """``// key: value`` lines at the top of a source file."""
    found: dict[str, str] = {}
    for line in source.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"// (\w+)(?::\s*(.*))?", line)
        if not match:
            break
        found[match[1]] = match[2] or ""
    return found


def shown(text: str, folder: Path) -> str:
    """Messages without what differs between folders and versions of rustc and ptxas."""
    text = text.replace(f"{folder}/", "")
    text = re.sub(r"\d+ bytes of (stores|loads)", r"N bytes of \1", text)
    return re.sub(r"(?<=C)s[0-9A-Za-z]{8,13}_", "s*_", text).strip()


def find_library() -> str | None:
    """The Rust toolchain's libLLVM, where the loader finds it."""
    for name in ("libLLVM.so.22.1", "libLLVM-22.so"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


class Case:
    """One folder, on its way through the steps."""

    def __init__(
        self, name: str, tools: Tools, folder: Path, root: Path, plain: bool = False
    ) -> None:
        self.name, self.source, self.root = name, HERE / name, root
        self.plain = plain  # crates without optimisation, whatever they ask for
        self.spec: dict[str, Any] = tomllib.loads((self.source / "case.toml").read_text())
        for path in self.source.iterdir():
            if path.is_file():
                shutil.copy(path, folder)
        self.shop = Workshop(tools, folder, self.spec.get("panic", "immediate-abort"))
        self.warnings = ""

    def need(self, outcome: Outcome) -> None:
        if outcome.code:
            raise StepFailed(outcome)
        self.warnings += outcome.stderr

    def build_inputs(self) -> None:
        folder = self.shop.folder
        sources = sorted(p for p in folder.iterdir() if p.suffix in _SOURCES)
        if any("gpu" in header(p) for p in sources if p.suffix == ".rs"):
            assert self.shop.gpu(self.root).code == 0
        for path in sources:
            if path.suffix == ".rs":
                self.compile(path)
            elif path.suffix == ".ll":
                self.shop.crates[path.stem] = path
            else:
                self.shop.crates[path.stem] = self.clang(path)

    def compile(self, path: Path) -> None:
        told = header(path)
        output = self.shop.folder / f"lib{path.stem}.rlib"
        deps = told.get("deps", "").split() + (["gpu"] if "gpu" in told else [])
        options: dict[str, Any] = {"deps": deps, "rustc_flags": told.get("flags", "").split()}
        for key, option in {"opt": "opt_level", "debug": "debug", "name": "crate_name"}.items():
            if key in told:
                options[option] = told[key]
        if self.plain:
            if told.get("opt") != "0":  # level 0 would switch them on
                options["rustc_flags"].insert(0, "-Cdebug-assertions=off")
            options["opt_level"] = "0"
        if "host" in told:
            command = [self.shop.tools.rustc, "--crate-type=rlib", "-Copt-level=1", "-o", output]
            subprocess.run([*command, path], check=True, cwd=self.shop.folder)
            self.shop.crates[path.stem] = output
            return
        outcome = self.shop.compile(
            path.stem, Path(path.name), edition=told.get("edition", "2024"), **options
        )
        assert outcome.code == 0, outcome.stderr

    def clang(self, path: Path) -> Path:
        clang = shutil.which("clang-22") or shutil.which("clang", path="/usr/lib/llvm-22/bin")
        if clang is None:
            pytest.skip("clang 22 is not installed")
        output = path.with_suffix(".bc")
        flags = ["-O1", "-emit-llvm", "-c", "-fno-rtti"]
        if path.suffix == ".cu":
            flags += ["--cuda-device-only", "--cuda-gpu-arch=sm_75", "-nocudainc", "-nocudalib"]
        else:
            flags += ["--target=nvptx64-nvidia-cuda", "-march=sm_75"]
        isa = ["-Xclang", "-target-feature", "-Xclang", "+ptx80"]
        command = [clang, *flags, *isa, "-o", output, path.name]
        subprocess.run(command, check=True, cwd=self.shop.folder)
        return output

    def run(self) -> None:
        """All steps; raises :class:`StepFailed` at the first that fails."""
        self.build_inputs()
        spec, shop = self.spec, self.shop
        order = spec.get("crates")
        crates = [(n, shop.crates[n]) for n in order] if order else None
        self.need(shop.link("case", *spec.get("link", []), crates=crates))
        for arch in spec.get("archs", ["sm_80"]):
            for level in spec.get("levels", ["3"]):
                self.need(shop.codegen("case", arch, level, *spec.get("codegen", [])))
                if not arch.startswith("compute"):
                    self.need(shop.assemble("case", arch, *spec.get("assemble", [])))
                self.check_code(arch)

    def compare_engines(self) -> None:
        """Links and generates with the other engine: same manifest, same resources."""
        spec, shop = self.spec, self.shop
        library = find_library()
        if library is None:
            return
        engine = f"--engine=libllvm={library}"
        order = spec.get("crates")
        crates = [(n, shop.crates[n]) for n in order] if order else None
        arch = next((a for a in spec.get("archs", ["sm_80"]) if a.startswith("sm_")), "sm_80")
        level = spec.get("levels", ["3"])[-1]
        links, reports = [], []
        for extra in ([], [engine]):
            self.need(shop.link("case", *spec.get("link", []), *extra, crates=crates))
            links.append(shop.text("case.manifest.json"))
            self.need(shop.codegen("case", arch, level, *spec.get("codegen", []), *extra))
            self.need(shop.assemble("case", arch, *spec.get("assemble", [])))
            reports.append(shop.json(f"case.{arch}.json")["kernels"])
        assert links[0] == links[1]
        assert reports[0] == reports[1]

    def compare_sharing(self, full: bool) -> None:
        """PTX shared between architectures is what each would have got by itself.

        Code that some arch does not have fails alike both ways; the other archs are compared.
        """
        archs = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
        shared, apart = (self._several(archs, *extra) for extra in ([], ["--no-share"]))
        lacking = re.findall(r"cannot generate code for (\w+): ", apart[1])
        assert shared[0] == apart[0] == (1 if lacking else 0), apart[1]
        assert shared[1] == apart[1]
        assert shared[2] == apart[2]
        assert sorted(shared[2]) == sorted(set(archs) - set(lacking))
        for arch in archs if full else []:
            alone = self.shop.codegen("case", arch, "3", *self.spec.get("codegen", []))
            assert alone.code == (1 if arch in lacking else 0), alone.stderr
            if arch not in lacking:
                assert self.shop.text(f"case.{arch}.ptx") == shared[2][arch]

    def _several(self, archs: list[str], *options: str) -> tuple[int, str, dict[str, str]]:
        """Code generation for several archs at once: exit code, messages, PTX by arch."""
        files = {arch: self.shop.folder / f"share.{arch}.ptx" for arch in archs}
        for path in files.values():
            path.unlink(missing_ok=True)
        first, *rest = archs
        also = [f"--also={arch}={files[arch]}" for arch in rest]
        options = (*self.spec.get("codegen", []), *also, *options)
        outcome = self.shop.codegen("case", first, "3", *options)
        made = self.shop.folder / f"case.{first}.ptx"
        if made.exists():
            made.rename(files[first])
        found = {arch: path.read_text() for arch, path in files.items() if path.exists()}
        return outcome.code, outcome.stderr, found

    def compare_on_cpu(self, full: bool) -> None:
        """Launches of the case: every stage and level leaves the same bits in the arrays."""
        folder = self.shop.folder
        table, reasons = self.spec.get("run", []), self.spec.get("not_run", {})
        declared = self.shop.json("case.manifest.json")["kernels"]
        kernels = {k["name"]: len(k["parameters"]) for k in declared}
        missing = launches.unlisted(kernels, table, reasons)
        assert not missing, f"no line in `run` or reason in `not_run`: {missing}"
        if table:
            linked, manifest = folder / "case.bc", folder / "case.manifest.json"
            others = [self.link_plain()] if full else []
            launches.compare(linked, manifest, table, self.name, full, others)

    def link_plain(self) -> Path:
        """The linked module of the same crates, compiled without optimisation."""
        folder = self.shop.folder / "plain"
        folder.mkdir()
        case = Case(self.name, self.shop.tools, folder, self.root, plain=True)
        with contextlib.chdir(folder):
            case.build_inputs()
            order = self.spec.get("crates")
            crates = [(n, case.shop.crates[n]) for n in order] if order else None
            case.need(case.shop.link("case", *self.spec.get("link", []), crates=crates))
        return folder / "case.bc"

    def check_link(self) -> None:
        expect = self.spec.get("expect", {})
        manifest, report = self.shop.json("case.manifest.json"), self.shop.json("case.link.json")
        kernels = [k["name"] for k in manifest["kernels"]]
        assert kernels == sorted(expect.get("kernels", kernels))
        statics = [s["name"] for s in manifest["statics"]]
        assert statics == expect.get("statics", statics)
        for kernel in manifest["kernels"]:
            if kernel["name"] in expect.get("shared", {}):
                assert kernel["static_shared"] == expect["shared"][kernel["name"]]
        names = {
            "kept": report["kept"],
            "pruned": [n for c in report["crates"] for n in c["pruned"]],
        }
        for key, present in names.items():
            shown = [symbols.demangle(n) for n in present]
            for pattern in expect.get(key, []):
                assert any(re.search(pattern, n) for n in shown), (key, pattern, shown)

    def check_code(self, arch: str) -> None:
        expect = self.spec.get("expect", {})
        ptx = self.shop.text(f"case.{arch}.ptx")
        for pattern in [*expect.get("ptx", []), *expect.get("ptx_" + arch, [])]:
            assert re.search(pattern, ptx, re.MULTILINE), f"{pattern} not in\n{ptx}"
        for pattern in [*expect.get("not_ptx", []), *expect.get("not_ptx_" + arch, [])]:
            assert not re.search(pattern, ptx, re.MULTILINE), f"{pattern} in\n{ptx}"
        if arch.startswith("compute"):
            self.check_virtual(arch)
            return
        for kernel in self.shop.json(f"case.{arch}.json")["kernels"]:
            assert kernel["registers"] <= expect.get("max_registers", 255)
            assert kernel["stack"] <= expect.get("stack", 1 << 30)

    def check_virtual(self, arch: str) -> None:
        """PTX that the user's driver compiles is PTX that ptxas takes."""
        real, output = arch.replace("compute", "sm"), self.shop.folder / "virtual.cubin"
        ptx = self.shop.folder / f"case.{arch}.ptx"
        done = assemble.run_ptxas(
            self.shop.tools.ptxas, parse_one(real), str(ptx), str(output), ["-O0"]
        )
        assert done.code == 0, done.output


@pytest.mark.parametrize("name", CASES)
def test_case(
    name: str,
    tools: Tools,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    case = Case(name, tools, tmp_path, root)
    wanted = case.spec.get("stderr")
    try:
        case.run()
    except StepFailed as failure:
        assert wanted is not None, failure.outcome.stderr
        assert shown(failure.outcome.stderr, tmp_path) == wanted.strip()
        assert failure.outcome.code == case.spec.get("exit", 1)
        leftovers = [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")]
        assert leftovers == []
        return
    assert wanted is None, "the case should have failed"
    assert shown(case.warnings, tmp_path) == case.spec.get("warnings", "").strip()
    case.check_link()
    special = case.source / "check.py"
    if special.exists():
        spec = importlib.util.spec_from_file_location(f"check_{name}", special)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.check(case.shop, case)

    case.compare_on_cpu(full)
    case.compare_engines()
    if full or zlib.crc32(name.encode()) % 6 == 0:
        case.compare_sharing(full)


def test_there_are_cases() -> None:
    assert len(CASES) >= 120
