"""Reads the files of a built variant into listings, one for each stage."""

from __future__ import annotations

import difflib
import functools
import os
import subprocess
import tempfile
from collections.abc import Sequence

from fatcrate.rules import errors
from fatcrate.rules.ninja.places import Places
from fatcrate.rules.ninja.plan import step_prefix
from fatcrate.rules.stages import mir, parse
from fatcrate.rules.stages.model import Listing, Place, own_place
from fatcrate.rules.stages.view import Source, shown_lines
from fatcrate.toolchain import manifest as manifests
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import fail
from fatcrate.toolchain.manifest import Kernel


def find_kernel(places: Places, target: str, name: str) -> Kernel:
    """The kernel of that name, or of that path in Rust. Raises FC0126."""
    manifest = manifests.load(os.path.join(places.folder, f"{target}.manifest.json"))
    for kernel in manifest.kernels:
        if name in (kernel.name, kernel.rust_path):
            return kernel
    known = [kernel.name for kernel in manifest.kernels]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    fail(
        errors.NO_SUCH_KERNEL,
        name,
        f"is not a kernel of {target}",
        remedy=f"{hint}kernels: {', '.join(known)}",
    )


def source(places: Places) -> Source:
    """The project's source files. Those of others have absolute names in debug information."""

    @functools.cache
    def is_own(file: str) -> bool:
        return not os.path.isabs(file) and os.path.isfile(places.absolute(file))

    @functools.cache
    def lines(file: str) -> Sequence[str]:
        with open(places.absolute(file), encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()

    return Source(is_own, lines)


def collect(places: Places, target: str, kernel: Kernel, arch: Arch) -> list[Listing]:
    """Every stage of a kernel, in the order of the pipeline; no SASS where none was made."""
    folder = os.path.join(_module(places, target, kernel), "temps")
    found = sorted(os.listdir(folder))
    compiled = [name for name in found if name.startswith("1-") and name.endswith(".compiled.ll")]
    with tempfile.TemporaryDirectory() as scratch:
        listings = [
            _ir(stage, [os.path.join(folder, name) for name in names], kernel, scratch)
            for stage, names in (
                ("compiled", compiled),
                ("linked", ["2-linked.ll"]),
                ("optimised", [f"3-{arch}.optimised.ll"]),
            )
        ]
    ptx = _read(folder, f"4-{arch}.ptx")
    listings.append(parse.ptx(ptx, kernel.name))
    if f"6-{arch}.sass" in found:
        sass = _read(folder, f"6-{arch}.sass")
        listings.append(parse.sass(sass, kernel.name, parse.table(ptx)))
    used = {place for listing in listings for place in listing.places()}
    crates = sorted(name for name in found if name.startswith("0-"))
    crates.sort(key=lambda name: name != f"0-{kernel.crate}.mir")
    listings.insert(0, mir.listing([_read(folder, name) for name in crates], kernel.name, used))
    main = kernel.source.rpartition(":")[0]
    return [_source(listings, source(places), main), *listings]


def _module(places: Places, target: str, kernel: Kernel) -> str:
    """Folder of the module that holds the kernel: the target's, or a partition's in it."""
    folder = os.path.join(places.folder, target)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "manifest.json")
        if os.path.isfile(path) and manifests.load(path).kernel(kernel.name):
            return os.path.join(folder, name)
    return folder


def _read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def _ir(stage: str, paths: Sequence[str], kernel: Kernel, scratch: str) -> Listing:
    """LLVM IR of the kernel, by the step that reads it."""
    output = os.path.join(scratch, f"{stage}.ll")
    argv = [*step_prefix(), "ir", "--kernel", kernel.name, "--output", output, *paths]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)  # it told why
    return parse.ir(stage, _read(scratch, f"{stage}.ll"))


def _source(listings: Sequence[Listing], own: Source, main: str) -> Listing:
    """The source lines that any stage has code of, with what stands between them."""
    places: set[Place] = set()
    for listing in listings:
        for line in listing.lines:
            place = own_place(line.chain, own.is_own)
            if place is not None:
                places.add(place)
    made = Listing("source")
    for file, numbers in shown_lines(places, main).items():
        lines = own.lines(file)
        for number in numbers:
            if 0 < number <= len(lines):
                made.add(lines[number - 1], (Place(file, number),))
            elif number == 0:
                made.add("", instruction=False)
    return made
