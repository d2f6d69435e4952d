"""Finds the device code in any file: containers, bare images, and host files that hold them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NoReturn

from fatcrate.fatbin import archive, errors, packer, ptx, reader, wheel
from fatcrate.fatbin import constants as c
from fatcrate.fatbin.elf import Elf, Section
from fatcrate.fatbin.model import Fatbin, Image, Module
from fatcrate.fatbin.source import Source
from fatcrate.fatbin.structs import WRAPPER
from fatcrate.toolchain import names
from fatcrate.toolchain.arch import Arch
from fatcrate.toolchain.diagnostics import fail

#: Sections of host objects that hold CUDA containers: nvcc's whole-program and -rdc code.
CUDA_SECTIONS = (names.NV_FATBIN_SECTION, "__nv_relfatbin")
HIP_SECTIONS = (names.HIP_FATBIN_SECTION,)

_MACHINES = {c.EM_X86_64: "x86_64", c.EM_AARCH64: "aarch64"}
_ELF_TYPES = {c.ET_REL: "object", c.ET_EXEC: "executable", c.ET_DYN: "shared object"}
#: Files that hold device code on other platforms.
FOREIGN = {
    b"MZ": "a Windows executable (COFF)",
    b"\x64\x86": "a COFF object",
    b"\xcf\xfa\xed\xfe": "a Mach-O file",
    b"\xce\xfa\xed\xfe": "a Mach-O file",
    b"\xca\xfe\xba\xbe": "a universal Mach-O file",
}


def modules(source: Source, stack: contextlib.ExitStack) -> Iterator[Module]:
    """The file, or each member of an archive or wheel, with the containers in it.

    Members of wheels are unpacked to temporary files that live as long as ``stack``.
    Members without device code give modules without containers. Raises FC0400 when the file
    is of no known kind, FC0408 for COFF and Mach-O.
    """
    if archive.is_archive(source):
        yield from _archived(source)
    elif wheel.is_wheel(source):
        yield from _in_wheel(source, stack)
    else:
        yield module(source)


def _archived(source: Source) -> Iterator[Module]:
    others: list[str] = []
    for member in archive.members(source):
        if _is_elf(member):
            yield _member(member)
        elif what := foreign(member):
            others.append(f"{member.name} is {what}")
    if others:
        yield Module(source.name, "archive", [], notes=[unread(others)], unread=True)


def _in_wheel(source: Source, stack: contextlib.ExitStack) -> Iterator[Module]:
    for member, held in wheel.members(source):
        if archive.is_archive(member):
            found = list(_archived(member))
        else:
            found = [_member(member) if _is_elf(member) else module(member)]
        if any(m.fatbins for m in found):
            stack.push(held.pop_all())
        held.close()
        yield from found
    if others := wheel.foreign(source):
        yield Module(source.name, "wheel", [], notes=[unread(others)], unread=True)


def unread(others: list[str]) -> str:
    """A note on members of another platform."""
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f"{others[0]}{more}; fatcrate reads ELF only"


def _member(source: Source) -> Module:
    """An ELF member of an archive or wheel; one of 32 bits is only noted."""
    if is_other_elf(source):
        note = "is a 32-bit or big-endian ELF file"
        return Module(source.name, "ELF", [], notes=[note], unread=True)
    return _elf_module(source)


def is_other_elf(source: Source) -> bool:
    """Whether an ELF file is of 32 bits or big-endian; no device code is in such."""
    return source.size >= 6 and bytes(source.read(4, 2, "ELF header")) != b"\x02\x01"


def foreign(source: Source) -> str:
    """What a file of another platform is; empty for all other files."""
    return next((what for magic, what in FOREIGN.items() if source.starts_with(magic)), "")


def module(source: Source) -> Module:
    """One file that is not an archive."""
    if reader.is_fatbin(source):
        return Module(source.name, "fatbin", reader.read_all(source))
    if _is_elf(source):
        return _elf_module(source)
    if source.size >= 24 and _is_hip(source):
        from fatcrate.fatbin import hip

        return Module(source.name, "hip bundle", hip.read_all(source))
    kind = packer.sniff(source) if source.size else ""
    if kind == "ptx":
        return Module(source.name, "ptx", [_ptx_image(source)])
    if kind == "ltoir":
        from fatcrate.fatbin import ltoir

        return Module(source.name, "ltoir", [_bare(source, "ltoir", ltoir.target(source))])
    _refuse(source)


def _is_elf(source: Source) -> bool:
    return source.starts_with(c.ELF_MAGIC)


def _is_hip(source: Source) -> bool:
    return source.starts_with(b"CCOB") or source.starts_with(b"__CLANG_OFFLOAD_BUNDLE__")


def _refuse(source: Source) -> NoReturn:
    if what := foreign(source) or (source.starts_with(b"BC\xc0\xde") and "LLVM bitcode"):
        fail(
            errors.UNSUPPORTED,
            source.name,
            f"is {what}, which fatcrate does not read",
            remedy="give it the fat binary itself, or an ELF file",
        )
    fail(
        errors.NOT_RECOGNISED,
        source.name,
        "is no file that fatcrate finds device code in",
        remedy="give it a fat binary, cubin, PTX, HIP bundle, ELF file, archive or wheel",
    )


def _elf_module(source: Source) -> Module:
    elf = Elf(source)
    if elf.machine == c.EM_CUDA:
        return Module(source.name, "cubin", [_cubin_image(source)])
    if elf.machine == c.EM_AMDGPU:
        from fatcrate.fatbin import hip

        return Module(source.name, "amdgpu code object", [hip.bare(source)])
    made = Module(
        source.name,
        f"ELF {_ELF_TYPES.get(elf.header.type, 'file')}",
        [],
        _MACHINES.get(elf.machine, f"machine {elf.machine}"),
    )
    made.notes.extend(notes(elf))
    for section in device_sections(elf):
        made.fatbins.extend(containers(source, section))
    return made


def device_sections(elf: Elf) -> list[Section]:
    """The sections of a host file that hold containers.

    NOBITS sections of debug files have none, nor has ``.hip_fatbin`` where every wrapper
    says that its code objects moved to a ``.kpack`` file.
    """
    hip_wrappers = set(_hip_wrappers(elf))
    moved = hip_wrappers == {c.HIP_KPACK_MAGIC}
    return [
        section
        for section in elf.sections
        if section.name in (CUDA_SECTIONS if moved else CUDA_SECTIONS + HIP_SECTIONS)
        and section.header.type != c.SHT_NOBITS
        and section.header.size
    ]


def _hip_wrappers(elf: Elf) -> list[int]:
    """The magic of each HIP wrapper."""
    wrappers = elf.section_bytes(names.HIP_FATBIN_WRAPPER_SECTION) or b""
    whole = len(wrappers) // WRAPPER.size * WRAPPER.size
    return [w.magic for w in WRAPPER.read_many(wrappers[:whole])]


def notes(elf: Elf) -> list[str]:
    """Where device code is that the file does not hold itself: in ``.kpack`` files, or in the
    program that a debug file belongs to."""
    made = []
    kpacked = _hip_wrappers(elf).count(c.HIP_KPACK_MAGIC)
    if kpacked:
        places = _kpack_places(elf.section_bytes(c.KPACK_SECTION) or b"")
        where = f": {', '.join(places)}" if places else ""
        made.append(f"{kpacked} HIPK wrapper(s); the code objects are in kpack files{where}")
    return made + [
        f"section {section.name} has no contents (a debug file)"
        for section in elf.sections
        if section.header.type == c.SHT_NOBITS and section.name in CUDA_SECTIONS + HIP_SECTIONS
    ]


def _kpack_places(data: bytes) -> list[str]:
    """The search paths in the msgpack map of ``.rocm_kpack_ref``; none when it is damaged."""
    import msgpack

    unpacker = msgpack.Unpacker(max_buffer_size=1 << 20, strict_map_key=False)
    try:
        unpacker.feed(data[: 1 << 20])
        value = unpacker.unpack()
    except (ValueError, msgpack.UnpackException, RecursionError):
        return []
    paths = value.get("kpack_search_paths", []) if isinstance(value, dict) else []
    return [str(path) for path in paths] if isinstance(paths, list) else []


def containers(source: Source, section: Section, *, fillers: bool = False) -> list[Fatbin]:
    """The containers of a host section; their offsets count from the section's start."""
    head = section.header
    part = source.window(head.offset, head.size, f"section {section.name}")
    if section.name in CUDA_SECTIONS:
        return reader.read_all(part, section.name, fillers=fillers)
    from fatcrate.fatbin import hip

    return hip.read_all(part, section.name, fillers=fillers)


def _bare(source: Source, kind: str, arch: Arch | None) -> Fatbin:
    """A file that is one image, as a container of one."""
    image = Image(
        kind=kind,  # type: ignore[arg-type]
        kind_code=0,
        arch=arch,
        source=source,
        offset=0,
        entry_size=source.size,
        payload_offset=0,
        stored_size=source.size,
        padded_size=source.size,
        size=source.size,
    )
    return Fatbin("image", source, 0, source.size, [image])


def _ptx_image(source: Source) -> Fatbin:
    return _bare(source, "ptx", ptx.read(source.all(), source.name).arch)


def _cubin_image(source: Source) -> Fatbin:
    from fatcrate.fatbin import cubin

    return _bare(source, "cubin", cubin.read(source).arch)
