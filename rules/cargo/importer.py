"""``fatcrate import``: a project file, and BUILD files, from a Cargo project."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from fatcrate.rules.cargo import config, emit_yaml, errors, targets
from fatcrate.rules.cargo.invoke import Cargo, Selection
from fatcrate.rules.cargo.plan import Options, plan
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import Collector, Diagnostic, fail, report
from fatcrate.toolchain.identity import Identity

_EPILOG = """\
examples:
  fatcrate import Cargo.toml                    fatcrate.yaml beside Cargo.toml
  fatcrate import Cargo.toml --bazel            BUILD files too
  fatcrate import Cargo.toml -p kernels --features fast --archs sm_90,sm_120
  fatcrate import Cargo.toml --offline --check  fail when the files are out of date

Kernels are taken from the packages with a [package.metadata.fatcrate] table, or else from all
libraries among the workspace's default members. Sources of registry and git packages are put
into the vendor folder; Cargo.lock pins them.

exit codes: 0, 1 (cargo's errors, crates that need std), 2 (wrong usage), 3 (no cargo)
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="fatcrate import",
        description="Make fatcrate.yaml, and BUILD files, from a Cargo project.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("manifest", nargs="?", default="Cargo.toml", help="the Cargo.toml (default: ./Cargo.toml)")
    add("-p", "--package", action="append", default=[], metavar="NAME", help="import this package")
    add("--features", action="append", default=[], metavar="LIST", help="enable these features")
    add("--all-features", action="store_true", help="enable all features")
    add("--no-default-features", action="store_true", help="do not enable `default`")
    add("--profile", default="release", metavar="NAME", help="cargo profile (default: release)")
    add("--archs", default="", metavar="LIST", help="archs of the kernel targets")
    add("--vendor-dir", default="vendor", metavar="DIR", help="for sources (default: vendor)")
    add("--output", metavar="FILE", help="the project file (default: fatcrate.yaml beside it)")
    add("--bazel", action="store_true", help="write BUILD files too")
    add(
        "--bazel-rules",
        default="@fatcrate//rules:defs.bzl",
        metavar="LABEL",
        help="what BUILD files load (default: @fatcrate//rules:defs.bzl)",
    )
    add("--check", action="store_true", help="write nothing; fail when a file would change")
    add("--offline", action="store_true", help="use no network")
    add("--locked", action="store_true", help="fail when Cargo.lock would change")
    add("--frozen", action="store_true", help="both")
    return made


def main(argv: list[str]) -> int:
    """Runs the command; see ``--help``. Raises FC0150 to FC0160."""
    args = parser().parse_args(argv)
    manifest = os.path.abspath(args.manifest)
    if os.path.isdir(manifest):
        manifest = os.path.join(manifest, "Cargo.toml")
    folder = os.path.dirname(os.path.abspath(args.output) if args.output else manifest)
    output = os.path.abspath(args.output or os.path.join(folder, "fatcrate.yaml"))
    old = _ours(output)
    mode = tuple(f"--{name}" for name in ("offline", "locked", "frozen") if getattr(args, name))
    selection = Selection(
        tuple(args.package),
        tuple(_words(args.features)),
        args.all_features,
        args.no_default_features,
        args.profile,
    )
    cargo, identity = discovered(manifest, mode)
    options = Options(folder, args.vendor_dir, identity, tuple(_words([args.archs])))
    project = plan(cargo, selection, options)
    report(config.ignored(manifest, dict(os.environ)))
    files = {output: emit_yaml.document(project, old)}
    names = targets.kept(project, files[output], os.path.relpath(output))
    if args.bazel:
        from fatcrate.rules.cargo import emit_bazel

        documents = emit_bazel.documents(project, folder, args.vendor_dir, args.bazel_rules)
        files |= {os.path.join(folder, name): text for name, text in documents.items()}
    if args.check:
        return _check(files, folder)
    for path, text in files.items():
        _ours(path)
        changed = atomic.write_if_changed(path, text.encode())
        print(f"{'wrote' if changed else 'unchanged:'} {os.path.relpath(path)}")
    count = len(project.entries)
    told = f"; kernels: {', '.join(names)}" if names else ""
    print(f"{count} crate{'' if count == 1 else 's'}{told}")
    if args.bazel and not _in_workspace(folder):
        print("no WORKSPACE or MODULE.bazel above: docs/bazel.md shows the one that Bazel needs")
    return 0


def _in_workspace(folder: str) -> bool:
    """Whether Bazel finds its workspace from a folder."""
    above = [Path(folder).resolve(), *Path(folder).resolve().parents]
    names = ("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel")
    return any((place / name).is_file() for place in above for name in names)


def _words(lists: list[str]) -> list[str]:
    return [word for item in lists for word in item.replace(",", " ").split()]


def discovered(manifest: str, mode: tuple[str, ...]) -> tuple[Cargo, Identity]:
    """The discovered cargo, and what the toolchain builds. Raises FC0150; FC0151 without a
    manifest."""
    from fatcrate.toolchain.discover import discover
    from fatcrate.toolchain.survey import GET_CARGO

    if not os.path.isfile(manifest):
        fail(
            errors.CARGO_FAILED,
            os.path.relpath(manifest),
            "there is no such file",
            remedy="name the Cargo.toml of a package or workspace",
        )
    tools = discover()
    if not tools.cargo:
        fail(errors.NO_CARGO, "cargo", "is not installed", remedy=GET_CARGO)
    return Cargo(tools.cargo, tools.rustc, manifest, mode), tools.identity


def _ours(path: str) -> str:
    """The text of the file at ``path``, "" when there is none. Raises FC0156."""
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        return ""
    if not text.startswith(emit_yaml.MARK):
        fail(
            errors.NOT_GENERATED,
            os.path.relpath(path),
            "is not a file that `fatcrate import` made",
            remedy="remove it, or name another file with --output",
        )
    return text


def _check(files: dict[str, str], folder: str) -> int:
    """Raises FC0160 for each file that is not as an import would make it."""
    faults = Collector()
    for path, text in files.items():
        if _ours(path) != text:
            faults.add(
                Diagnostic(
                    errors.OUT_OF_DATE,
                    os.path.relpath(path),
                    "is not what an import makes",
                    "run `fatcrate import` again",
                )
            )
    faults.check()
    print("all files are up to date", file=sys.stderr)
    return 0
