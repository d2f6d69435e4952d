"""Runs Ninja and tells its output apart: steps done, failures, what steps printed.

Ninja prints one status line per finished step (its text is ours: ``NINJA_STATUS``), for a
failed one then ``FAILED: [code=N] outputs``, the command, and in any case what the step
printed. A step of the console pool prints by itself: its status line comes as it starts, and
what it printed comes before ``FAILED:``; other steps that end meanwhile are told of in between.
Format: ninja 1.10 to 1.13, ``src/status_printer.cc``.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NoReturn

from fatcrate.rules import errors
from fatcrate.toolchain.diagnostics import fail

#: Starts a status line: a record separator, which no step prints at the start of a line.
_MARK = "\x1e"
_IDLE_SECONDS = 0.03
_STATUS = re.compile(_MARK + r"(\d+)/(\d+) (.*)")
_FAILED = re.compile(r"FAILED: (?:\[code=(\d+)\] )?(.*)")

#: Ends the command of each step of the console pool, as a comment of the shell: that tells its
#: failure from what others print.
CONSOLE = " # console"


@dataclass
class Step:
    """A finished step. ``code`` is its exit code, ``output`` what it printed."""

    what: str
    number: int
    total: int
    code: int = 0
    command: str = ""
    output: list[str] = field(default_factory=list)


@dataclass
class Listener:
    """What is told while Ninja runs: each line as it comes, with the step it belongs to."""

    on_step: Callable[[Step], None]
    on_failure: Callable[[Step], None]
    on_line: Callable[[Step | None, str], None]


@dataclass
class Outcome:
    """What came of a run. ``code`` is Ninja's exit code."""

    code: int
    steps: list[Step]
    messages: list[str]  # Ninja's own
    interrupted: bool = False

    @property
    def failures(self) -> list[Step]:
        return [step for step in self.steps if step.code]


def find(executable: str | None = None) -> str:
    """Path of the Ninja binary: of the Python package beside the interpreter, or in PATH.

    Raises FC0123 when there is none.
    """
    beside = os.path.join(os.path.dirname(executable or sys.executable), "ninja")
    if os.access(beside, os.X_OK):
        return beside
    try:
        import ninja

        if ninja.BIN_DIR:
            return os.path.join(ninja.BIN_DIR, "ninja")
    except ImportError:
        pass
    import shutil

    found = shutil.which("ninja")
    if found is None:
        fail(errors.NO_NINJA, "ninja", "was not found", remedy="pip install ninja")
    return found


@dataclass
class _Reader:
    """Turns Ninja's lines into calls of the listener."""

    listener: Listener
    steps: list[Step] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    _fresh: bool = False  # whether the last line was a status line
    _held: tuple[str, bool] | None = None  # a line like FAILED, whether it came right after one
    _console: Step | None = None  # the last step that shares its number with the one before

    def line(self, text: str) -> None:
        held, self._held = self._held, None
        fresh, self._fresh = self._fresh, False
        if held is not None:
            if self._failed(*held, command=text):
                return
            self._output(held[0])
        if match := _STATUS.fullmatch(text):
            self._status(Step(match[3], int(match[1]), int(match[2])))
        elif _FAILED.fullmatch(text):
            self._held = text, fresh
        elif text.startswith("ninja: "):
            self.messages.append(text.removeprefix("ninja: "))
        else:
            self._output(text)

    def end(self) -> None:
        """There are no more lines."""
        if self._held is not None:
            self._output(self._held[0])
            self._held = None

    def _status(self, step: Step) -> None:
        # A step of the console pool is told of before it counts as finished.
        if step.number == (self.steps[-1].number if self.steps else 0):
            self._console = step
        self.steps.append(step)
        self.listener.on_step(step)
        self._fresh = True

    def _failed(self, text: str, fresh: bool, command: str) -> bool:
        """Takes ``text`` and the line after it as the news of a failure, if they are."""
        ended = self.steps[-1] if fresh else None
        step = self._console if command.endswith(CONSOLE) else ended
        match = _FAILED.fullmatch(text)
        if step is None or match is None:
            return False
        step.code = int(match[1] or 1)
        step.command = command.removesuffix(CONSOLE)
        self.listener.on_failure(step)
        return True

    def _output(self, text: str) -> None:
        step = self.steps[-1] if self.steps else None
        if step is not None:
            step.output.append(text)
        self.listener.on_line(step, text)


