"""The kernels of any image, in one form for listings, bindings and checks."""

from __future__ import annotations

from dataclasses import dataclass, field

from fatcrate.fatbin import codeobject, cubin, ptx
from fatcrate.fatbin.elf import Elf
from fatcrate.fatbin.model import Image
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.diagnostics import FatcrateError


@dataclass
class KernelParameter:
    """Bytes; ``kind`` is u, s, b or f where PTX tells, else empty."""

    ordinal: int
    offset: int
    size: int
    name: str = ""
    kind: str = ""


@dataclass
class KernelInfo:
    """One kernel of one image. Resources are None where the image does not tell (PTX)."""

    name: str
    params: list[KernelParameter] = field(default_factory=list)
    registers: int | None = None
    shared_bytes: int | None = None
    stack_bytes: int | None = None
    constant_bytes: int | None = None  # bank 0, parameters included
    barriers: int | None = None
    code_bytes: int | None = None
    max_threads: list[int] = field(default_factory=list)
    required_threads: list[int] = field(default_factory=list)
    cluster: list[int] = field(default_factory=list)
    more: dict[str, object] = field(default_factory=dict)


def of_image(image: Image) -> list[KernelInfo]:
    """The kernels of an image. LTO-IR, Tile IR and unknown kinds give none."""
    payload = Source(image.source.name, data=image.payload) if _readable(image) else None
    if payload is None:
        return []
    if image.kind == "cubin":
        return of_cubin(cubin.read(payload))
    if image.kind == "ptx":
        return of_ptx(ptx.read(payload.all(), payload.name))
    return of_code_object(codeobject.read(payload))


def details(
    image: Image, *, resources_only: bool = False
) -> tuple[dict[str, object], list[KernelInfo]]:
    """What the image itself tells beside its container's entry, and its kernels.

    With ``resources_only`` the kernels have no parameters.
    """
    payload = Source(image.source.name, data=image.payload)
    if image.kind == "cubin":
        made = cubin.read(payload, resources_only=resources_only)
        more: dict[str, object] = {
            "size": Elf(payload).extent if image.method == "none" else image.size,
            "toolkit": made.toolkit,
            "tool": made.tool,
            "tool_options": made.options,
            "abi": made.abi,
            "relocatable": made.relocatable,
            "global_bytes": made.global_bytes,
        }
        if image.arch is None or (image.arch.suffix == "" and made.arch.suffix):
            more["built_for"] = str(made.arch)
        return more, of_cubin(made)
    if image.kind == "ptx":
        return {}, of_ptx(ptx.read(payload.all(), payload.name))
    code = codeobject.read(payload)
    return {"target": code.target}, of_code_object(code)


def _readable(image: Image) -> bool:
    return image.kind in ("cubin", "ptx", "hsaco")


def of_cubin(found: cubin.Cubin) -> list[KernelInfo]:
    """The kernels of a cubin, in symbol order."""
    return [
        KernelInfo(
            name=k.name,
            params=[KernelParameter(p.ordinal, p.offset, p.size) for p in k.params],
            registers=k.registers,
            shared_bytes=k.shared_bytes,
            stack_bytes=k.stack_bytes,
            constant_bytes=k.constant_bytes.get(0, 0),
            barriers=k.barriers,
            code_bytes=k.code_bytes,
            max_threads=list(k.max_threads),
            required_threads=list(k.required_threads),
            cluster=list(k.cluster),
            more={
                "constant_banks": {str(b): n for b, n in sorted(k.constant_bytes.items())},
                "param_bytes": k.param_bytes,
                "max_registers": k.max_registers,
                "recursive": k.min_stack_bytes is None,
            },
        )
        for k in found.kernels
    ]


def of_ptx(found: ptx.Ptx) -> list[KernelInfo]:
    """The kernels of a PTX text, in the order of the text."""
    return [
        KernelInfo(
            name=k.name,
            params=[KernelParameter(p.ordinal, p.offset, p.size, p.name, p.kind) for p in k.params],
            max_threads=list(k.limits.get("maxntid", ())),
            required_threads=list(k.limits.get("reqntid", ())),
            cluster=list(k.limits.get("reqnctapercluster", ())),
        )
        for k in found.kernels
    ]


def of_code_object(found: codeobject.CodeObject) -> list[KernelInfo]:
    """The kernels of an AMD code object; hidden arguments are left out."""
    made: list[KernelInfo] = []
    for k in found.kernels:
        args = [a for a in k.args if not a.hidden]
        made.append(
            KernelInfo(
                name=k.name,
                params=[KernelParameter(i, a.offset, a.size, a.name) for i, a in enumerate(args)],
                registers=k.vgprs,
                shared_bytes=k.shared_bytes,
                stack_bytes=k.stack_bytes,
                max_threads=[k.max_threads],
                more={
                    "sgprs": k.sgprs,
                    "agprs": k.agprs,
                    "sgpr_spills": k.sgpr_spills,
                    "vgpr_spills": k.vgpr_spills,
                    "kernarg_bytes": k.kernarg_bytes,
                    "wavefront": k.wavefront,
                },
            )
        )
    return made


def extent(payload: bytes, name: str) -> int:
    """The size of an ELF image without the padding behind it."""
    return Elf(Source(name, data=payload)).extent


def names_of(image: Image) -> list[str]:
    """Names only; an image that cannot be read gives none."""
    try:
        return [k.name for k in of_image(image)]
    except FatcrateError:
        return []
