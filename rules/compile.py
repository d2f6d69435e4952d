"""``fatcrate compile``: the CRATE step, one rustc run with atomic, tracked outputs.

The command line of rustc is taken as it is; where its outputs go is added. rustc writes into a
temporary folder beside the output; what it wrote replaces the output when it differs, so
that an edit without effect leaves the output's time stamp alone.
"""

from __future__ import annotations

import os

from fatcrate.rules import depfile, rustc
from fatcrate.toolchain import atomic

TYPE_CHECKING = False  # the module `typing` takes as long to import as all of this
if TYPE_CHECKING:
    import argparse
    from typing import Any

_EPILOG = """\
examples:
  fatcrate compile --output out/libmath.rlib -- rustc --crate-name math --crate-type rlib \\
      --target nvptx64-nvidia-cuda --sysroot sysroot math.rs
  fatcrate compile --output out/libmath.rlib --depfile out/libmath.d -- rustc …

exit codes: 0, 1 (rustc reported errors), 2 (wrong usage), 3 (missing tool, full disk)
"""

#: Options, as argparse takes them.
_OPTIONS: dict[str, dict[str, Any]] = {
    "--output": {
        "required": True,
        "metavar": "FILE",
        "help": "the rlib, proc-macro library or program",
    },
    "--emit": {
        "choices": ("link", "metadata", "mir"),
        "default": "link",
        "help": "'metadata' stops after type checking, 'mir' writes rustc's middle representation"
        " as text (default: link)",
    },
    "--depfile": {"metavar": "FILE", "help": "write the source files read, for Ninja"},
    "--depfile-target": {"metavar": "NAME", "help": "name of the output in the depfile"},
    "--depfile-base": {
        "metavar": "DIR",
        "default": "",
        "help": "put before relative paths in the depfile: this folder as seen from Ninja's",
    },
    "--env": {
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "help": "set an environment variable for env!(); no others are visible",
    },
    "--diagnostics": {
        "metavar": "FILE",
        "help": "write rustc's diagnostics there too, as JSON lines",
    },
    "--manifest-dir": {"metavar": "DIR", "default": "", "help": "for CARGO_MANIFEST_DIR"},
    "--build-script": {
        "metavar": "DIR",
        "default": "",
        "help": "take cfgs, variables and OUT_DIR from this output of `fatcrate build-script`",
    },
}


class _Arguments:
    """The options' values, with the defaults of :data:`_OPTIONS`."""

    output = ""
    emit = "link"
    depfile: str | None = None
    depfile_target: str | None = None
    depfile_base = ""
    diagnostics: str | None = None
    manifest_dir = ""
    build_script = ""

    def __init__(self) -> None:
        self.env: list[str] = []


def _parser() -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(
        prog="fatcrate compile",
        usage="fatcrate compile --output FILE [options] -- RUSTC ARGUMENT...",
        description="Compile one crate with rustc.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, settings in _OPTIONS.items():
        parser.add_argument(name, **settings)
    return parser


def _parse(words: list[str]) -> _Arguments:
    """The options. Well-formed pairs of option and value, as build systems write them, need no
    argparse, which takes longer to import than the rest of this step takes to run."""
    args = _Arguments()
    for name, value in zip(words[::2], words[1::2], strict=False):
        settings = _OPTIONS.get(name)
        choices = settings.get("choices") if settings else ()
        if settings is None or value.startswith("-") or (choices and value not in choices):
            break
        if settings.get("action") == "append":
            getattr(args, _dest(name)).append(value)
        else:
            setattr(args, _dest(name), value)
    else:
        if args.output and len(words) % 2 == 0:
            return args
    return _parser().parse_args(words, namespace=_Arguments())


def _dest(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def main(argv: list[str]) -> int:
    """Runs the step; see ``--help``. Returns rustc's verdict, 0 or 1."""
    split = argv.index("--") if "--" in argv else len(argv)
    args = _parse(argv[:split])
    command = argv[split + 1 :]
    if not command:
        _parser().error("the command line of rustc is missing after '--'")
    variables = dict(_assignment(item) for item in args.env)
    if args.manifest_dir or args.build_script:
        from fatcrate.rules.cargo import crate_env

        crate = command[command.index("--crate-name") + 1]
        more, found = crate_env.flags(crate, args.manifest_dir, args.build_script)
        command += more
        variables = found | variables

    folder, name = os.path.split(args.output)
    os.makedirs(folder or ".", exist_ok=True)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    _remove(temporary)  # of a killed process with our number
    os.mkdir(temporary)
    try:
        made = os.path.join(temporary, name)
        info = made + ".d"
        # Without --out-dir rustc puts intermediate files into the folder that it runs in, where
        # those of another crate of that name would be.
        emit = [f"--emit={args.emit}={made},dep-info={info}", f"--out-dir={temporary}"]
        code = _run_rustc(args, [*command, *emit], temporary, variables)
        if code:
            return code
        if args.depfile:
            with open(info, encoding="utf-8", errors="surrogateescape") as stream:
                sources = depfile.parse_dep_info(stream.read(), info)
            _write_depfile(args.depfile, args, sources)
        atomic.move_if_changed(made, args.output)
    finally:
        _remove(temporary, name + ".d")
    return 0


def _remove(folder: str, last: str = "") -> None:
    """Removes a folder of temporary files; most often it is not there or holds ``last`` only."""
    for remove, path in ((os.unlink, f"{folder}/{last}"), (os.rmdir, folder)):
        try:
            remove(path)
        except OSError:
            continue
    if os.path.exists(folder):
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _run_rustc(
    args: _Arguments, command: list[str], temporary: str, variables: dict[str, str]
) -> int:
    if not args.diagnostics:
        return rustc.run(command, temporary, variables)
    with atomic.atomic_output(args.diagnostics) as stream:
        return rustc.run(command, temporary, variables, stream)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        _parser().error(f"--env takes NAME=VALUE, not '{text}'")
    return name, value


def _write_depfile(path: str, args: _Arguments, sources: list[str]) -> None:
    """Writes the depfile; raises FC0104 for the names that its format cannot carry."""
    paths = []
    refused = []
    for source in sources:
        source = source.removeprefix("/proc/self/cwd/")  # see build_script.HERE
        if char := depfile.untrackable(source):
            refused.append((source, char))
        paths.append(os.path.normpath(os.path.join(args.depfile_base, source)))
    if refused:
        _refuse(refused)
    text = depfile.ninja_depfile(args.depfile_target or args.output, paths)
    atomic.write_bytes(path, text.encode("utf-8", "surrogateescape"))


def _refuse(refused: list[tuple[str, str]]) -> None:
    from fatcrate.rules import errors
    from fatcrate.toolchain.diagnostics import Diagnostic, FatcrateError

    raise FatcrateError(
        *(
            Diagnostic(
                errors.UNTRACKABLE_FILE,
                source,
                f"Ninja cannot track a file whose name contains {char!r}",
                remedy="rename the file",
            )
            for source, char in refused
        )
    )
