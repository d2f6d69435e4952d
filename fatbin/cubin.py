"""The cubin reader: what NVIDIA's ELF says about kernels, parameters and resources.

Two ELF layouts exist. CUDA 13 (and 12 for SM >= 100): EI_OSABI 0x41, SM in bits 8-15 of
``e_flags``. CUDA 12: EI_OSABI 0x33, SM in bits 0-7. Resources are in ``.nv.info`` (per
module) and ``.nv.info.<kernel>``: records of u8 format, u8 attribute and a value. The numbers
are not documented by the vendor; names are those that cuobjdump prints. Held by tests that
compare every field with ``cuobjdump -res-usage`` and ``-elf``.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from fatcrate.fatbin import constants as c
from fatcrate.fatbin import errors
from fatcrate.fatbin.elf import Elf
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch

ATTR_MAX_THREADS: Final = 0x05
ATTR_PARAM_CBANK: Final = 0x0A
ATTR_REQNTID: Final = 0x10
ATTR_FRAME_SIZE: Final = 0x11
ATTR_MIN_STACK_SIZE: Final = 0x12
ATTR_KPARAM_INFO: Final = 0x17
ATTR_CBANK_PARAM_SIZE: Final = 0x19
ATTR_MAXREG_COUNT: Final = 0x1B
ATTR_MAX_STACK_SIZE: Final = 0x23
ATTR_REGCOUNT: Final = 0x2F
ATTR_CUDA_API_VERSION: Final = 0x37
ATTR_CTA_PER_CLUSTER: Final = 0x3D
ATTR_EXPLICIT_CLUSTER: Final = 0x3E
ATTR_KPARAM_INFO_V2: Final = 0x45
ATTR_NUM_BARRIERS: Final = 0x4C

COMPAT_ACCELERATOR_TARGET: Final = 9
RECURSION: Final = 0xFFFFFFFF

_GLOBAL_OBJECT: Final = c.STB_GLOBAL << 4 | c.STT_OBJECT
_FLAG_ACCELERATOR_12: Final = 0x800  # SM 90a, older layout
_FLAG_ACCELERATOR_13: Final = 0x8  # CUDA 12's SM >= 100 cubins; CUDA 13 leaves it clear
_OPTION_ARCH: Final = r"(?:^|\s)-(?:arch|-gpu-name)[= ]\s*sm_([0-9]+)([af]?)(?=\s|$)"
_RELEASE: Final = r"release ([0-9]+\.[0-9]+)"


class Parameter(NamedTuple):
    """One kernel parameter; bytes from the start of the parameter bank."""

    ordinal: int
    offset: int
    size: int


class Function:
    """One function of a cubin; ``is_kernel`` says whether the host can launch it."""

    def __init__(self, name: str, is_kernel: bool, code_bytes: int) -> None:
        self.name = name
        self.is_kernel = is_kernel
        self.code_bytes = code_bytes
        self.registers: int | None = None  # None: a subroutine without a record of its own
        self.stack_bytes = 0
        self.min_stack_bytes: int | None = 0  # None: recursion, no bound
        self.shared_bytes = 0
        self.constant_bytes: dict[int, int] = {}  # bank -> bytes
        self.params: list[Parameter] = []
        self.param_bytes: int | None = None
        self.param_base: int | None = None  # offset of the first parameter in bank 0
        self.barriers = 0
        self.max_registers: int | None = None
        self.max_threads: tuple[int, ...] = ()
        self.required_threads: tuple[int, ...] = ()
        self.cluster: tuple[int, ...] = ()
        self.explicit_cluster = False


class Cubin(NamedTuple):
    """One cubin. ``suffix_known`` is false when neither notes nor flags tell about a or f."""

    arch: Arch
    suffix_known: bool
    abi: int  # 8: CUDA 13's layout, 7: CUDA 12's
    relocatable: bool
    debug: bool
    virtual_sm: int | None
    toolkit: str  # "13.5", empty when unknown
    tool: str  # "ptxas"
    options: str
    functions: list[Function]
    global_bytes: int
    module_constant_bytes: dict[int, int]
    compat: bytes | None
    extent: int
    objects: dict[str, int]  # global variables: bytes

    @property
    def kernels(self) -> list[Function]:
        return [f for f in self.functions if f.is_kernel]


def is_cubin(source: Source) -> bool:
    """Whether the bytes start like a cubin."""
    if source.size < 20 or not source.starts_with(c.ELF_MAGIC):
        return False
    return int.from_bytes(source.read(18, 2, "ELF header"), "little") == c.EM_CUDA


def read(source: Source, *, resources_only: bool = False) -> Cubin:
    """Reads a cubin. Raises FC0401, FC0405 or FC0406 with the place that is wrong.

    With ``resources_only`` the records of each kernel (parameters, launch bounds) are left
    out, which makes a large library quicker to list.
    """
    elf = Elf(source)
    if elf.machine != c.EM_CUDA:
        source.fault(errors.BAD_CUBIN, 18, f"is an ELF file for machine {elf.machine}, not CUDA")
    try:
        return _Reader(elf, resources_only).read()
    except struct.error as error:
        source.fault(errors.BAD_CUBIN, 0, f"has an attribute that is cut off ({error})")


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Attribute numbers and values of a ``.nv.info`` or ``.nv.compat`` section.

    Formats: 1 no value, 2 a byte, 3 a u16 (all in the record's 4 bytes), 4 a u16 length and
    that many bytes. A value that is cut off raises ``struct.error``.
    """
    offset, end = 0, len(data)
    while offset + 4 <= end:
        kind, attribute = data[offset], data[offset + 1]
        if kind == 4:
            length = data[offset + 2] | data[offset + 3] << 8
            offset += 4
            if offset + length > end:
                raise struct.error(f"attribute {attribute:#x} of {length} bytes")
            yield attribute, data[offset : offset + length]
            offset += length
        elif kind in (1, 2, 3):
            yield attribute, b"" if kind == 1 else data[offset + 2 : offset + 1 + kind]
            offset += 4
        else:
            raise struct.error(f"attribute {attribute:#x} of format {kind}")


