"""The AMD code-object reader: kernels, arguments and resources from the AMDGPU note.

Source: LLVM, "User Guide for AMDGPU Backend", sections "Note Records" and "Code Object V3 to
V6 Metadata": a msgpack map in note type 32 of owner "AMDGPU".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fatcrate.fatbin import constants as c
from fatcrate.fatbin import errors
from fatcrate.fatbin.elf import Elf
from fatcrate.fatbin.source import Source

NT_AMDGPU_METADATA: Final = 32
_NOTE_LIMIT: Final = 64 << 20


@dataclass(frozen=True)
class Argument:
    """One kernel argument. ``hidden`` ones are supplied by the runtime."""

    name: str
    offset: int
    size: int
    value_kind: str
    address_space: str = ""

    @property
    def hidden(self) -> bool:
        return self.value_kind.startswith("hidden_")


@dataclass(frozen=True)
class HsaKernel:
    """One kernel; sizes in bytes."""

    name: str
    symbol: str
    args: list[Argument]
    kernarg_bytes: int
    kernarg_align: int
    shared_bytes: int  # LDS
    stack_bytes: int  # private segment
    sgprs: int
    vgprs: int
    agprs: int
    sgpr_spills: int
    vgpr_spills: int
    wavefront: int
    max_threads: int


@dataclass(frozen=True)
class CodeObject:
    """One code object; ``target`` is ``gfx90a:sramecc+:xnack-`` without the triple."""

    target: str
    version: tuple[int, ...]
    abi: int
    flags: int
    kernels: list[HsaKernel]


def read(source: Source) -> CodeObject:
    """Reads an AMDGPU ELF file. Raises FC0405 or FC0401 where it is damaged."""
    elf = Elf(source)
    if elf.machine != c.EM_AMDGPU:
        source.fault(errors.BAD_ELF, 18, f"is an ELF file for machine {elf.machine}, not AMDGPU")
    metadata = _metadata(elf)
    target = str(metadata.get("amdhsa.target", ""))
    kernels = metadata.get("amdhsa.kernels", [])
    if not isinstance(kernels, list):
        source.fault(errors.BAD_ELF, 0, "has AMDGPU metadata without a list of kernels")
    try:
        made = [_kernel(k) for k in kernels]
        version = tuple(int(n) for n in metadata.get("amdhsa.version", ()))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        source.fault(errors.BAD_ELF, 0, f"has AMDGPU metadata of another form ({error})")
    return CodeObject(
        target.rpartition("--")[2], version, elf.header.ident[8], elf.header.flags, made
    )


def _metadata(elf: Elf) -> Mapping[str, Any]:
    import msgpack

    for segment in elf.segments:
        if segment.type != c.PT_NOTE:
            continue
        if segment.filesz > _NOTE_LIMIT:
            elf.source.fault(errors.TOO_LARGE, segment.offset, "has a huge note segment")
        data = bytes(elf.source.read(segment.offset, segment.filesz, "note segment"))
        for note in elf.notes(data, segment.offset):
            if note.owner != "AMDGPU" or note.type != NT_AMDGPU_METADATA:
                continue
            try:
                value = msgpack.unpackb(note.data, strict_map_key=False)
            except (ValueError, msgpack.UnpackException, RecursionError) as error:
                elf.source.fault(
                    errors.BAD_ELF, segment.offset, f"has AMDGPU metadata that is damaged ({error})"
                )
            if isinstance(value, dict):
                return value
    elf.source.fault(errors.BAD_ELF, 0, "has no AMDGPU metadata note")


def _kernel(value: Mapping[str, Any]) -> HsaKernel:
    def number(key: str) -> int:
        return int(value.get(key, 0))

    args = [
        Argument(
            str(a.get(".name", "")),
            int(a[".offset"]),
            int(a[".size"]),
            str(a.get(".value_kind", "")),
            str(a.get(".address_space", "")),
        )
        for a in value.get(".args", [])
    ]
    return HsaKernel(
        name=str(value[".name"]),
        symbol=str(value.get(".symbol", "")),
        args=args,
        kernarg_bytes=number(".kernarg_segment_size"),
        kernarg_align=number(".kernarg_segment_align"),
        shared_bytes=number(".group_segment_fixed_size"),
        stack_bytes=number(".private_segment_fixed_size"),
        sgprs=number(".sgpr_count"),
        vgprs=number(".vgpr_count"),
        agprs=number(".agpr_count"),
        sgpr_spills=number(".sgpr_spill_count"),
        vgpr_spills=number(".vgpr_spill_count"),
        wavefront=number(".wavefront_size"),
        max_threads=number(".max_flat_workgroup_size"),
    )
