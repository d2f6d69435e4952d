"""Discovery on made-up folder layouts, and on the tools that are installed here."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fatcrate.toolchain import compat, identity, probe
from fatcrate.toolchain.discover import Survey, Tools, discover
from fatcrate.toolchain.locate import Request, Watch
from fatcrate.toolchain.survey import survey
from support import layouts


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A root with a C compiler and a CUDA toolkit; tests add the Rust side."""
    layouts.c_compiler(tmp_path / "usr/bin")
    layouts.cuda(tmp_path / "usr/local/cuda")
    return tmp_path


def found(request: Request) -> Tools:
    return survey(Watch(), request, "0" * 64).tools()


def codes(result: Survey) -> list[str]:
    return [fault.kind.code for fault in result.faults]


def test_debian_first(box: Path) -> None:
    layouts.rustc(box / "usr")
    layouts.rust_src(box / "usr")
    layouts.rust_src(layouts.rustup(box / "rustup", "nightly"))
    tools = found(layouts.request(box))
    assert tools.rustc == f"{box}/usr/bin/rustc"
    assert tools.rust_src == f"{box}/usr/lib/rustlib/src/rust/library"
    assert tools.prebuilt == ""
    assert tools.provenance["rustc"] == "Debian package rustc-web"
    assert tools.provenance["rust_src"] == "Debian package rust-web-src"


def test_rustup_with_sources(box: Path) -> None:
    sysroot = layouts.rustup(box / "rustup", "nightly-x86_64-unknown-linux-gnu")
    library = layouts.rust_src(sysroot)
    tools = found(layouts.request(box))
    assert (tools.rustc, tools.rust_src) == (f"{sysroot}/bin/rustc", str(library))
    assert tools.provenance["rustc"] == "rustup nightly-x86_64-unknown-linux-gnu"
    assert tools.identity.rust_src.kind == "source"


def test_rustup_default_toolchain_goes_first(box: Path) -> None:
    for name in ("a", "b", "c"):
        layouts.rust_src(layouts.rustup(box / "rustup", name))
    (box / "rustup/settings.toml").write_text('default_toolchain = "b"\n', encoding="utf-8")
    assert found(layouts.request(box)).provenance["rustc"] == "rustup b"


def test_rustup_with_prebuilt_target(box: Path) -> None:
    layouts.rustup(box / "rustup", "bare")
    sysroot = layouts.rustup(box / "rustup", "stable")
    folder = layouts.prebuilt(sysroot)
    tools = found(layouts.request(box))
    assert (tools.rustc, tools.sysroot) == (f"{sysroot}/bin/rustc", str(sysroot))
    assert (tools.rust_src, tools.prebuilt) == ("", str(folder))
    assert tools.identity.rust_src.kind == "prebuilt"


def test_sources_are_preferred_to_a_prebuilt_target(box: Path) -> None:
    layouts.prebuilt(layouts.rustup(box / "rustup", "a"))
    layouts.rust_src(layouts.rustup(box / "rustup", "b"))
    assert found(layouts.request(box)).provenance["rustc"] == "rustup b"


def test_rustc_without_library_names_the_command(box: Path) -> None:
    layouts.rustup(box / "rustup", "stable")
    result = survey(Watch(), layouts.request(box), "")
    assert codes(result) == ["FC0230"]
    assert result.faults[0].remedy == "rustup component add rust-src --toolchain stable"
    assert (result.state("rustc"), result.state("rust_src")) == ("ok", "missing")


def test_no_rustc_at_all(box: Path) -> None:
    result = survey(Watch(), layouts.request(box), "")
    assert [f.render() for f in result.faults] == [
        "error[FC0230]: rustc: is not installed\n  help: apt-get install rustc-web rust-web-src"
    ]


def test_every_candidate_is_explained_when_none_fits(box: Path) -> None:
    layouts.rustup(box / "rustup", "bare")
    layouts.rust_src(layouts.rustup(box / "rustup", "future", version="1.99.0", llvm="23.1.0"))
    result = survey(Watch(), layouts.request(box), "")
    assert codes(result) == ["FC0230"]
    notes = "\n".join(result.faults[0].notes)
    assert "rustup component add rust-src --toolchain bare" in notes
    assert "rustc writes bitcode of LLVM 23.1.0" in notes


@pytest.mark.parametrize(
    ("version", "llvm", "code"),
    [
        ("1.96.0", "21.1.8", "FC0232"),
        ("1.96.0", "22.1.99", "FC0233"),
        ("1.80.0", "22.1.8", "FC0232"),
    ],
)
def test_incompatible_rustc(box: Path, version: str, llvm: str, code: str) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x", version=version, llvm=llvm))
    result = survey(Watch(), layouts.request(box), "")
    assert codes(result) == [code]
    assert result.state("rustc") == "unusable"


