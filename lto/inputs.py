"""Inputs of a link: what a path holds, which modules it gives, and their symbols.

Accepted by content, not by name: archives and rlibs (thin ones too), bitcode, ELF objects
with a ``.llvmbc`` section, textual IR. LLVM is asked only for textual IR.
"""

from __future__ import annotations

import functools
import hashlib
import mmap
import os
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, NoReturn

from fatcrate.lto import archive, bitcode, errors
from fatcrate.lto.bitcode import ModuleInfo
from fatcrate.toolchain.diagnostics import Collector, FatcrateError, Location, fail

Kind = Literal["crate", "sysroot", "libdevice", "primitives"]

_ELF_MACHINES = {3: "x86", 40: "arm", 62: "x86-64", 183: "aarch64", 190: "CUDA", 224: "AMD GPU"}
_OTHER_MAGICS = (
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O object"),
    (b"\xca\xfe\xba\xbe", "a Mach-O object"),
    (b"\0asm", "WebAssembly"),
)


class Member:
    """One module of an input."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data

    @functools.cached_property
    def info(self) -> ModuleInfo:
        """The symbol table, read when it is first asked for. Raises FC0302."""
        return bitcode.read(memoryview(self.data), self.name)


class Unit(NamedTuple):
    """One input of the link. ``name`` is the crate's; ``sha256`` covers the modules' bytes.

    The digest leaves a crate's metadata out: an edit that changes no code (a comment, say)
    leaves the manifest as it is.
    """

    name: str
    kind: Kind
    path: str
    members: Sequence[Member] = ()
    sha256: str = ""


def read_file(path: str) -> memoryview:
    """The file's bytes, mapped. Raises ``OSError`` that names the path."""
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def load(name: str, kind: Kind, path: str, timeout: float | None = None) -> Unit:
    """Reads one input; LLVM, which is asked for textual IR, has ``timeout`` seconds.

    Raises FC0301 to FC0304, FC0321 and FC0323; ``OSError`` when it cannot be read.
    """
    data = read_file(path)
    members: list[Member] = []
    faults = Collector()
    for label, body in _bodies(data, path):
        try:
            module = _module(name, label, body, path, timeout)
            if module is not None:
                members.append(Member(label, bytes(module)))
                if kind == "crate":
                    _ = members[-1].info  # libraries are read when something needs them
        except FatcrateError as error:
            faults.absorb(error)
    faults.check()
    digest = hashlib.sha256()
    for member in members:
        digest.update(member.data)
    return Unit(name, kind, path, members, digest.hexdigest())


def _bodies(data: memoryview, path: str) -> Iterator[tuple[str, memoryview]]:
    """(label, bytes) of each candidate: an archive's members, or the file itself."""
    base = os.path.basename(path)
    if not archive.is_archive(data):
        yield base, data
        return
    for member in archive.members(data, path):
        body = _thin(member.path, base) if member.path else member.data
        yield f"{base}({os.path.basename(member.name)})", body


def _thin(path: str, archive_name: str) -> memoryview:
    """A thin archive's member, a file of its own."""
    try:
        return read_file(path)
    except OSError as error:
        fail(
            errors.BAD_ARCHIVE,
            archive_name,
            f"is a thin archive, and its member {path} cannot be read: {error.strerror}",
            remedy="keep the members where they were, or make it without --thin (ar's T)",
        )


def _module(
    name: str, label: str, body: memoryview, path: str, timeout: float | None
) -> memoryview | None:
    """The bitcode of a candidate; None for what is not code (metadata)."""
    head = bytes(body[:8])
    if label.endswith((".rmeta)", ".rmeta", "rust.metadata.bin)")) or head.startswith(b"rust"):
        return None
    if bitcode.is_bitcode(head):
        return bitcode.unwrap(body, label)
    if head[:4] == b"\x7fELF":
        return _embedded(name, label, body)
    for magic, what in _OTHER_MAGICS:
        if head.startswith(magic):
            _wrong_target(name, path, what)
    if path.endswith(".ll") or looks_like_text(body):
        return memoryview(_assemble(label, bytes(body), timeout))
    fail(
        errors.NO_CODE,
        label,
        "is neither bitcode nor an object with embedded bitcode",
        remedy="pass rlibs, bitcode (.bc), textual IR (.ll) or archives of them",
        location=Location(path),
    )


def _wrong_target(name: str, path: str, what: str) -> NoReturn:
    fail(
        errors.NOT_DEVICE_CODE,
        name,
        f"{os.path.basename(path)} holds {what}, not GPU bitcode",
        remedy="compile the crate with --target nvptx64-nvidia-cuda",
    )


