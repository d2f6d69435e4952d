"""Numbers of the formats: CUDA fatbin, cubin, HIP bundle, and the ELF that holds them.

The CUDA formats are not documented by their vendor. What stands here was measured by feeding
CUDA 13.0 and 13.5 tools known inputs, and is held by differential tests.
"""

from __future__ import annotations

from typing import Final

# --- CUDA fatbin -----------------------------------------------------------------------------

FATBIN_MAGIC: Final = 0xBA55ED50
FATBIN_VERSION: Final = 1
ENTRY_VERSION: Final = 0x0101
ENTRY_ALIGN: Final = 8

KIND_PTX: Final = 1
KIND_CUBIN: Final = 2
KIND_LTOIR: Final = 8
KIND_TILEIR: Final = 0x80
KIND_GROUP: Final = 0x100
#: Ours: a container with one such entry holds the program headers of a file that was cut.
KIND_FILLER: Final = 0x7FF8

FLAG_64BIT: Final = 0x1
FLAG_DEBUG: Final = 0x2
FLAG_CUDA: Final = 0x4
FLAG_OPENCL: Final = 0x8
FLAG_LINUX: Final = 0x10
FLAG_MAC: Final = 0x20
FLAG_WINDOWS: Final = 0x40
FLAG_LZ4: Final = 0x2000
FLAG_ZSTD: Final = 0x8000
FLAG_ENCODED_LTOIR: Final = 0x10000
FLAG_ARCH_SPECIFIC: Final = 0x100000
FLAG_FAMILY: Final = 0x200000
FLAG_COMPAT: Final = 0x1000000

#: From this SM on, an entry carries a copy of its cubin's ``.nv.compat`` section; without
#: it, no later SM of the same major accepts the cubin.
COMPAT_MINIMUM_SM: Final = 100

#: ``.nvFatBinSegment``'s first word, and its version for one container.
WRAPPER_MAGIC: Final = 0x466243B1
WRAPPER_VERSION: Final = 1
HIP_WRAPPER_MAGIC: Final = 0x48495046  # "HIPF"
#: A wrapper whose code objects were moved to a ``.kpack`` file (ROCm's rocm-kpack); its data
#: pointer leads to the msgpack map of section ``.rocm_kpack_ref``.
HIP_KPACK_MAGIC: Final = 0x4B504948  # "HIPK"
KPACK_SECTION: Final = ".rocm_kpack_ref"

LTOIR_MAGIC: Final = b"\xed\x43\x4e\x7f"

# --- ELF -------------------------------------------------------------------------------------

ELF_MAGIC: Final = b"\x7fELF"
EM_X86_64: Final = 62
EM_AARCH64: Final = 183
EM_CUDA: Final = 190
EM_AMDGPU: Final = 224

ET_REL: Final = 1
ET_EXEC: Final = 2
ET_DYN: Final = 3

SHT_NULL: Final = 0
SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_STRTAB: Final = 3
SHT_RELA: Final = 4
SHT_NOTE: Final = 7
SHT_NOBITS: Final = 8
SHT_REL: Final = 9
SHT_INIT_ARRAY: Final = 14
SHT_CUDA_INFO: Final = 0x70000000
SHT_CUDA_CALLGRAPH: Final = 0x70000001

SHF_WRITE: Final = 1
SHF_ALLOC: Final = 2
SHF_EXECINSTR: Final = 4
SHF_INFO_LINK: Final = 0x40

PT_LOAD: Final = 1
PT_NOTE: Final = 4

STB_LOCAL: Final = 0
STB_GLOBAL: Final = 1
STB_WEAK: Final = 2
STT_OBJECT: Final = 1
STT_FUNC: Final = 2
STT_SECTION: Final = 3
STV_DEFAULT: Final = 0
STV_HIDDEN: Final = 2
STV_PROTECTED: Final = 3

SHN_UNDEF: Final = 0
SHN_LORESERVE: Final = 0xFF00
SHN_ABS: Final = 0xFFF1
SHN_XINDEX: Final = 0xFFFF
PN_XNUM: Final = 0xFFFF

# --- cubin -----------------------------------------------------------------------------------

#: ``e_ident[EI_OSABI], e_ident[EI_ABIVERSION]``: CUDA 13 and CUDA 12.
CUBIN_OSABI_13: Final = 0x41
CUBIN_ABI_13: Final = 8
CUBIN_OSABI_12: Final = 0x33
CUBIN_ABI_12: Final = 7

STO_CUDA_ENTRY: Final = 0x10

NT_CUINFO: Final = 1000
NT_TKINFO: Final = 2000