def test_untested_llvm_can_be_allowed(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x", llvm="22.1.99"))
    assert found(layouts.request(box, allow_untested_llvm=True)).identity.rustc.llvm == "22.1.99"


def test_sources_of_another_release_are_refused(box: Path) -> None:
    layouts.rustc(box / "usr")
    library = layouts.rust_src(box / "usr")
    (library.parent / "version").write_text("1.95.0 (abc)\n", encoding="utf-8")
    result = survey(Watch(), layouts.request(box), "")
    assert codes(result) == ["FC0232"]
    assert "is of release 1.95.0" in result.faults[0].message


def test_explicit_files_win(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "nightly"))
    sysroot = layouts.rustup(box / "elsewhere", "mine")
    library = layouts.rust_src(sysroot)
    cuda = layouts.cuda(box / "opt/cuda", version="12.9.1", isa="8.8")
    tools = found(
        layouts.request(
            box,
            rustc=str(sysroot / "bin/rustc"),
            ptxas=str(cuda / "bin/ptxas"),
            libdevice=str(cuda / "nvvm/libdevice/libdevice.10.bc"),
        )
    )
    assert tools.rust_src == str(library)
    assert tools.identity.ptxas.version == "12.9.1"
    assert tools.provenance["ptxas"] == "FATCRATE_PTXAS"


def test_a_wrapper_is_kept_and_a_rustup_proxy_is_looked_through(box: Path) -> None:
    sysroot = layouts.rustup(box / "rustup", "nightly")
    layouts.rust_src(sysroot)
    wrapper = box / "bin/rustc"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {sysroot}/bin/rustc "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    assert found(layouts.request(box, rustc=str(wrapper))).rustc == str(wrapper)
    (wrapper.parent / "rustup").hardlink_to(wrapper)
    tools = found(layouts.request(box, rustc=str(wrapper)))
    assert tools.rustc == f"{sysroot}/bin/rustc"
    assert tools.provenance["rustc"] == "FATCRATE_RUSTC"


def test_explicit_files_that_are_not_there_are_all_named(box: Path) -> None:
    result = survey(
        Watch(),
        layouts.request(
            box,
            rustc="/nowhere/rustc",
            ptxas="/nowhere/p",
            libdevice="/nowhere/l",
            host_linker="/n",
        ),
        "",
    )
    assert codes(result) == ["FC0230"] * 4
    assert {f.message.split()[0] for f in result.faults} == {
        "FATCRATE_RUSTC",
        "FATCRATE_PTXAS",
        "FATCRATE_LIBDEVICE",
        "FATCRATE_HOST_LINKER",
    }


def test_cuda_toolkits_newest_first(tmp_path: Path) -> None:
    layouts.c_compiler(tmp_path / "usr/bin")
    layouts.rust_src(layouts.rustup(tmp_path / "rustup", "x"))
    layouts.cuda(tmp_path / "usr/local/cuda-9.2", version="9.2.1")
    layouts.cuda(tmp_path / "usr/local/cuda-12.4", version="12.4.131", isa="8.4")
    tools = found(layouts.request(tmp_path))
    assert tools.ptxas == f"{tmp_path}/usr/local/cuda-12.4/bin/ptxas"
    assert tools.identity.ptxas.max_ptx_isa == "8.4"


