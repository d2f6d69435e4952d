"""Steps through the server and without it: the same, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fatcrate.rules.ninja import client, plan, server
from fatcrate.rules.ninja.server import Server
from fatcrate.toolchain.discover import Tools
from support.ninja import wait_for


@pytest.fixture(params=["server", "alone", "nobody listens"])
def variables(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The environment of a client, with and without a server."""
    if request.param == "alone":
        yield {}
    elif request.param == "nobody listens":
        yield {client.VARIABLE: "fatcrate-of-nobody"}
    else:
        with server.serving() as host:
            host.start()
            yield {client.VARIABLE: host.name}


def start(variables: dict[str, str], folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*plan.step_prefix(), *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def run(variables: dict[str, str], folder: Path, *words: str) -> tuple[int, str, str]:
    process = start(variables, folder, *words)
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


def rustc(folder: Path, body: str) -> None:
    path = folder / "rustc"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_output_and_exit_status(variables: dict[str, str], tmp_path: Path) -> None:
    code, stdout, stderr = run(variables, tmp_path, "explain", "FC0104")
    assert (code, stderr) == (0, "") and stdout.startswith("FC0104")
    code, stdout, stderr = run(variables, tmp_path, "compile", "--nonsense")
    assert (code, stdout) == (2, "") and "usage: fatcrate compile" in stderr
    code, stdout, stderr = run(
        variables, tmp_path, "abi-check", "--manifest", "gone", "--report", "r", "sm_90=x"
    )
    assert (code, stdout) == (3, "") and stderr.startswith("error[FC0201]: ")
    code, _, stderr = run(variables, tmp_path, "nonsense")
    assert code == 2 and "is not a command" in stderr


def test_packages_are_found_where_a_step_needs_them_after_all(
    variables: dict[str, str], tools: Tools, tmp_path: Path
) -> None:
    if not tools.libllvm:
        pytest.skip("this rustc has no libLLVM of its own")
    text = 'target triple = "nvptx64-nvidia-cuda"\ndefine ptx_kernel void @k() {\n  ret void\n}\n'
    (tmp_path / "kern.ll").write_text(text, encoding="utf-8")  # which llvmlite reads
    (tmp_path / "toolchain.json").write_text(tools.identity.to_json(), encoding="utf-8")
    words = ["link", "--name", "k", "--engine", f"libllvm={tools.libllvm}"]
    words += ["--toolchain", "toolchain.json", "--libdevice", tools.libdevice]
    words += ["--crate", "kern=kern.ll", "--output", "k.bc", "--manifest", "k.json"]
    assert run(variables, tmp_path, *words, "--report", "r.json") == (0, "", "")
    assert json.loads((tmp_path / "k.json").read_text())["kernels"][0]["name"] == "k"


def test_folder_and_words(variables: dict[str, str], tmp_path: Path) -> None:
    """Relative paths are the client's; words come as they are."""
    folder = tmp_path / "a $b: 'ü"
    folder.mkdir()
    rustc(folder, 'printf "%s\\n" "$PWD" "$@" >&2; exit 1')
    words = ["", " ", "a b", "ü", "-x", "'\"$"]
    code, stdout, stderr = run(
        variables, folder, "compile", "--output", "o", "--", "./rustc", *words
    )
    assert (code, stdout) == (1, "")
    lines = stderr.splitlines()
    assert lines[0] == str(folder) and lines[1 : 1 + len(words)] == words


def test_an_interrupt_reaches_the_step(variables: dict[str, str], tmp_path: Path) -> None:
    rustc(tmp_path, "touch started; exec sleep 60")
    process = start(variables, tmp_path, "compile", "--output", "o/x", "--", "./rustc")
    wait_for((tmp_path / "started").exists)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert stderr == "fatcrate compile: interrupted\n"
    assert list((tmp_path / "o").iterdir()) == []


def test_a_step_that_is_killed(tmp_path: Path) -> None:
    rustc(tmp_path, "echo $PPID > parent; exec sleep 60")
    with server.serving() as host:
        host.start()
        variables = {client.VARIABLE: host.name}
        process = start(variables, tmp_path, "compile", "--output", "o/x", "--", "./rustc")
        parent = tmp_path / "parent"
        wait_for(lambda: parent.exists() and parent.read_text().endswith("\n"))
        group = int(parent.read_text())
        os.killpg(group, signal.SIGKILL)
        _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (3, "fatcrate: the step was killed\n")


def test_clients_may_come_before_the_start(tmp_path: Path) -> None:
    with server.serving() as host:
        process = start({client.VARIABLE: host.name}, tmp_path, "explain", "FC0104")
        host.start()
        stdout, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and stdout.startswith("FC0104")


def test_clients_of_a_server_that_never_starts(tmp_path: Path) -> None:
    with server.serving() as host:
        process = start({client.VARIABLE: host.name}, tmp_path, "explain", "FC0104")
        wait_for(lambda: Path(f"/proc/{process.pid}/wchan").exists())
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and stdout.startswith("FC0104")


def test_clients_of_a_server_that_died(tmp_path: Path) -> None:
    with server.serving() as host:
        host.start()
        os.kill(host.pid, signal.SIGKILL)
        code, stdout, _ = run({client.VARIABLE: host.name}, tmp_path, "explain", "FC0104")
    assert code == 0 and stdout.startswith("FC0104")


def test_many_at_once(tmp_path: Path) -> None:
    with server.serving() as host:
        host.start()
        found = [
            start({client.VARIABLE: host.name}, tmp_path, "explain", "FC0104") for _ in range(24)
        ]
        assert {process.communicate(timeout=60)[0].split(":")[0] for process in found} == {"FC0104"}


def test_the_server_ends_with_its_user() -> None:
    code = (
        "from fatcrate.rules.ninja import server\n"
        "import os, signal\n"
        "with server.serving() as host:\n"
        "    host.start()\n"
        "    print(host.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    wait_for(lambda: not _runs(pid), 10)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONWARNINGS"])
def test_no_server_where_the_environment_bends_python(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "/somewhere")
    with server.serving() as host:
        host.start()
        assert (host.name, host.pid) == ("", 0)
    assert Server("").name == ""


@pytest.mark.parametrize(("room", "most"), [(1 << 20, 1), (1 << 40, 3)])
def test_steps_wait_for_memory(room: int, most: int, tmp_path: Path) -> None:
    """Where there is room for one only, steps run one after another, and all of them do."""
    rustc(
        tmp_path, 'touch "run.$1"; ls -d run.* | wc -l > "saw.$1"; sleep 0.4; rm "run.$1"; exit 1'
    )
    with server.serving(lambda: room) as host:
        host.start()
        variables = {client.VARIABLE: host.name}
        steps = [
            start(variables, tmp_path, "compile", "--output", f"o{i}", "--", "./rustc", str(i))
            for i in range(3)
        ]
        assert [step.wait(timeout=30) for step in steps] == [1, 1, 1]
        for step in steps:
            step.communicate()
    seen = [int((tmp_path / f"saw.{i}").read_text()) for i in range(3)]
    assert max(seen) <= most and (most == 1 or max(seen) > 1)


def test_needs_follow_the_largest_input(tmp_path: Path) -> None:
    (tmp_path / "linked.bc").write_bytes(bytes(100_000))
    step = server._Step(None, bytes(tmp_path), ["codegen", "--also=sm_90=x.ptx", "linked.bc"], [])  # type: ignore[arg-type]
    assert step.guess() == (96 << 20) + 64 * 100_000
    assert server._Step(None, b"/", ["pack", "gone"], []).guess() == 64 << 20  # type: ignore[arg-type]
