"""``fatcrate sysroot``: the SYSROOT step.

Builds ``core``, ``compiler_builtins`` (with its memory functions) and ``alloc`` for the GPU
target from the sources that belong to rustc, into the layout that ``rustc --sysroot`` takes:
``DIR/lib/rustlib/nvptx64-nvidia-cuda/lib/lib*.rlib``.

The result depends on rustc, the sources and the panic strategy alone, so front ends keep it
in the user's cache under :func:`cache_key`. Two rules keep it repeatable bit for bit: the
bitcode is left as rustc's front end makes it (LLVM's own optimiser does not order the
operands of phi nodes the same way each time; LINK optimises anyway), and the sources' folder
is replaced by :data:`SOURCE_NAME`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn

from fatcrate.rules import rustc
from fatcrate.toolchain import atomic, names
from fatcrate.toolchain.diagnostics import FatcrateError, fail
from fatcrate.toolchain.identity import Identity

#: What stands for the sources' folder in panic messages and debug information.
SOURCE_NAME = "/rustc/library"

#: The file that says what a finished sysroot was made from.
KEY_FILE = "sysroot.json"

_FLAGS = (
    "--edition=2024",
    "--crate-type=rlib",
    f"--target={names.NVPTX_TRIPLE}",
    "-Copt-level=3",
    "-Cno-prepopulate-passes",
    "-Ccodegen-units=1",
    "-Csymbol-mangling-version=v0",
    "-Zunstable-options",
    "-Zforce-unstable-if-unmarked",
    # As for crates (recipe.bzl): core's generic functions may get a closure with a barrier.
    "-Zmir-enable-passes=-JumpThreading",
    "-Zremap-cwd-prefix=.",
    "--cap-lints=allow",
)


@dataclass(frozen=True)
class Part:
    """One crate of the sysroot. ``source`` is relative to the sources' folder."""

    name: str
    source: str
    flags: tuple[str, ...] = ()


#: In the order in which they are built. The cfgs of ``compiler_builtins`` are those that its
#: build script sets for this target.
PARTS = (
    Part("core", "core/src/lib.rs"),
    Part(
        "compiler_builtins",
        "compiler-builtins/compiler-builtins/src/lib.rs",
        (
            '--cfg=feature="compiler-builtins"',
            '--cfg=feature="mem"',
            '--cfg=feature="unstable-intrinsics"',
            "--cfg=intrinsics_enabled",
            "--cfg=arch_enabled",
            "--cfg=optimizations_enabled",
            "--cfg=f16_enabled",
        ),
    ),
    Part("alloc", "alloc/src/lib.rs"),
)


def cache_key(identity: Identity, panic: str) -> str:
    """Names the sysroot of a toolchain and panic strategy: 32 hexadecimal digits."""
    recipe = repr((_FLAGS, PARTS, SOURCE_NAME))
    told = json.dumps([identity.rustc.sha256, identity.rust_src.sha256, panic, recipe])
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def library_folder(directory: str) -> str:
    """The folder of the rlibs below sysroot ``directory``."""
    return f"{directory}/lib/rustlib/{names.NVPTX_TRIPLE}/lib"


def is_complete(directory: str, key: str) -> bool:
    """Whether ``directory`` holds a finished sysroot made for ``key``."""
    try:
        with open(f"{directory}/{KEY_FILE}", encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return False
    library = library_folder(directory)
    return found == {"key": key} and all(
        os.path.exists(f"{library}/lib{part.name}.rlib") for part in PARTS
    )


def build(compiler: str, source: str, panic: str, key: str, directory: str) -> bool:
    """Makes sysroot ``directory`` unless it is there; says whether it had to.

    Several processes may ask for the same one: the first builds, the others wait. The folder
    appears under its name only when it is finished. Raises FC0106 when the sources do not
    compile, FC0129 when the folder cannot be written, FC0102 and FC0105 as :func:`rustc.run`
    does.
    """
    from fatcrate.rules import errors

    if is_complete(directory, key):
        return False
    try:
        return _build(compiler, source, panic, key, directory)
    except OSError as error:
        cannot_write(os.path.dirname(directory), error.strerror or str(error))
    except FatcrateError as error:
        for fault in error.diagnostics:
            if fault.kind is errors.DISK:
                cannot_write(os.path.dirname(directory), fault.message.rpartition(": ")[2])
        raise


def cannot_write(folder: str, reason: str) -> NoReturn:
    """Raises FC0129 for the folder that sysroots are kept in."""
    from fatcrate.rules import errors

    fail(
        errors.SYSROOT_FOLDER,
        folder or ".",
        f"core and alloc for the GPU cannot be kept there: {reason}",
        remedy="free some disk space there, or set XDG_CACHE_HOME to a folder that can be written",
    )


def _build(compiler: str, source: str, panic: str, key: str, directory: str) -> bool:
    """Does what :func:`build` says."""
    os.makedirs(os.path.dirname(directory) or ".", exist_ok=True)
    with _locked(directory):
        if is_complete(directory, key):
            return False
        temporary = f"{directory}.{os.getpid()}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            _compile_parts(compiler, source, panic, temporary)
            atomic.write_text(f"{temporary}/{KEY_FILE}", json.dumps({"key": key}) + "\n")
            _install(temporary, directory)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return True


@contextmanager
def _locked(directory: str) -> Iterator[None]:
    """Holds the lock of ``directory``, a file beside it, waiting for it if need be."""
    import fcntl

    with open(f"{directory}.lock", "w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another process builds it; waiting")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"sysroot: {text}", file=sys.stderr, flush=True)