def test_cuda_home_and_wheels_go_before_usr_local(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    home = layouts.cuda(box / "opt/cuda")
    assert found(layouts.request(box, cuda_home=str(home))).ptxas == f"{home}/bin/ptxas"
    wheel = layouts.cuda(box / "site-packages/nvidia/cu13")
    request = layouts.request(box, cuda_home=str(home), packages=(str(box / "site-packages"),))
    assert found(request).ptxas == f"{wheel}/bin/ptxas"


def test_cuda_on_path(tmp_path: Path) -> None:
    layouts.c_compiler(tmp_path / "usr/bin")
    layouts.rust_src(layouts.rustup(tmp_path / "rustup", "x"))
    root = layouts.cuda(tmp_path / "opt/toolkit")
    request = layouts.request(tmp_path, path=f"/usr/bin:{root}/bin")
    assert found(request).libdevice == f"{root}/nvvm/libdevice/libdevice.10.bc"


def test_a_program_that_is_no_ptxas(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    layouts.program(box / "usr/local/cuda/bin/ptxas", ("--version", "hello"))
    result = survey(Watch(), layouts.request(box), "")
    assert codes(result) == ["FC0231"]
    assert result.faults[0].notes == ("hello",)


def test_a_damaged_llvm_is_reported(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    python = layouts.program(box / "broken", ("-I", "ImportError: libllvmlite.so"))
    result = survey(Watch(), layouts.request(box, python=str(python)), "")
    assert codes(result) == ["FC0231"]
    assert result.state("llvm") == "unusable"


def test_llvm_that_aborts_at_one_arch_answers_for_the_others(tmp_path: Path) -> None:
    python = tmp_path / "python3"
    python.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "print(json.dumps({'package': 'p', 'version': '22.1.0', 'max_ptx_isa': '9.0'}))\n"
        "for arch in sys.argv[5:]:\n"
        "    if arch == 'sm_52':\n"
        "        sys.stdout.flush()\n"
        "        os.abort()\n"
        "    print(json.dumps({'arch': arch, 'isa': '7.0' if arch < 'sm_54' else ''}))\n",
        encoding="utf-8",
    )
    python.chmod(0o755)
    archs = probe.llvm(str(python)).archs
    assert "sm_52" not in archs
    assert {"sm_50", "sm_51", "sm_53"} <= set(archs)


def environment(box: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(box / "cache")}


def test_cache_notices_changed_added_and_removed_files(box: Path) -> None:
    sysroot = layouts.rustup(box / "rustup", "x")
    layouts.rust_src(sysroot)
    request = layouts.request(box)

    def version() -> str:
        return discover(request, environ=environment(box)).identity.rustc.version

    assert version() == "1.96.0"
    assert len(list((box / "cache/fatcrate").iterdir())) == 1
    layouts.rustc(sysroot, version="1.97.0")
    assert version() == "1.97.0"
    layouts.rustc(box / "usr", version="1.98.0")  # a better candidate appears
    layouts.rust_src(box / "usr")
    assert version() == "1.98.0"
    (box / "usr/bin/rustc").unlink()
    assert version() == "1.97.0"


def test_cache_is_used_and_damage_is_survived(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    request = layouts.request(box)
    first = discover(request, environ=environment(box))
    (entry,) = (box / "cache/fatcrate").iterdir()
    planted = json.loads(entry.read_text(encoding="utf-8"))
    planted["tools"]["ptxas"] = "/planted"
    entry.write_text(json.dumps(planted), encoding="utf-8")
    assert discover(request, environ=environment(box)).ptxas == "/planted"
    assert discover(request, environ=environment(box), refresh=True) == first
    for damage in ("", "{", "[]", "{}", '{"key": 1}'):
        entry.write_text(damage, encoding="utf-8")
        assert discover(request, environ=environment(box)) == first


def test_old_entries_go(box: Path) -> None:
    """Each PATH has an entry of its own; the newest stay, and what is none of them does."""
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    folder = box / "cache/fatcrate"
    (folder / "sysroot").mkdir(parents=True)
    killed, running = folder / ".toolchain-1.json.12.tmp", folder / ".toolchain-2.json.13.tmp"
    for path in (killed, running, folder / "mine.json"):
        path.write_text("")
    os.utime(killed, (0, 0))
    for number in range(40):
        entry = folder / f"toolchain-{number:08x}.json"
        entry.write_text("{}")
        os.utime(entry, (number, number))
    request = layouts.request(box)
    first = discover(request, environ=environment(box))
    names = {path.name for path in folder.iterdir()}
    assert {"sysroot", "mine.json", running.name} < names and killed.name not in names
    entries = sorted(name for name in names if name.startswith("toolchain-"))
    assert len(entries) == 16
    assert len(set(entries) & {f"toolchain-{number:08x}.json" for number in range(25, 40)}) == 15
    assert discover(request, environ=environment(box)) == first


def test_entries_come_and_go_at_once(box: Path) -> None:
    """More processes than entries that are kept, all at the same time."""
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    request = layouts.request(box)

    def find(number: int) -> str:
        asked = dataclasses.replace(request, path=f"{request.path}:/nowhere/{number}")
        found = [discover(asked, environ=environment(box)) for _ in range(3)]
        return found[-1].identity.rustc.version

    with ThreadPoolExecutor(24) as pool:
        assert set(pool.map(find, range(24))) == {"1.96.0"}
    assert len(list((box / "cache/fatcrate").iterdir())) <= 16


def test_without_a_place_for_a_cache(box: Path) -> None:
    layouts.rust_src(layouts.rustup(box / "rustup", "x"))
    (box / "file").write_text("", encoding="utf-8")
    for environ in ({}, {"XDG_CACHE_HOME": str(box / "file")}):
        assert discover(layouts.request(box), environ=environ).rustc


def test_installed_toolchain(tools: Tools) -> None:
    """The tools of this machine, as every other test uses them."""
    identity_ = tools.identity
    assert compat.check_llvm(identity_.rustc.llvm, identity_.llvm.version) is None
    for arch in ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_120"):
        assert arch in identity_.buildable()
    assert not {"sm_85", "sm_130", "sm_90f"} & set(identity_.llvm.archs)
    assert identity.loads(identity_.to_json()) == identity_
    assert str(Path(tools.ptxas).parent) not in identity_.to_json()


def test_cached_discovery_takes_milliseconds(tools: Tools) -> None:
    discover()
    best = min(_timed() for _ in range(5))
    assert best < 0.05, f"{best:.3f} s"


def _timed() -> float:
    start = time.perf_counter()
    discover()
    return time.perf_counter() - start