def sm_of(elf: Elf) -> tuple[int, bool | None]:
    """SM number of a cubin's header, and whether it says ``a`` (None: the header is mute)."""
    flags, osabi = elf.header.flags, elf.header.ident[7]
    if osabi == c.CUBIN_OSABI_12:
        return flags & 0xFF, bool(flags & _FLAG_ACCELERATOR_12)
    return flags >> 8 & 0xFF, True if flags & _FLAG_ACCELERATOR_13 else None


class _Reader:
    """One pass over sections, symbols and attributes."""

    def __init__(self, elf: Elf, resources_only: bool) -> None:
        self.elf = elf
        self.resources_only = resources_only
        self.functions: dict[int, Function] = {}  # by symbol index
        self.objects: dict[str, int] = {}
        self.toolkit = self.tool = self.options = ""
        self.virtual_sm: int | None = None
        self.compat: bytes | None = None
        self.global_bytes = 0
        self.module_constants: dict[int, int] = {}
        self.debug = False

    def read(self) -> Cubin:
        elf = self.elf
        self._read_functions()
        by_name = {f.name: f for f in self.functions.values()}
        module_info: list[bytes] = []
        for _, name, head in elf.sections:
            if name.startswith(".nv."):
                if name == ".nv.info":
                    module_info.append(elf.contents(head, name))
                elif name == ".nv.compat":
                    self.compat = elf.contents(head, name)
                else:
                    self._read_section(name, head.size, head.offset, by_name)
            elif name.startswith(".text."):
                function = by_name.get(name[len(".text.") :])
                if function is not None and head.info >> 24:
                    # Old assemblers keep the registers here; newer ones have an attribute,
                    # read below, that replaces this.
                    function.registers = head.info >> 24
            elif name.startswith(".note.nv."):
                self._read_notes(elf.contents(head, name), head.offset)
            elif name.startswith((".debug_line", ".nv_debug")):
                self.debug = True
        for data in module_info:
            self._read_module_info(data)
        sm, accelerated = sm_of(elf)
        suffix, known = self._suffix(sm, accelerated)
        return Cubin(
            arch=Arch("sm", sm, suffix),
            suffix_known=known,
            abi=elf.header.ident[8],
            relocatable=elf.header.type == c.ET_REL,
            debug=self.debug,
            virtual_sm=self.virtual_sm,
            toolkit=self.toolkit,
            tool=self.tool,
            options=self.options,
            functions=list(self.functions.values()),
            global_bytes=self.global_bytes,
            module_constant_bytes=self.module_constants,
            compat=self.compat,
            extent=0 if self.resources_only else elf.extent,
            objects=self.objects,
        )

    def _read_functions(self) -> None:
        records, names = self.elf.symbol_rows()
        text = self.elf.string
        for index, (name, info, other, section, _, size) in enumerate(records):
            if info & 0xF == c.STT_FUNC:
                if section != c.SHN_UNDEF:
                    entry = bool(other & c.STO_CUDA_ENTRY)
                    self.functions[index] = Function(text(names, name), entry, size)
            elif info == _GLOBAL_OBJECT and section != c.SHN_UNDEF and not self.resources_only:
                self.objects[text(names, name)] = size

    def _read_section(
        self, name: str, size: int, offset: int, by_name: dict[str, Function]
    ) -> None:
        if name.startswith(".nv.info."):
            if self.resources_only:
                return
            function = by_name.get(name[len(".nv.info.") :])
            if function is not None:
                data = bytes(self.elf.source.read(offset, size, name))
                self._read_function_info(function, data)
        elif name.startswith(".nv.constant"):
            bank, _, owner = name[len(".nv.constant") :].partition(".")
            if not bank.isdigit() or len(bank) > 4:
                return
            if owner and owner in by_name:
                by_name[owner].constant_bytes[int(bank)] = size
            else:
                self.module_constants[int(bank)] = self.module_constants.get(int(bank), 0) + size
        elif name.startswith(".nv.shared."):
            function = by_name.get(name[len(".nv.shared.") :])
            if function is not None:
                function.shared_bytes = size
        elif name in (".nv.global", ".nv.global.init"):
            self.global_bytes += size

    def _read_function_info(self, function: Function, data: bytes) -> None:
        words = struct.unpack_from
        for attribute, value in attributes(data):
            if attribute == ATTR_KPARAM_INFO:
                _, ordinal, offset, packed = words("<IHHI", value)
                function.params.append(Parameter(ordinal, offset, packed >> 18))
            elif attribute == ATTR_KPARAM_INFO_V2:
                _, ordinal, offset, size = words("<IHHH", value)
                function.params.append(Parameter(ordinal, offset, size))
            elif attribute == ATTR_PARAM_CBANK:
                _, function.param_base, function.param_bytes = words("<IHH", value)
            elif attribute == ATTR_CBANK_PARAM_SIZE:
                (function.param_bytes,) = words("<H", value)
            elif attribute == ATTR_MAXREG_COUNT:
                (function.max_registers,) = words("<H", value)
            elif attribute == ATTR_NUM_BARRIERS:
                function.barriers = value[0]
            elif attribute == ATTR_MAX_THREADS:
                function.max_threads = words("<3I", value)
            elif attribute == ATTR_REQNTID:
                function.required_threads = words("<3I", value)
            elif attribute == ATTR_CTA_PER_CLUSTER:
                function.cluster = words("<3I", value)
            elif attribute == ATTR_EXPLICIT_CLUSTER:
                function.explicit_cluster = True
            elif attribute == ATTR_CUDA_API_VERSION and not self.toolkit:
                (number,) = words("<I", value)
                self.toolkit = f"{number // 10}.{number % 10}"
        function.params.sort(key=lambda p: p.ordinal)

    def _read_module_info(self, data: bytes) -> None:
        for attribute, value in attributes(data):
            if attribute not in (ATTR_REGCOUNT, ATTR_FRAME_SIZE, ATTR_MIN_STACK_SIZE):
                continue
            index, number = struct.unpack_from("<II", value)
            function = self.functions.get(index)
            if function is None:
                continue
            if attribute == ATTR_REGCOUNT:
                function.registers = number
            elif attribute == ATTR_FRAME_SIZE:
                function.stack_bytes = number
            else:
                function.min_stack_bytes = None if number == RECURSION else number

    def _read_notes(self, data: bytes, offset: int) -> None:
        for note in self.elf.notes(data, offset):
            if note.type == c.NT_CUINFO and len(note.data) >= 6:
                version, self.virtual_sm, toolkit = struct.unpack_from("<3H", note.data)
                if version >= 2 and toolkit > 10:  # CUDA 12 wrote other numbers here
                    self.toolkit = f"{toolkit // 10}.{toolkit % 10}"
            elif note.type == c.NT_TKINFO and len(note.data) > 24:
                self._read_toolkit(note.data)

    def _read_toolkit(self, data: bytes) -> None:
        """u32 version, five u32 offsets (file, tool, release, build, options), strings."""
        strings = data[24:]
        texts = [
            strings[start:].split(b"\0", 1)[0].decode("utf-8", "backslashreplace").strip()
            for start in struct.unpack_from("<5I", data, 4)
        ]
        _, self.tool, release, _, self.options = texts
        if not self.toolkit and (match := re.search(_RELEASE, release)):
            self.toolkit = match[1]

    def _suffix(self, sm: int, accelerated: bool | None) -> tuple[str, bool]:
        """The suffix of the arch, and whether it is certain."""
        if accelerated is not None and self.elf.header.ident[7] == c.CUBIN_OSABI_12:
            return ("a" if accelerated else ""), True
        matches = re.findall(_OPTION_ARCH, self.options)
        if matches and int(matches[-1][0]) == sm:
            return matches[-1][1], True
        if accelerated:
            return "a", True
        if self.compat is not None:
            for attribute, value in attributes(self.compat):
                if attribute == COMPAT_ACCELERATOR_TARGET and value[:1] == b"\1":
                    return "a", True
        return "", False
