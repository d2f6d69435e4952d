"""`fatcrate compile`: outputs, environment, failures. Most with programs that play rustc."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fatcrate.rules import recipe
from fatcrate.rules import rustc as rustc_runner
from fatcrate.toolchain.discover import Tools
from support.device import build_sysroot

FATCRATE = Path(sys.executable).with_name("fatcrate")

#: Writes what it was called with to the output, and a dep-info.
PLAYER = """\
#!/bin/sh
for word; do case "$word" in --emit=*) emit=${word#--emit=*=};; esac; done
link=${emit%%,dep-info=*}; info=${emit#*,dep-info=}
env | LC_ALL=C sort | grep -v '^\\(PWD\\|SHLVL\\|_\\|TMPDIR\\)=' > "$link"
printf '%s: src/a.rs src/b\\\\ c.rs\\n' "$info" > "$info"
echo "a warning" >&2
"""


def player(folder: Path, text: str) -> str:
    path = folder / "rustc"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def compile_step(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FATCRATE, "compile", *words],
        cwd=folder,
        env={**os.environ, "SECRET": "x", "RUSTFLAGS": "-Cfoo"},
        capture_output=True,
        text=True,
        check=False,
    )


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob("*.tmp"))


def test_environment_is_fixed(tmp_path: Path) -> None:
    rustc = player(tmp_path, PLAYER)
    done = compile_step(tmp_path, "--output", "o/x.rlib", "--env", "A=b c", "--", rustc, "x.rs")
    assert (done.returncode, done.stderr) == (0, "a warning\n")
    seen = (tmp_path / "o/x.rlib").read_text().splitlines()
    wanted = {**rustc_runner.ENVIRONMENT, "A": "b c"}
    assert seen == sorted(f"{name}={value}" for name, value in wanted.items())
    assert {"PATH", "RUSTC_BOOTSTRAP", "LC_ALL"} <= set(wanted)
    assert leftovers(tmp_path) == []


def test_rustc_keeps_out_of_the_project(tmp_path: Path) -> None:
    """Its intermediate files go to the folder of this step, not to the one it runs in."""
    rustc = player(tmp_path, '#!/bin/sh\nprintf "%s\\n" "$@" > words; exit 1\n')
    compile_step(tmp_path, "--output", "o/x.rlib", "--", rustc, "x.rs")
    link, info, out = (tmp_path / "words").read_text().replace(",dep-info", "\n").splitlines()[1:]
    folder = out.removeprefix("--out-dir=")
    assert link == f"--emit=link={folder}/x.rlib" and info == f"={folder}/x.rlib.d"
    assert folder.startswith("o/.x.rlib.") and folder.endswith(".tmp")


def test_depfile(tmp_path: Path) -> None:
    rustc = player(tmp_path, PLAYER)
    words = ["--output", "o/x.rlib", "--depfile", "o/x.d"]
    assert compile_step(tmp_path, *words, "--", rustc).returncode == 0
    assert (tmp_path / "o/x.d").read_text() == "o/x.rlib: \\\n  src/a.rs \\\n  src/b\\ c.rs\n"
    words += ["--depfile-target", "x.rlib", "--depfile-base", ".."]
    assert compile_step(tmp_path, *words, "--", rustc).returncode == 0
    assert (tmp_path / "o/x.d").read_text() == "x.rlib: \\\n  ../src/a.rs \\\n  ../src/b\\ c.rs\n"


def test_an_equal_output_keeps_its_time_stamp(tmp_path: Path) -> None:
    rustc = player(tmp_path, PLAYER)
    words = ["--output", "x.rlib", "--", rustc]
    assert compile_step(tmp_path, *words).returncode == 0
    os.utime(tmp_path / "x.rlib", ns=(1, 1))
    assert compile_step(tmp_path, *words).returncode == 0
    assert (tmp_path / "x.rlib").stat().st_mtime_ns == 1
    assert compile_step(tmp_path, "--env", "A=1", *words).returncode == 0
    assert (tmp_path / "x.rlib").stat().st_mtime_ns != 1


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("echo 'error: no' >&2; exit 1", 1, "error: no\n"),
        (
            "exit 101",
            3,
            "error[FC0102]: RUSTC: ended with exit code 101\n",
        ),
        (
            "kill -SEGV $$",
            3,
            "error[FC0102]: RUSTC: was ended by signal SIGSEGV\n",
        ),
        (
            "kill -KILL $$",
            3,
            "error[FC0102]: RUSTC: was ended by signal SIGKILL\n"
            "  help: if the machine ran out of memory, build with fewer jobs (`-j 1`)\n",
        ),
        (
            "echo 'error: failed to write x: No space left on device (os error 28)' >&2; exit 1",
            3,
            "error: failed to write x: No space left on device (os error 28)\n"
            "error[FC0103]: RUSTC: could not write its output: No space left on device\n"
            "  help: free some disk space and run the command again\n",
        ),
    ],
)
def test_failures_of_rustc(tmp_path: Path, body: str, code: int, said: str) -> None:
    rustc = player(tmp_path, f"#!/bin/sh\n{body}\n")
    (tmp_path / "x.rlib").write_text("old")
    done = compile_step(tmp_path, "--output", "x.rlib", "--", rustc)
    assert (done.returncode, done.stderr.replace(rustc, "RUSTC")) == (code, said)
    assert (tmp_path / "x.rlib").read_text() == "old"
    assert leftovers(tmp_path) == []


def test_no_rustc(tmp_path: Path) -> None:
    done = compile_step(tmp_path, "--output", "x.rlib", "--", "./gone")
    assert done.returncode == 3
    assert done.stderr.startswith(
        "error[FC0105]: ./gone: cannot be started: No such file or directory\n  help: "
    )


@pytest.mark.parametrize(
    "words", [[], ["--output", "x"], ["--output", "x", "--env", "novalue", "--", "rustc"]]
)
def test_wrong_usage(tmp_path: Path, words: list[str]) -> None:
    done = compile_step(tmp_path, *words)
    assert done.returncode == 2
    assert "usage: fatcrate compile" in done.stderr


SOURCE = """\
#![no_std]
pub fn at(values: &[u32], index: usize) -> u32 {
    values[index]
}
pub const FILE: &str = file!();
"""


@pytest.mark.parametrize("debug", ["0", "2"])
@pytest.mark.parametrize("outside", [False, True])
def test_same_bytes_in_another_folder(
    tools: Tools, tmp_path: Path, debug: str, outside: bool
) -> None:
    """Relative sources; or absolute ones with a remap, as the device library has them."""
    argv = recipe.load()
    sysroot = build_sysroot(tools, "immediate-abort")
    made = []
    for name in ("one", "another folder"):
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True)
        (folder / "src/x.rs").write_text(SOURCE, encoding="utf-8")
        place = folder
        if outside:
            place = tmp_path / "elsewhere"
            place.mkdir(exist_ok=True)
        source = str(folder / "src/x.rs") if outside else "src/x.rs"
        output = str(folder / "o/libx.rlib") if outside else "o/libx.rlib"
        tools_struct = type("T", (), {"step": [], "rustc": tools.rustc, "host_linker": "cc"})
        words = argv.crate_argv(
            tools_struct,
            "x",
            source,
            output,
            "x",
            sysroot=sysroot,
            debug=debug,
            remaps=[(str(folder / "src"), "/crates/x")] if outside else [],
        )
        done = compile_step(place, *words[1:])
        assert done.returncode == 0, done.stderr
        made.append((folder / "o/libx.rlib").read_bytes())
        assert str(tmp_path).encode() not in made[-1]
    assert made[0] == made[1]


def device_crate(tmp_path: Path, tools: Tools, text: str) -> subprocess.CompletedProcess[str]:
    """Compiles a crate for the GPU with the recipe's flags."""
    sysroot = build_sysroot(tools, "immediate-abort")
    (tmp_path / "kern.rs").write_text(text)
    flags = recipe.load().crate_flags("device", str(sysroot), 3, 0, "immediate-abort")
    command = [tools.rustc, "--crate-name", "kern", "--edition", "2024", *flags, "kern.rs"]
    return compile_step(tmp_path, "--output", "libkern.rlib", "--", *command)


def test_a_crate_that_wants_std(tmp_path: Path, tools: Tools) -> None:
    done = device_crate(tmp_path, tools, "pub fn one() -> u32 { 1 }\n")
    assert done.returncode == 1
    assert "error[E0463]: can't find crate for `std`" in done.stderr
    assert done.stderr.endswith(
        "\nhelp: GPU code has no `std`: put `#![no_std]` at the top of kern.rs\n"
    )


@pytest.mark.parametrize(
    "kernel",
    [
        'pub unsafe extern "gpu-kernel" fn k(_: *mut u32) {}',
        'unsafe extern "gpu-kernel" fn k(_: *mut u32) {}',
        'mod inner { pub unsafe extern "gpu-kernel" fn k(_: *mut u32) {} }',
        'pub unsafe extern "gpu-kernel" fn k<T: Copy>(_: *mut T) {}',
        '#[inline] pub unsafe extern "gpu-kernel" fn k(_: *mut u32) {}',
    ],
)
def test_a_kernel_that_rustc_would_drop(tmp_path: Path, tools: Tools, kernel: str) -> None:
    done = device_crate(tmp_path, tools, f"#![no_std]\n{kernel}\n")
    assert done.returncode == 1
    assert 'error: function with the "gpu-kernel" ABI has a mangled name' in done.stderr
    assert "kern.rs:2:" in done.stderr
    assert "help: use `unsafe(no_mangle)` or `unsafe(export_name" in done.stderr


@pytest.mark.parametrize("public", ["pub ", ""])
def test_a_kernel_with_a_name_of_its_own(tmp_path: Path, tools: Tools, public: str) -> None:
    text = f'{public}unsafe extern "gpu-kernel" fn k(_: *mut u32) {{}}\n'
    done = device_crate(tmp_path, tools, f"#![no_std]\n#[unsafe(no_mangle)] {text}")
    assert (done.returncode, done.stderr) == (0, "")
