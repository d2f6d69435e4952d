"""What a file holds: containers of images. Payloads are read and decompressed on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from fatcrate.fatbin import compression
from fatcrate.fatbin.source import Source
from fatcrate.toolchain.arch import Arch

ImageKind = Literal["ptx", "cubin", "ltoir", "tileir", "group", "hsaco", "host", "unknown"]


@dataclass
class Image:
    """One image of a container (or a whole file that is one image).

    ``stored_size`` counts the bytes that the payload takes in the file without padding;
    ``size`` the bytes it stands for (for an uncompressed image the padding is included until
    the payload itself tells better). ``offset`` is the entry's start in ``source``.
    """

    kind: ImageKind
    kind_code: int
    arch: Arch | None
    source: Source
    offset: int
    entry_size: int  # header and padded payload
    payload_offset: int
    stored_size: int
    padded_size: int
    size: int
    method: compression.Method = "none"
    identifier: str = ""
    options: str | None = None
    flags: int = 0
    version: tuple[int, int] = (0, 0)  # major, minor
    key: int = 0
    compat: bytes | None = None
    target: str = ""  # AMD: the bundle entry's identifier
    blob: bytes | None = field(default=None, repr=False)  # payload of a group's member
    member: bytes = field(default=b"", repr=False)  # a group's member: its header in the group
    grouped: bool = False  # of several compressed as one block; ``stored_size`` is its share

    @property
    def encoded(self) -> bool:
        """Compressed LTO-IR, whose inner encoding only NVIDIA's tools read."""
        return bool(self.flags & 0x10000)

    @property
    def debug(self) -> bool:
        return bool(self.flags & 2)

    def stored(self) -> bytes | memoryview:
        """The payload as it lies in the file, without padding where that is known."""
        return self.source.read(self.payload_offset, self.stored_size, f"image {self.label}")

    @cached_property
    def payload(self) -> bytes | memoryview:
        """The image itself, decompressed. Raises FC0401, FC0403 or FC0404."""
        if self.blob is not None:
            return self.blob
        stored = self.stored()
        if self.method == "none":
            return stored
        where = self.source.location(self.payload_offset)
        return compression.decompress(stored, self.method, self.size, where)

    def release(self) -> None:
        """Forgets a decompressed payload, so that a walk over a large file stays small."""
        self.__dict__.pop("payload", None)

    @property
    def label(self) -> str:
        """``cubin sm_90a``, ``ptx compute_90``."""
        return f"{self.kind} {self.arch if self.arch else self.target or hex(self.kind_code)}"


@dataclass
class Fatbin:
    """One container: its images in file order, and where it lies."""

    format: Literal["fatbin", "hip-bundle", "hip-compressed", "image"]
    source: Source
    offset: int
    size: int
    images: list[Image]
    section: str = ""  # the host section that it was found in
    version: int = 0  # of a compressed HIP bundle


@dataclass
class Module:
    """One file or archive member with its containers."""

    name: str
    format: str  # "fatbin", "cubin", "ptx", "elf-object", "elf-shared", "elf-executable", …
    fatbins: list[Fatbin]
    machine: str = ""  # host architecture
    notes: list[str] = field(default_factory=list)
    unread: bool = False  # the notes tell of members that fatcrate does not read
