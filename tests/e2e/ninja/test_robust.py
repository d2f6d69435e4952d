"""Interruptions, two builds at once, full disks: nothing half-written, clear words."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.ninja import FATCRATE, FILES, Project, first_line, interrupt, wait_for

#: A proc macro that keeps rustc busy while the file `slow` is there, for five minutes at most.
SLOW = {
    "slow.rs": """\
extern crate proc_macro;
use proc_macro::TokenStream;
#[proc_macro]
pub fn wait(_input: TokenStream) -> TokenStream {
    std::fs::write("started", "").unwrap();
    for _ in 0..30_000 {
        if !std::path::Path::new("slow").exists() { break; }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    TokenStream::new()
}
""",
    "slow": "",
}


def slowed(project: Project) -> Project:
    """The project with `util` kept from compiling for as long as the file `slow` is there."""
    project.write(SLOW)
    project.edit(
        "fatcrate.yaml",
        "util: {path: util.rs}",
        "slow: {path: slow.rs, proc_macro: true}\n  util: {path: util.rs, deps: [slow]}",
    )
    return project.edit("util.rs", "#![no_std]", "#![no_std]\nslow::wait!();")


def started(project: Project) -> None:
    wait_for((project.folder / "started").exists)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_in_the_middle(project: Project, number: signal.Signals) -> None:
    """Ninja removes the outputs of the steps in progress; all others are as before."""
    slowed(project)
    old = project.hashes()
    process = project.start()
    started(project)
    begun = time.monotonic()
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert time.monotonic() - begun < 10
    assert process.returncode == 130
    assert stderr.endswith("fatcrate: interrupted; what was finished stays\n")
    assert "Traceback" not in stderr
    assert project.leftovers() == []
    left = {name: digest for name, digest in project.hashes().items() if name in old}
    assert left == {name: old[name] for name in left}
    assert set(old) - set(left) <= {"crates/util/libutil.rlib"}
    (project.folder / "slow").unlink()
    assert "compile util" in project.build().ok().steps


def test_interrupt_of_the_whole_group(project: Project) -> None:
    """As a terminal sends it: every process gets the signal, some before they can tidy up."""
    slowed(project)
    process = project.start(start_new_session=True)
    started(project)
    (project.folder / "fatcrate-out/.libutil.rlib.d.1.tmp").touch()
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.endswith("fatcrate: interrupted; what was finished stays\n")
    assert project.leftovers() == []


def test_interrupt_while_the_sysroot_is_built(fresh: Project, tmp_path: Path) -> None:
    fresh.write(FILES)
    process = fresh.start(env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    folder = tmp_path / "cache/fatcrate/sysroot"
    wait_for(lambda: list(folder.glob("*.tmp")))
    begun = time.monotonic()
    code, _, stderr = interrupt(process)
    assert (code, time.monotonic() - begun < 10) == (130, True), stderr
    assert list(folder.glob("*.tmp")) == []
    assert [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"] == []


def test_killed_builds_leave_nothing_that_hurts(project: Project) -> None:
    slowed(project)
    process = project.start(start_new_session=True)
    started(project)
    # SIGKILL to all of it: no process can clean up.
    everyone = subprocess.run(
        ["ps", "-o", "pid=", "--sid", str(process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    for pid in everyone:
        with suppress(ProcessLookupError):  # some end by themselves when the first is gone
            os.kill(int(pid), signal.SIGKILL)
    process.communicate(timeout=60)
    (project.folder / "slow").unlink()
    assert "compile util" in project.build().ok().steps
    assert project.build().ok().steps == []
    assert project.leftovers() == []


def _killed(project: Project, *, children: bool = False) -> subprocess.Popen[str]:
    """Starts a build and kills it in its middle; its children too, but not theirs, the steps."""
    process = project.start(start_new_session=True)
    started(project)
    (project.folder / "started").unlink()
    process.send_signal(signal.SIGSTOP)  # or it would act on the end of its children
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    # Before the driver: its end is what the watcher waits for to interrupt the step.
    for pid in listed if children else []:
        os.kill(int(pid), signal.SIGKILL)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    return process


def test_a_killed_driver_takes_its_steps_along(project: Project) -> None:
    """The step in progress would last for ever; the second build starts at once."""
    slowed(project)
    process = _killed(project)
    second = project.start()
    started(project)  # by the second, since the first one's step is gone
    (project.folder / "slow").unlink()
    _, stderr = second.communicate(timeout=120)
    assert second.returncode == 0, stderr
    assert "compile util" in stderr
    assert project.build().ok().steps == []
    assert project.leftovers() == []
    process.communicate(timeout=60)
    clean = Project(project.folder / "clean")
    shutil.copytree(project.folder, clean.folder, ignore=shutil.ignore_patterns("fatcrate-out"))
    clean.build().ok()
    assert clean.hashes() == project.hashes()


def test_steps_without_a_driver_hold_the_lock(project: Project) -> None:
    """Driver, watcher and Ninja are killed, the step is not: the second build waits for it."""
    slowed(project)
    process = _killed(project, children=True)
    second = project.start()
    line = first_line(second)
    assert line == (
        "fatcrate: waiting: steps of a build that was killed still run in fatcrate-out\n"
    )
    assert second.poll() is None
    (project.folder / "slow").unlink()
    _, stderr = second.communicate(timeout=120)
    assert second.returncode == 0, stderr
    assert "compile util" in stderr
    assert project.build().ok().steps == []
    assert project.leftovers() == []
    process.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_ended_at_any_moment(
    project: Project, number: signal.Signals, full: bool, tmp_path: Path
) -> None:
    """A build that ends at some moment and another right behind it: the right bytes."""
    clean = Project(tmp_path / "clean")
    shutil.copytree(project.folder, clean.folder, ignore=shutil.ignore_patterns("fatcrate-out"))
    clean.edit("mathlib.rs", "a * x + y", "a * x - y").build().ok()
    for turn in range(12 if full else 3):
        project.edit("mathlib.rs", "a * x + y", "a * x - y")
        process = project.start()
        time.sleep(0.1 + turn * (0.09 if full else 0.4))
        process.send_signal(number)
        built = project.build().ok()
        assert "Traceback" not in built.stderr
        _, stderr = process.communicate(timeout=60)
        assert "Traceback" not in stderr
        assert project.hashes() == clean.hashes(), turn
        assert project.build().ok().steps == []
        assert project.leftovers() == []
        project.edit("mathlib.rs", "a * x - y", "a * x + y").build().ok()


def test_a_lock_file_that_clean_removed(project: Project) -> None:
    """Who waited for the removed file does not build beside who locked the new one."""
    slowed(project)
    lock = project.out / ".fatcrate/lock"
    first = project.start()
    started(project)
    waiting = project.start()
    first_line(waiting)
    lock.unlink()  # as `fatcrate clean` does while it holds it
    third = project.start()
    wait_for(lambda: lock.exists() and lock.read_text() == str(third.pid))
    (project.folder / "slow").unlink()
    waiting.communicate(timeout=120)
    assert waiting.returncode == 0
    for process in (first, third):
        process.communicate(timeout=120)
    assert project.build().ok().steps == []
    assert project.leftovers() == []


def test_two_builds_at_once(project: Project) -> None:
    slowed(project)
    first = project.start()
    started(project)
    second = project.start()
    line = first_line(second)
    assert line == (
        f"fatcrate: waiting: another build runs in fatcrate-out by process {first.pid}\n"
    )
    (project.folder / "slow").unlink()
    assert first.wait(timeout=120) == 0
    _, rest = second.communicate(timeout=120)
    assert second.returncode == 0
    assert rest == "fatcrate: nothing to do, fatcrate-out is up to date\n"
    first.communicate()


@pytest.mark.parametrize("cache", ["warm", "empty"])
def test_two_output_folders_at_once(
    project: Project, tmp_path: Path, full: bool, cache: str
) -> None:
    """They share the cache; with an empty one, one of them makes the sysroot for both."""
    if cache == "empty" and not full:
        pytest.skip("makes a sysroot, which takes half a minute: --full")
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")} if cache == "empty" else None
    outs = [project.folder / name for name in ("one", "two", "three")]
    builds = [project.start("--out", str(out), env=env) for out in outs]
    told = [build.communicate(timeout=600)[1] for build in builds]
    assert [build.returncode for build in builds] == [0, 0, 0], told
    assert "Traceback" not in "".join(told)
    for out in outs:
        assert project.hashes(out) == project.hashes()
    assert project.leftovers() == []
    if cache == "empty":
        made = list((tmp_path / "cache/fatcrate/sysroot").iterdir())
        assert len([path for path in made if path.is_dir()]) == 1
        assert "".join(told).count("compiling core for") == 1


def test_waiting_can_be_interrupted(project: Project) -> None:
    slowed(project)
    first = project.start()
    started(project)
    second = project.start()
    first_line(second)
    code, _, stderr = interrupt(second)
    assert (code, stderr) == (130, "fatcrate build: interrupted\n")
    assert interrupt(first)[0] == 130


def _limited(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [1_000, 4_000])
def test_files_may_not_grow(project: Project, size: int) -> None:
    """A quota in miniature: rustc and the steps hit it at different files."""
    project.edit("mathlib.rs", "a * x + y", "a * x - y")
    project.edit("fatcrate.yaml", "sm_80, ", "sm_80, sm_90, ")
    old = project.hashes()
    built = project.build("--keep-going", preexec_fn=lambda: _limited(size))
    assert built.code == 3, built.stderr
    assert "File too large" in built.stderr
    assert "Traceback" not in built.stderr
    assert project.leftovers() == []
    new = project.hashes()
    assert {name for name in old if name not in new} == set()
    project.build().ok()
    assert project.build().ok().steps == []


def _on_small_disk(
    project: Project, folder: str, kib: int, script: str
) -> subprocess.CompletedProcess[str]:
    """Runs a shell script with a file system of ``kib`` KiB at ``folder`` of the project.

    The script's $B is `fatcrate build`.
    """
    bwrap = shutil.which("bwrap")
    assert bwrap, "this test mounts a small file system: apt-get install bubblewrap"
    out = project.folder / folder
    out.mkdir(exist_ok=True)
    command = [bwrap, "--dev-bind", "/", "/", "--size", str(kib * 1024), "--tmpfs", str(out)]
    return subprocess.run(
        [*command, "sh", "-c", script],
        cwd=project.folder,
        env={**os.environ, "B": f"{FATCRATE} build"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


#: A disk with ``free`` KiB left; then there is more room, and the build goes on.
FILLED = """head -c {filler}K /dev/zero > small/filler
$B --out small {options}
echo "status $?"
find small -name '*.tmp' -o -name '.*.tmp'
rm small/filler
$B --out small && $B --out small && cp -r small after
"""


@pytest.mark.parametrize("free", [0, 24, 80, 144, 208, 304])
def test_full_disk(project: Project, free: int) -> None:
    """At each of these sizes another step is the first that cannot write."""
    disk = 4096
    options = "--keep-going" if free % 16 else ""
    script = FILLED.format(filler=disk - free, options=options)
    done = _on_small_disk(project, "small", disk, script)
    assert done.returncode == 0, (free, done.stderr)
    first, then = done.stderr.split("free some disk space", 1)
    assert "No space left on device" in first
    assert "Traceback" not in done.stderr and "FAILED" not in done.stderr
    assert done.stdout == "status 3\n"
    assert then.endswith("fatcrate: nothing to do, small is up to date\n")
    assert project.hashes(project.folder / "after") == project.hashes()


def test_full_disk_for_temporary_files(project: Project) -> None:
    """Steps keep theirs beside their outputs; rustc and ptxas do as they like."""
    script = """\
        head -c 64K /dev/zero > tmp/filler
        TMPDIR=$PWD/tmp $B --out after -j 1
    """
    done = _on_small_disk(project, "tmp", 64, script)
    assert done.returncode in (0, 3) and "Traceback" not in done.stderr
    if done.returncode:
        assert "No space left on device" in done.stderr
    else:
        assert project.hashes(project.folder / "after") == project.hashes()


def test_a_read_only_output_folder(project: Project) -> None:
    target = Path("/proc/fatcrate-out")
    built = project.build("--out", str(target))
    assert built.code == 3
    assert built.stderr.startswith("error[FC0201]: /proc/fatcrate-out")


def test_a_cache_that_cannot_be_written(project: Project) -> None:
    """The sysroot's step fails after it told what it does: its own error alone is shown."""
    bwrap = shutil.which("bwrap")
    assert bwrap, "this test mounts a small file system: apt-get install bubblewrap"
    cache = project.folder / "cache"
    cache.mkdir()
    built = subprocess.run(
        [
            *(bwrap, "--dev-bind", "/", "/", "--size", "100000", "--tmpfs", str(cache)),
            *(FATCRATE, "build"),
        ],
        cwd=project.folder,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 3
    assert f"error[FC0129]: {cache}/fatcrate/sysroot: " in built.stderr
    assert "FAILED" not in built.stderr and "cd " not in built.stderr
    assert "FC0124" not in built.stderr
    built_file = project.build(env={"XDG_CACHE_HOME": str(project.folder / "fatcrate.yaml")})
    assert built_file.code == 3
    assert "error[FC0129]: " in built_file.stderr and "FC0124" not in built_file.stderr


def test_an_emptied_log_of_ninja(project: Project) -> None:
    """Ninja warns of it before the first step ends; the build goes on."""
    old = project.hashes()
    (project.folder / "fatcrate-out/.fatcrate/.ninja_deps").write_bytes(b"")
    process = project.start()
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert project.hashes() == old
