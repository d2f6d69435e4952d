"""Kinds of fault that LINK, CODEGEN and ASSEMBLE report (FC03xx)."""

from __future__ import annotations

from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_USAGE, Kind

BAD_ARCHIVE = Kind(
    "FC0301",
    "not a readable archive",
    "An rlib or static library is an `ar` archive: the text `!<arch>` (or `!<thin>`) and members"
    " with 60-byte headers. The named file breaks that format at the named offset, most often"
    " because it was truncated.",
)
BAD_BITCODE = Kind(
    "FC0302",
    "not readable LLVM bitcode",
    "The bytes do not form an LLVM module: the file is truncated, damaged, or not bitcode.",
)
NOT_DEVICE_CODE = Kind(
    "FC0303",
    "compiled for another target",
    "Every crate of a link must be compiled for the GPU target. The named member holds code for"
    " another one, for example because rustc ran without `--target nvptx64-nvidia-cuda`.",
)
NO_CODE = Kind(
    "FC0304",
    "an input without device code",
    "The file is readable but holds no LLVM module: an rlib compiled without bitcode"
    " (`-Cembed-bitcode=no`) or with machine code only.",
)
LLVM_VERSION = Kind(
    "FC0305",
    "bitcode of another LLVM",
    "Bitcode is read by the LLVM major version that wrote it. The linker's LLVM and the rustc"
    " that compiled the crate must agree; a newer patch level is accepted for tested pairs.",
)
UNDEFINED = Kind(
    "FC0310",
    "undefined symbol",
    "Code that is kept refers to a symbol that no crate, no sysroot member and no library"
    " defines. On a GPU this would otherwise show only when the driver loads the image.",
)
DUPLICATE = Kind(
    "FC0311",
    "symbol defined more than once",
    "Two crates define the same strong symbol, so that the link would depend on their order.",
)
DUPLICATE_KERNEL = Kind(
    "FC0312",
    "kernel defined more than once",
    "Two crates export a kernel under one name; the host could not tell which one it loads.",
)
NO_KERNELS = Kind(
    "FC0313",
    "a target without kernels",
    "No linked crate defines a kernel: a function with the ABI `gpu-kernel` or `ptx-kernel`.",
)
UNKNOWN_EXPORT = Kind(
    "FC0314",
    "an export that is not there",
    "`--export` names a symbol that no linked crate defines.",
)
BAD_NAME = Kind(
    "FC0315",
    "a name that PTX does not allow",
    "A kernel or an exported static keeps its name in PTX, which allows letters, digits, `_` and"
    " `$`, not beginning with a digit. Other symbols are renamed by the linker.",
)
BAD_RECORD = Kind(
    "FC0316",
    "a faulty device library record",
    "A static in section .fatcrate.meta does not have the layout that the linker knows; it is"
    " written by the macros of the device library, not by hand.",
)
LOST_KERNEL = Kind(
    "FC0317",
    "a kernel was lost",
    "A kernel that the crates declare is missing from the result. This is a fault of the linker"
    " or of LLVM, reported instead of an image without the kernel.",
)
BAD_PARAMETER = Kind(
    "FC0318",
    "a kernel parameter without a machine class",
    "A kernel takes scalars and pointers. Structs, arrays and slices by value are passed in ways"
    " that differ from back end to back end, so that no launch would be right for all.",
)
UNKNOWN_SYMBOL = Kind(
    "FC0325",
    "a symbol that no input has",
    "An option asks about a symbol that no linked crate defines or refers to.",
)
UNSUPPORTED = Kind(
    "FC0326",
    "what a GPU cannot do",
    "The symbol needs something that device code lacks: code chosen by the loader (ifunc),"
    " thread-local storage, or data placed by a section name.",
)
BAD_REPRODUCER = Kind(
    "FC0327",
    "not a reproducer",
    "A reproducer is a tar archive with the inputs and the command line of a step that failed in"
    " LLVM; this file is not one, or belongs to another version of fatcrate.",
)
SPLIT_STATIC = Kind(
    "FC0328",
    "a mutable or host-visible static in two partitions",
    "Each partition is a module of its own, with its own copy of every static. A static that"
    " device code or the host writes would be two variables, so its users must share a module.",
)
UNKNOWN_BUDGET = Kind(
    "FC0329",
    "a budget for a kernel that is not there",
    "The project sets limits for a kernel by name, but no linked crate exports a kernel of that"
    " name, so that the limits would never be checked.",
)
CODEGEN_FAILED = Kind(
    "FC0320",
    "LLVM cannot generate code",
    "LLVM's code generator gave up. The usual reason is an instruction or intrinsic that the"
    " architecture does not have: guard it with `gpu::has(...)`, or build for another one.",
)
ENGINE_CRASH = Kind(
    "FC0321",
    "LLVM crashed",
    "The process that runs LLVM ended by itself. The input is kept in a reproducer file.",
)
LINK_FAILED = Kind(
    "FC0322",
    "LLVM refuses to merge the modules",
    "Two modules do not fit together: incompatible module flags or types.",
)
ENGINE_TIMEOUT = Kind(
    "FC0323",
    "LLVM did not finish in time",
    "The process that runs LLVM was ended after the time limit (`--timeout`).",
)
ENGINE_MISSING = Kind(
    "FC0324",
    "the LLVM engine is not there",
    "The engine that `--engine` names needs a library that is not installed.",
    EXIT_ENVIRONMENT,
)
PTXAS_FAILED = Kind(
    "FC0330",
    "ptxas refuses the PTX",
    "NVIDIA's assembler reports an error in the generated PTX.",
)
PTXAS_WARNING = Kind(
    "FC0331",
    "ptxas warns",
    "NVIDIA's assembler accepted the PTX with a warning.",
    severity="warning",
)
PTXAS_MISSING = Kind(
    "FC0332",
    "ptxas cannot be run",
    "The program given with --ptxas is not there or cannot be executed.",
    EXIT_ENVIRONMENT,
)
SPILLS = Kind(
    "FC0333",
    "a kernel spills registers",
    "The kernel needs more registers than it may use, so that values go through local memory.",
    severity="warning",
)
BUDGET = Kind(
    "FC0334",
    "a kernel exceeds its budget",
    "The project sets limits on registers, spills, stack, shared memory or occupancy.",
)
NOT_PTX = Kind(
    "FC0335",
    "not PTX text",
    "The assembler reads PTX text (UTF-8); the file holds something else.",
)
NO_DEBUG_INFO = Kind(
    "FC0338",
    "crates have no debug information to keep",
    "A target keeps all debug information (`debug: full`), but crates that hold its kernels were"
    " compiled without any, so that a debugger shows no source and no variables of theirs.",
    severity="warning",
)
RELOCATABLE_COST = Kind(
    "FC0337",
    "a kernel pays for relocatable assembly",
    "A module that is assembled to be linked later is not optimised as a whole: a kernel may take"
    " more registers or stack than it would by itself.",
    severity="warning",
)
NVLINK_FAILED = Kind(
    "FC0336",
    "nvlink refuses the cubins",
    "NVIDIA's linker of machine code reports an error: a symbol that two modules define, or one"
    " that none does.",
)
BAD_OPTION = Kind(
    "FC0340",
    "an option that does not fit",
    "The option's value is not one of those that the command knows.",
    EXIT_USAGE,
)

ALL: tuple[Kind, ...] = (
    BAD_ARCHIVE,
    BAD_BITCODE,
    NOT_DEVICE_CODE,
    NO_CODE,
    LLVM_VERSION,
    UNDEFINED,
    DUPLICATE,
    DUPLICATE_KERNEL,
    NO_KERNELS,
    UNKNOWN_EXPORT,
    BAD_NAME,
    BAD_RECORD,
    LOST_KERNEL,
    BAD_PARAMETER,
    UNKNOWN_SYMBOL,
    UNSUPPORTED,
    BAD_REPRODUCER,
    SPLIT_STATIC,
    UNKNOWN_BUDGET,
    CODEGEN_FAILED,
    ENGINE_CRASH,
    LINK_FAILED,
    ENGINE_TIMEOUT,
    ENGINE_MISSING,
    PTXAS_FAILED,
    PTXAS_WARNING,
    PTXAS_MISSING,
    SPILLS,
    BUDGET,
    NOT_PTX,
    NO_DEBUG_INFO,
    RELOCATABLE_COST,
    NVLINK_FAILED,
    BAD_OPTION,
)
