"""`fatcrate pack`: the named checks, their texts, and what --allow and --deny do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.fatbin import checks, errors, ptx, reader
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.discover import Tools
from support import images
from support.device import Outcome, fatcrate


class Folder:
    """A folder with images to pack."""

    def __init__(self, path: Path, tools: Tools) -> None:
        self.path = path
        self._tools = tools
        self.output = path / "k.fatbin"

    def cubin(self, arch: str, *options: str) -> str:
        data = images.cubin(self._tools.ptxas, arch, options=options)
        return self.file(f"{arch}{''.join(options)}.cubin", data)

    def ptx(self, arch: str, isa: str = "") -> str:
        return self.file(f"{arch}.ptx", images.ptx(arch, isa=isa))

    def file(self, name: str, data: bytes) -> str:
        (self.path / name).write_bytes(data)
        return name

    def pack(self, *argv: str) -> Outcome:
        return fatcrate("pack", "-o", self.output, *argv)


@pytest.fixture
def folder(tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path, tools)


def test_a_clean_set_says_nothing(folder: Folder) -> None:
    done = folder.pack(
        f"sm_80={folder.cubin('80')}",
        f"9.0a={folder.cubin('90a')}",
        f"compute_80={folder.ptx('80')}",
        "--allow", "never-chosen",
    )  # fmt: skip
    assert done == Outcome(0, "", "")
    found = reader.read(Source("k", data=folder.output.read_bytes())).images
    assert [str(i.arch) for i in found] == ["sm_80", "sm_90a", "compute_80"]
    assert {i.method for i in found} == {"zstd"}


def allowed(name: str) -> str:
    """How a warning says that it can be silenced."""
    return (
        f"; or allow it: `allow: [{name}]` of the target in fatcrate.yaml,"
        f' `allow = ["{name}"]` in a BUILD file, `--allow {name}` of pack\n'
    )


#: name -> (arguments with {files}, whole text of the finding without the file's name)
_CASES = {
    "sm-mismatch": (
        "sm_75={cubin:80}",
        "error[FC0430]: 80.cubin: is for sm_80, but is packed for sm_75 [sm-mismatch]\n"
        "  help: pack it under the arch that it was assembled for\n",
    ),
    "suffix-mismatch": (
        "sm_90={cubin:90a}",
        "error[FC0431]: 90a.cubin: is for sm_90a, but is packed for sm_90 [suffix-mismatch]\n"
        "  help: pack it under the arch that it was assembled for\n",
    ),
    "target-mismatch": (
        "compute_80={ptx:86}",
        "error[FC0432]: 86.ptx: has `.target sm_86`, but is packed for compute_80"
        " [target-mismatch]\n"
        "  help: pack it under the arch that it was generated for\n",
    ),
    "ptx-version": (
        "compute_90={old-ptx:90}",
        "error[FC0433]: 90.ptx: is PTX 7.0, but sm_90 needs at least 7.8 [ptx-version]\n"
        "  help: generate the PTX with a newer ISA version\n",
    ),
    "kind-mismatch": (
        "sm_90={ptx:90}",
        "error[FC0434]: 90.ptx: is PTX text, not what sm_90 stands for [kind-mismatch]\n"
        "  help: write compute_NN=FILE for PTX and sm_NN=FILE for a cubin\n",
    ),
    "duplicate": (
        "sm_80={cubin:80} sm_80={other-cubin:80}",
        "error[FC0436]: other.cubin: is a second cubin for sm_80, after 80.cubin [duplicate]\n"
        "  help: link the code into one image, or pack it into a second fat binary\n",
    ),
    "relocatable": (
        "sm_80={cubin-c:80}",
        "error[FC0437]: 80-c.cubin: is a relocatable cubin [relocatable]\n"
        "  help: link it with nvlink, or assemble without -c\n",
    ),
    "never-chosen": (
        "sm_90={cubin:90} sm_90a={cubin:90a}",
        "warning[FC0440]: k.fatbin: no device would choose cubin sm_90 [never-chosen]\n"
        "  help: leave the image out" + allowed("never-chosen"),
    ),
    "ptx-beats-cubin": (
        "sm_80={cubin:80} compute_86={ptx:86}",
        "warning[FC0441]: k.fatbin: ptx compute_86 would be preferred to cubin sm_80 on"
        " 8.6, 8.7, 8.8, 8.9 [ptx-beats-cubin]\n"
        "  help: add a cubin of the PTX's SM, or lower the PTX's arch" + allowed("ptx-beats-cubin"),
    ),
    "uncovered-device": (
        "sm_100={cubin:100} compute_100={ptx:100}",
        "warning[FC0442]: k.fatbin: no image runs on 10.7: cubin sm_100 ranks first there, but"
        " cannot run, and PTX of its SM or an older one is not fallen back to [uncovered-device]\n"
        "  help: add a cubin or PTX for an SM above 100 that 10.7 accepts, where your ptxas has"
        " one, or leave the cubin out" + allowed("uncovered-device"),
    ),
    "uncovered-device between others": (
        "sm_80={cubin:80} compute_120={ptx:120}",
        "warning[FC0442]: k.fatbin: no image runs on 9.0, 10.0, 10.3, 10.7, 11.0"
        " [uncovered-device]\n"
        "  help: add a cubin for the device or PTX of its compute capability or an older one"
        + allowed("uncovered-device"),
    ),
}


def _arguments(folder: Folder, text: str) -> list[str]:
    makers = {
        "cubin": folder.cubin,
        "ptx": folder.ptx,
        "old-ptx": lambda arch: folder.ptx(arch, "7.0"),
        "cubin-c": lambda arch: folder.cubin(arch, "-c"),
        "other-cubin": lambda arch: folder.file(
            "other.cubin", Path(folder.cubin(arch)).read_bytes()
        ),
    }
    made = []
    for word in text.split():
        arch, _, rest = word.partition("=")
        kind, _, wanted = rest.strip("{}").partition(":")
        made.append(f"{arch}={makers[kind](wanted)}")
    return made


@pytest.mark.parametrize("name", sorted(_CASES))
def test_each_check(folder: Folder, name: str) -> None:
    argv, expected = _CASES[name]
    arguments = _arguments(folder, argv)
    done = folder.pack(*arguments)
    assert expected in done.stderr.replace(str(folder.path) + "/", "")
    is_error = expected.startswith("error")
    assert done.code == (1 if is_error else 0)
    assert folder.output.exists() != is_error
    name = name.split()[0]
    allowed = folder.pack(*arguments, "--allow", name)
    assert f"[{name}]" not in allowed.stderr and allowed.code == 0
    assert folder.pack(*arguments, "--allow", "all") == Outcome(0, "", "")
    denied = folder.pack(*arguments, "--deny", name)
    assert denied.code == 1 and f"error[{checks.NAMES[name].kind.code}]" in denied.stderr


def test_every_check_has_a_case() -> None:
    elsewhere = {"cut-off", "missing-compat"}
    assert set(checks.NAMES) == {name.split()[0] for name in _CASES} | elsewhere


def test_images_that_are_cut_off(folder: Folder) -> None:
    data = Path(folder.cubin("90")).read_bytes()
    done = folder.pack(f"sm_90={folder.file('cut.cubin', data[:-100])}")
    assert done.code == 1 and "error[FC0435]: cut.cubin:" in done.stderr
    done = folder.pack(f"compute_90={folder.file('cut.ptx', images.ptx('90')[:-20])}")
    assert done.code == 1 and "cut.ptx: has braces that do not balance [cut-off]" in done.stderr


def test_a_cubin_without_compatibility_record(folder: Folder) -> None:
    data = Path(folder.cubin("100")).read_bytes().replace(b".nv.compat\0", b".nv.kompat\0")
    done = folder.pack(f"sm_100={folder.file('k.cubin', data)}")
    assert done.code == 0
    assert "warning[FC0438]: k.cubin: has no .nv.compat section [missing-compat]" in done.stderr


def test_all_faults_are_reported_together(folder: Folder) -> None:
    done = folder.pack(
        f"sm_75={folder.cubin('80')}",
        f"compute_80={folder.ptx('90')}",
        f"sm_90={folder.file('junk', b'junk')}",
    )
    assert done.code == 1
    for code in ("FC0400", "FC0430", "FC0432"):
        assert f"error[{code}]" in done.stderr
    assert not folder.output.exists()


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["sm_80"], 2, "sm_80: is not of the form ARCH=FILE"),
        (["sm_3=x", "gfx=y"], 1, "sm_3: is not an architecture"),
        (["sm_80=nofile"], 3, "nofile: No such file or directory"),
        (["sm_80=/dev/null"], 1, "is neither a cubin, PTX text nor LTO-IR"),
        (["sm_80=x", "--allow", "nothing"], 2, "choose one of: all, sm-mismatch"),
        (["sm_80=x", "--level", "23"], 2, "23 is not a zstd level from 1 to 22"),
        (["sm_80=x", "--level", "3", "--compress", "none"], 2, "has no meaning with"),
    ],
)
def test_wrong_use(folder: Folder, argv: list[str], code: int, message: str) -> None:
    done = folder.pack(*argv)
    assert (done.code, message in done.stderr) == (code, True), done.stderr


def test_the_table_of_ptx_versions_is_what_ptxas_accepts() -> None:
    assert {a: v for a, v in ptx.MINIMUM_ISA.items() if a in images.ISA} == {
        arch: tuple(int(n) for n in isa.split(".")) for arch, isa in images.ISA.items()
    }


def test_a_full_disk_leaves_nothing(folder: Folder) -> None:
    done = fatcrate("pack", "-o", "/dev/full/k.fatbin", f"sm_80={folder.cubin('80')}")
    assert done.code == 3 and "error[FC0201]" in done.stderr


def test_large_sets_need_the_memory_of_few_images(folder: Folder) -> None:
    """Twelve images of 24 MiB, with 260 MB of address space for the whole process."""
    archs = ["50", "52", "60", "61", "62", "70", "72", "75", "80", "86", "89", "90"]
    for arch in archs:
        with open(folder.path / arch, "wb") as stream:
            stream.write(b"\xed\x43\x4e\x7f\x01\x43")
            stream.truncate(24 << 20)
    images_ = [f"compute_{arch}={arch}" for arch in archs]
    command = 'ulimit -v 260000; exec "$0" -m fatcrate "$@"'
    for argv in (
        ["pack", "-o", "big.fatbin", "--compress", "none", "--allow", "all", *images_],
        ["inspect", "big.fatbin"],
        ["strip", "--keep", "compute_80", "-o", "small.fatbin", "big.fatbin"],
        ["embed", "big.fatbin", "-o", "big.o", "--host", "x86_64", "--symbol", "big"],
    ):
        done = subprocess.run(
            ["sh", "-c", command, sys.executable, *argv],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (argv, done.stderr)
    assert (folder.path / "big.o").stat().st_size > 12 * (24 << 20)
    assert (folder.path / "small.fatbin").stat().st_size < 25 << 20


def test_kinds_are_unique_and_explained() -> None:
    codes = [kind.code for kind in errors.ALL]
    assert len(codes) == len(set(codes))
    assert all(code.startswith(("FC04", "FC05")) for code in codes)
    assert all(kind.explanation.endswith(".") for kind in errors.ALL)
