"""``fatcrate build-script``: the BUILD SCRIPT step, one run of a crate's compiled `build.rs`.

The script runs in its package's folder with the environment that cargo documents and no other
variables. What it asks for is written to ``flags.json`` in the output folder, what it makes to
``out`` beside that; ``fatcrate compile --build-script`` reads both.

Nothing written depends on where the project lies: the absolute paths that the script was given
are replaced, in its directives and in the text files it made, by paths below :data:`HERE`,
which every process started from the same execution root reads alike.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess

from fatcrate.rules import depfile
from fatcrate.rules.cargo import directives, script_env
from fatcrate.toolchain import atomic

#: Stands for the execution root in an absolute path: the folder that a step was started in.
HERE = "/proc/self/cwd"

#: The folder for files that the script makes, and the file of its directives.
OUT = "out"
FLAGS = "flags.json"

_EPILOG = """\
examples:
  fatcrate build-script --program out/libm.build --manifest-dir vendor/libm-0.2.16 \\
      --rustc /usr/bin/rustc --target nvptx64-nvidia-cuda --sysroot sysroot \\
      --package-env CARGO_PKG_NAME=libm --feature arch --output out/libm.script

exit codes: 0, 1 (the script failed, or links a native library), 2 (wrong usage), 3 (full disk)
"""


def parser() -> argparse.ArgumentParser:
    """The command line of the step."""
    made = argparse.ArgumentParser(
        prog="fatcrate build-script",
        description="Run a crate's compiled build script as cargo does.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--program", required=True, metavar="FILE", help="the compiled build script")
    add("--manifest-dir", required=True, metavar="DIR", help="the package's folder")
    add("--output", required=True, metavar="DIR", help="folder for flags.json and out/")
    add("--rustc", required=True, metavar="FILE", help="rustc, for the script and for its cfgs")
    add("--cargo", default="", metavar="FILE", help="cargo, for scripts that ask it things")
    add("--target", metavar="TRIPLE", help="what the package is built for (default: this host)")
    add("--sysroot", metavar="DIR", help="the target's sysroot, for scripts that try things out")
    add(
        "--package-env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable for the script: CARGO_PKG_NAME and so on, or one of the user's",
    )
    add("--feature", action="append", default=[], metavar="NAME", help="an enabled feature")
    add("--links", default="", metavar="NAME", help="the manifest's `links` key")
    add(
        "--dep",
        action="append",
        default=[],
        metavar="LINKS=DIR",
        help="output folder of the build script of a dependency with that `links` key",
    )
    add("--opt-level", default="3", metavar="N", help="for OPT_LEVEL (default: 3)")
    add("--debug", default="0", metavar="N", help="debuginfo level, for DEBUG (default: 0)")
    add("--quiet", action="store_true", help="do not show the script's warnings")
    add("--depfile", metavar="FILE", help="write the files that the script depends on, for Ninja")
    add("--depfile-target", metavar="NAME", help="name of the output in the depfile")
    add("--depfile-base", metavar="DIR", default="", help="put before paths in the depfile")
    return made


def main(argv: list[str]) -> int:
    """Runs the step; see ``--help``. Raises FC0153, FC0154, and FC0105 without the program."""
    args = parser().parse_args(argv)
    temporary = f"{args.output.rstrip('/')}.{os.getpid()}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(os.path.join(temporary, OUT))
    try:
        _produce(args, temporary)
        _replace(temporary, args.output)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return 0


def _produce(args: argparse.Namespace, folder: str) -> None:
    """Runs the script and fills ``folder``."""
    package = script_env.assignments(args.package_env).get("CARGO_PKG_NAME", args.program)
    out = os.path.abspath(os.path.join(folder, OUT))
    text = _run(args, package, out)
    found = directives.parse(text, package)
    if not args.quiet:
        _warn(package, found.warnings)
    # The longest first: the output folder may lie in the package's.
    replacements = sorted(
        {
            out: _portable(os.path.join(args.output, OUT)),
            os.path.abspath(args.manifest_dir): _portable(args.manifest_dir),
            os.getcwd(): HERE,
        }.items(),
        key=lambda item: -len(item[0]),
    )
    files = _settle(out, replacements)

    def settled(value: str) -> str:
        for old, new in replacements:
            value = value.replace(old, new)
        return value

    flags = {
        "version": 1,
        "cfgs": found.cfgs,
        "check_cfgs": found.check_cfgs,
        "env": [[name, settled(value)] for name, value in found.env],
        "metadata": [[name, settled(value)] for name, value in found.metadata],
        "files": files,
    }
    encoded = json.dumps(flags, indent=1, ensure_ascii=False) + "\n"
    atomic.write_text(os.path.join(folder, FLAGS), encoded)
    if args.depfile:
        _write_depfile(args, found)


def _portable(path: str) -> str:
    """``path`` as every process in the execution root can open it; absolute ones stay."""
    return path if os.path.isabs(path) else f"{HERE}/{os.path.normpath(path)}"


def _run(args: argparse.Namespace, package: str, out: str) -> str:
    """The script's standard output. Raises FC0105 and FC0154."""
    environment = script_env.environment(args, out)
    program = os.path.abspath(args.program)
    try:
        ran = subprocess.run(
            [program],
            cwd=args.manifest_dir,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        _cannot_start(args.program, error)
    text = ran.stdout.decode("utf-8", "replace")
    if ran.returncode:
        _failed(package, ran.returncode, text, ran.stderr.decode("utf-8", "replace"))
    return text


def _settle(out: str, replacements: list[tuple[str, str]]) -> dict[str, str]:
    """Replaces absolute paths in the text files below ``out``; returns each file's SHA-256."""
    digests = {}
    encoded = [(old.encode(), new.encode()) for old, new in replacements]
    for folder, folders, names in os.walk(out):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                target = os.readlink(path)
                digests[os.path.relpath(path, out)] = f"-> {os.path.basename(target)}"
                continue
            with open(path, "rb") as stream:
                data = before = stream.read()
            if b"\0" not in data:
                for old, new in encoded:
                    data = data.replace(old, new)
            if data != before:
                atomic.write_bytes(path, data)
            digests[os.path.relpath(path, out)] = hashlib.sha256(data).hexdigest()
    return digests


def _replace(temporary: str, output: str) -> None:
    """Puts the new folder in the place of the old one, unless they tell the same."""
    try:
        names = [os.path.join(folder, FLAGS) for folder in (temporary, output)]
        with open(names[0], "rb") as one, open(names[1], "rb") as other:
            if one.read() == other.read():
                return
    except OSError:
        pass
    # Bazel makes the output folder itself, so it is filled rather than renamed over.
    os.makedirs(output, exist_ok=True)
    for name in (OUT, FLAGS):
        target = os.path.join(output, name)
        if os.path.isdir(target):
            shutil.rmtree(target)
        os.rename(os.path.join(temporary, name), target)


def _write_depfile(args: argparse.Namespace, found: directives.Directives) -> None:
    """The files named by `rerun-if-changed`; without any directive, all of the package."""
    base = args.manifest_dir
    named = found.rerun if found.reruns_given else ["."]
    paths: list[str] = []
    for name in named:
        path = os.path.normpath(os.path.join(base, name))
        paths += _files(path) if os.path.isdir(path) else [path] if os.path.exists(path) else []
    kept = [
        os.path.normpath(os.path.join(args.depfile_base, path))
        for path in dict.fromkeys(paths)
        if not depfile.untrackable(path)
    ]
    target = args.depfile_target or os.path.join(args.output, FLAGS)
    text = depfile.ninja_depfile(target, kept)
    atomic.write_bytes(args.depfile, text.encode("utf-8", "surrogateescape"))


#: Folders of a package that hold results, not sources.
_NOT_SOURCES = frozenset({"target", "fatcrate-out", ".git", ".out"})


def _files(folder: str) -> list[str]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _NOT_SOURCES)
        found += [os.path.join(place, name) for name in sorted(names)]
    return found


def _warn(package: str, warnings: list[str]) -> None:
    import sys

    for text in warnings:
        print(f"warning: {package}: {text}", file=sys.stderr)


def _cannot_start(program: str, error: OSError) -> None:
    from fatcrate.rules import errors
    from fatcrate.toolchain.diagnostics import fail

    fail(errors.NO_TOOL, program, f"cannot be started: {error.strerror}")


def _failed(package: str, code: int, output: str, errors_text: str) -> None:
    """Raises FC0154 with the end of what the script said."""
    from fatcrate.rules.cargo import errors
    from fatcrate.toolchain.diagnostics import fail

    said = [line for line in (output + errors_text).splitlines() if line.strip()][-20:]
    how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    fail(errors.SCRIPT_FAILED, package, f"its build script {how}", notes=said)
