"""Where the steps that run LLVM start: its library is loaded while Python imports their modules.

The library is only mapped and linked here; it runs in a worker process (``isolate.py``), which
is forked when that is done. What cannot be found here the engine looks for again, and reports.
"""

from __future__ import annotations

import os
import sys

_PART = os.path.join("llvmlite", "binding", "libllvmlite.so")


def link(argv: list[str]) -> int:
    """``fatcrate link``."""
    _load(argv, ("hashlib", "mmap"))
    from fatcrate.lto.link import main

    return main(argv)


def codegen(argv: list[str]) -> int:
    """``fatcrate codegen``."""
    _load(argv)
    from fatcrate.lto.codegen import main

    return main(argv)


def _load(argv: list[str], before: tuple[str, ...] = ()) -> None:
    """Begins to load the library of the engine that ``argv`` names, in a thread.

    The modules ``before``, and some that all steps need, come first: they are shared libraries
    themselves and would wait for the loader's lock.
    """
    path = _library(argv)
    if not path:
        return
    for name in ("pickle", "resource", "select", *before):
        __import__(name)
    import _thread
    from ctypes import CDLL, c_char_p, c_int

    dlopen = CDLL(None).dlopen  # unlike ctypes' own, called without Python's lock
    dlopen.argtypes = (c_char_p, c_int)
    done = _thread.allocate_lock()

    def run() -> None:
        dlopen(os.fsencode(path), os.RTLD_NOW)
        done.release()

    done.acquire()
    _thread.start_new_thread(run, ())
    # A process that is forked meanwhile would wait for the loader's lock for ever.
    os.register_at_fork(
        before=done.__enter__, after_in_parent=done.release, after_in_child=done.release
    )


def _library(argv: list[str]) -> str:
    """The shared library of the engine, or "" when that is not plain to see."""
    engine = _value(argv, "--engine") or "llvmlite"
    if engine.startswith("libllvm="):
        return engine.partition("=")[2]
    if engine == "libllvm":
        return _libllvm(_value(argv, "--toolchain"))
    found = (os.path.join(folder, _PART) for folder in sys.path)
    return next((path for path in found if os.path.exists(path)), "")


def _value(argv: list[str], option: str) -> str:
    for index, word in enumerate(argv):
        if word == option:
            return argv[index + 1] if index + 1 < len(argv) else ""
        if word.startswith(option + "="):
            return word.partition("=")[2]
    return ""


def _libllvm(toolchain: str) -> str:
    """The library's name, which follows from the version of rustc's LLVM."""
    import json

    from fatcrate.lto.engine import libllvm_name

    try:
        with open(toolchain, encoding="utf-8") as stream:
            return libllvm_name(json.load(stream)["rustc"]["llvm"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""  # the step reads the file again, and tells what is wrong with it