@dataclass
class _Stop:
    """Handles signals: passes them on to a process group, once there is one."""

    group: int = 0
    asked: bool = False

    def __call__(self, number: int, frame: object) -> None:
        self.asked = True
        if self.group:
            # To the group, since Ninja does not pass it on to a step of the console pool. Steps
            # remove their temporary files and end; then Ninja does.
            with suppress(ProcessLookupError):
                os.killpg(self.group, signal.SIGINT)

    def now_for(self, group: int) -> None:
        """From now on for ``group``, with what came before."""
        self.group = group
        if self.asked:
            self(signal.SIGINT, None)


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """Handles signals in the block."""
    stop = _Stop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        numbers.append(signal.SIGHUP)
    handlers = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@dataclass
class _Watch:
    """A process that interrupts a process group when this one is gone, whatever killed it."""

    pid: int = 0
    alive: int = -1  # the watcher reads the other end

    def start(self, group: int) -> None:
        """Forks it. Processes forked before this do not hold the pipe open."""
        end, self.alive = os.pipe()
        with suppress(OSError):
            self.pid = os.fork() or _watch_and_exit(end, group)
        os.close(end)

    def stop(self) -> None:
        """Sends it away."""
        if self.alive >= 0:
            with suppress(OSError):
                os.write(self.alive, b"x")
            os.close(self.alive)
            self.alive = -1
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0


def _watch_and_exit(end: int, group: int) -> NoReturn:
    """The watcher's whole life."""
    try:
        os.setpgid(0, 0)  # the terminal's Ctrl-C is not for it
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.dup2(end, 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))  # pipes and the lock among them
        if not os.read(0, 1):
            os.killpg(group, signal.SIGINT)
    finally:
        os._exit(0)


def run(
    ninja: str,
    folder: str,
    arguments: Sequence[str],
    listener: Listener,
    variables: Mapping[str, str] | None = None,
    on_work: Callable[[], None] = lambda: None,
    keep: Sequence[int] = (),
) -> Outcome:
    """Runs Ninja in ``folder``, with ``variables`` added to its environment.

    ``on_work`` is called once, soon after it is clear that there is something to do. SIGINT,
    SIGTERM and SIGHUP are passed on to Ninja, and awaited; should this process be killed, Ninja
    is interrupted. ``keep`` are descriptors that Ninja and the steps inherit.
    """
    environment = {**os.environ, **(variables or {}), "NINJA_STATUS": f"{_MARK}%f/%t "}
    reader = _Reader(listener)
    with _stopping() as stop:
        process = subprocess.Popen(
            [ninja, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            # A group of its own: Ctrl-C reaches us alone, and we tell Ninja once.
            process_group=0,
            pass_fds=keep,
        )
        watch = _Watch()
        try:
            stop.now_for(process.pid)
            assert process.stdout is not None
            # Within this time Ninja tells that it has nothing to do, if that is so.
            idle, _, _ = select.select([process.stdout], [], [], _IDLE_SECONDS)
            if not idle:
                on_work()
                watch.start(process.pid)
            for line in process.stdout:
                if idle and "no work to do" not in line:  # a warning may come first
                    idle = []
                    on_work()
                    watch.start(process.pid)
                reader.line(line.rstrip("\n"))
            reader.end()
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            watch.stop()
    return Outcome(code, reader.steps, reader.messages, stop.asked)