def _embedded(crate: str, label: str, body: memoryview) -> memoryview:
    """The ``.llvmbc`` section of an ELF object (ELF gABI, 64-bit little endian)."""
    if len(body) < 64 or body[4] != 2 or body[5] != 1:
        _wrong_target(crate, label.split("(")[0], "an ELF object that is not 64-bit little endian")
    machine = struct.unpack_from("<H", body, 18)[0]
    table, entry_size, count, names = (
        *struct.unpack_from("<Q", body, 40),
        *struct.unpack_from("<HHH", body, 58),
    )
    sections: list[tuple[int, int, int, int]] = []  # name offset, type, offset, size
    for index in range(count):
        at = table + index * entry_size
        if entry_size < 64 or at + 64 > len(body):
            fail(errors.NO_CODE, label, "is a damaged ELF object", location=Location(label))
        name, kind = struct.unpack_from("<II", body, at)
        offset, size = struct.unpack_from("<QQ", body, at + 24)
        if kind != 8 and offset + size > len(body):  # SHT_NOBITS occupies no bytes
            fail(errors.NO_CODE, label, "is a truncated ELF object", location=Location(label))
        sections.append((name, kind, offset, size))
    if names < count:
        _, _, strings, length = sections[names]
        for name, kind, offset, size in sections:
            text = bytes(body[strings + name : min(strings + name + 9, strings + length)])
            if kind != 8 and text.startswith(b".llvmbc\0") and size:
                return body[offset : offset + size]
    what = _ELF_MACHINES.get(machine, f"ELF machine {machine}")
    _wrong_target(crate, label.split("(")[0], f"machine code for {what}")


_TEXT_STARTS = (b";", b"source_filename", b"target ", b"define ", b"declare ", b"@", b"%", b"!")


def looks_like_text(body: memoryview) -> bool:
    """Whether a file's bytes are textual IR rather than bitcode or an archive."""
    head = bytes(body[:4096]).lstrip()
    return head.startswith(_TEXT_STARTS) and b"\0" not in head


def _assemble(label: str, text: bytes, timeout: float | None) -> bytes:
    """Textual IR to bitcode, by LLVM in a child process."""
    from fatcrate.lto import isolate

    def work() -> bytes:
        from fatcrate.lto.engine import EngineError
        from fatcrate.lto.llvm import LlvmliteEngine

        try:
            return LlvmliteEngine().parse_text(text.decode("utf-8", "replace")).bitcode()
        except EngineError as error:
            fail(errors.BAD_BITCODE, label, f"is not valid textual IR: {error}")

    try:
        return isolate.run(work, timeout=timeout or isolate.DEFAULT_TIMEOUT)
    except isolate.Crash as crash:
        kind = errors.ENGINE_TIMEOUT if crash.timed_out else errors.ENGINE_CRASH
        fail(kind, label, f"LLVM {crash.reason()} while reading it")


def check_targets(units: list[Unit], triple: str, llvm: tuple[int, ...]) -> None:
    """Every module is for ``triple`` and of LLVM's major version. Raises FC0303, FC0305."""
    faults = Collector()
    for unit in units:
        for member in unit.members:
            try:
                _check_target(unit, member, triple, llvm)
            except FatcrateError as error:
                faults.absorb(error)
    faults.check()


def _check_target(unit: Unit, member: Member, triple: str, llvm: tuple[int, ...]) -> None:
    if unit.kind == "libdevice":
        return  # NVIDIA's own triple, and bitcode of an LLVM that every newer one reads
    info, file = member.info, os.path.basename(unit.path)
    if info.triple.split("-")[0] != triple.split("-")[0]:
        fail(
            errors.NOT_DEVICE_CODE,
            unit.name,
            f"{file} is compiled for {info.triple or 'no target'}, the link is for {triple}",
            remedy=f"compile the crate with --target {triple}",
        )
    other = _other_layout(info.layout)
    if other:
        fail(
            errors.NOT_DEVICE_CODE,
            unit.name,
            f"{file} is laid out for {other}, not as {triple} is",
            remedy=f"compile the crate with --target {triple} and its own data layout",
        )
    version = info.llvm_version
    if version and version[0] != llvm[0]:
        fail(
            errors.LLVM_VERSION,
            unit.name,
            f"{file} was written by LLVM {_dotted(version)}, the linker reads LLVM {_dotted(llvm)}",
            remedy=f"compile the crate with a rustc whose LLVM is {llvm[0]} (rustc -vV shows it)",
        )


_POINTER_BITS = {6: 32}  # by address space, where it is not 64


def _other_layout(layout: str) -> str:
    """What a data layout has that NVPTX's 64-bit one has not; "" when code of both fits together.

    Format: LLVM Language Reference, "Data Layout".
    """
    for part in layout.split("-"):
        if part == "E":
            return "big-endian memory"
        if match := re.match(r"p(\d*):(\d+)", part):
            space, bits = int(match[1] or 0), int(match[2])
            if bits != _POINTER_BITS.get(space, 64):
                return f"{bits}-bit pointers in address space {space}"
    return ""


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