def _compile_parts(compiler: str, source: str, panic: str, temporary: str) -> None:
    library = library_folder(temporary)
    os.makedirs(library)
    for number, part in enumerate(PARTS, start=1):
        _say(f"compiling {part.name} for panic={panic} ({number} of {len(PARTS)})")
        argv = [
            compiler,
            "--crate-name",
            part.name,
            *_FLAGS,
            f"-Cmetadata=fatcrate-sysroot-{part.name}",
            f"-Cpanic={panic}",
            f"--remap-path-prefix={source}={SOURCE_NAME}",
            *part.flags,
            f"--sysroot={temporary}",
            f"--emit=link={library}/lib{part.name}.rlib",
            f"--out-dir={library}",
            f"{source}/{part.source}",
        ]
        if rustc.run(argv, temporary):
            _refuse(part.name, source)


def _refuse(name: str, source: str) -> None:
    from fatcrate.rules import errors

    fail(
        errors.SYSROOT_BUILD,
        name,
        f"does not compile from {source}",
        remedy="use the sources that belong to this rustc; `fatcrate doctor` shows both",
    )


def _install(temporary: str, directory: str) -> None:
    """Puts the finished folder in place. Build systems make the folders of outputs before a
    step runs: empty ones give way. What holds something is replaced file by file."""
    _remove_empty(directory)
    try:
        os.rename(temporary, directory)
        return
    except OSError:
        if not os.path.isdir(directory):
            raise
    old, new = library_folder(directory), library_folder(temporary)
    os.makedirs(old, exist_ok=True)
    for part in PARTS:
        os.replace(f"{new}/lib{part.name}.rlib", f"{old}/lib{part.name}.rlib")
    os.replace(f"{temporary}/{KEY_FILE}", f"{directory}/{KEY_FILE}")


def _remove_empty(directory: str) -> None:
    """Removes the folders below ``directory``, and itself, that hold no files."""
    for folder, _, _ in os.walk(directory, topdown=False):
        with suppress(OSError):
            os.rmdir(folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fatcrate sysroot",
        description="Build core, compiler_builtins and alloc for the GPU target from source.",
        epilog="example:\n  fatcrate sysroot --rustc /usr/bin/rustc"
        " --src /usr/lib/rustlib/src/rust/library \\\n"
        "      --toolchain toolchain.json --panic immediate-abort --output sysroot",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--rustc", required=True, metavar="FILE", help="the compiler")
    add("--src", required=True, metavar="DIR", help="the library sources: the folder with core/")
    add("--toolchain", required=True, metavar="FILE", help="toolchain.json")
    add(
        "--panic",
        choices=names.PANIC_STRATEGIES,
        default=names.PANIC_STRATEGIES[0],
        help="what a panic does (default: %(default)s, a trap without message)",
    )
    add("--output", required=True, metavar="DIR", help="the sysroot to make")
    return parser


def main(argv: list[str]) -> int:
    """Runs the step; see ``--help``."""
    from fatcrate.toolchain import identity

    args = _parser().parse_args(argv)
    key = cache_key(identity.load(args.toolchain), args.panic)
    build(args.rustc, args.src.rstrip("/"), args.panic, key, args.output.rstrip("/"))
    return 0
