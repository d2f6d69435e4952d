"""Kinds of fault that the fatbin package reports: FC04xx, and FC05xx for the ABI check.

The kinds of the packer's named checks live in ``checks.py`` (FC043x and FC044x).
"""

from __future__ import annotations

from fatcrate.fatbin import checks
from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_USAGE, Kind

NOT_RECOGNISED = Kind(
    "FC0400",
    "no device code was found in this file",
    "fatcrate reads CUDA fat binaries, cubins, PTX text, LTO-IR, HIP offload bundles, AMD code"
    " objects, and host ELF objects, archives, shared objects, executables and wheels that hold"
    " them. The file is none of these, or it is one that holds no device code.",
)
TRUNCATED = Kind(
    "FC0401",
    "the file ends too early",
    "A size or offset in the file points behind its end: it was cut off while it was copied, or"
    " it is damaged. Nothing behind the named offset can be trusted.",
)
MALFORMED = Kind(
    "FC0402",
    "the container is damaged",
    "A field of the fat binary or bundle holds a value that its format does not allow, such as"
    " an entry that overlaps the next one.",
)
BAD_COMPRESSION = Kind(
    "FC0403",
    "a compressed image cannot be decompressed",
    "The compressed bytes of an image are damaged, or they give another size than the one that"
    " the entry states.",
)
TOO_LARGE = Kind(
    "FC0404",
    "a size is beyond what fatcrate accepts",
    "A compressed image claims more bytes than its compression can give, or more than the limit"
    " for one image. Such files are made to exhaust memory.",
)
BAD_ELF = Kind(
    "FC0405",
    "not a well-formed ELF file",
    "A header, section or symbol table of an ELF file is damaged: an offset, size or count lies"
    " outside of the file.",
)
BAD_CUBIN = Kind(
    "FC0406",
    "not a cubin that fatcrate can read",
    "The file is an ELF file for NVIDIA GPUs, but a part of it does not follow the layout that"
    " CUDA 12 and 13 write.",
)
BAD_PTX = Kind(
    "FC0407",
    "not PTX text that fatcrate can read",
    "PTX starts with `.version` and `.target`; every `.entry` has a parameter list in"
    " parentheses and a body in braces.",
)
UNSUPPORTED = Kind(
    "FC0408",
    "a format that fatcrate does not handle",
    "The file is well known but not supported: for host objects only 64-bit little-endian ELF"
    " is read and written (neither COFF nor Mach-O).",
)
USAGE = Kind(
    "FC0409",
    "wrong use of a command",
    "See `fatcrate COMMAND --help` for the arguments and examples.",
    EXIT_USAGE,
)
BAD_ARCHIVE = Kind(
    "FC0410",
    "the archive is damaged",
    "A member header of an `ar` archive, or the directory of a wheel, is damaged.",
)
BAD_IMAGE = Kind(
    "FC0418",
    "an image of the file cannot be read",
    "The container is sound, but an image in it is damaged or of a form that fatcrate does not"
    " know. The other images are listed all the same.",
)
EMPTY_CONTAINER = Kind(
    "FC0419",
    "a container has lost all its images",
    "None of the kept architectures had an image in this container; its kernels cannot be"
    " loaded any more on any device.",
    severity="warning",
)
NOT_THERE = Kind(
    "FC0420",
    "an architecture to keep is not in the file",
    "`strip --keep` names an architecture for which no image of the file is. The others are kept.",
    severity="warning",
)
MISSING_ARCH = Kind(
    "FC0411",
    "a required architecture is not in the file",
    "`inspect --require` lists the architectures that a file must have an image for; each one"
    " that is missing is reported.",
)
NO_IMAGE = Kind(
    "FC0412",
    "no image in the file runs on this device",
    "See `fatcrate select FILE` for the table of all devices, and add an image: a cubin for the"
    " device's family or PTX of its compute capability or an older one.",
)
SIGNED_WHEEL = Kind(
    "FC0413",
    "the wheel is signed",
    "Changing a signed wheel would break its signature (RECORD.jws or RECORD.p7s), so it is"
    " refused. Prune the wheel before it is signed.",
)
NOTHING_LEFT = Kind(
    "FC0414",
    "no image would be left",
    "The filters given would remove every image of the file.",
)
OBJECT_TOO_LARGE = Kind(
    "FC0415",
    "the fat binary is too large for this kind of host object",
    "Code in the small memory model reaches 2 GiB; a larger section breaks the link.",
)
TOOL_MISSING = Kind(
    "FC0416",
    "a tool that this option needs is missing",
    "Disassembly is made by nvdisasm, which comes with the CUDA toolkit or the package"
    " nvidia-cuda-nvdisasm.",
    EXIT_ENVIRONMENT,
)
BAD_SYMBOL = Kind(
    "FC0417",
    "not a usable symbol name",
    "The symbol starts names in C, C++ and Rust: letters, digits and underscores, not starting"
    " with a digit.",
    EXIT_USAGE,
)

LOST_KERNEL = Kind(
    "FC0501",
    "a kernel of the manifest is not in an image",
    "LINK promised the kernel, but this arch's image has no entry point of that name: code"
    " generation or assembly dropped it, or the image comes from another build.",
)
EXTRA_KERNEL = Kind(
    "FC0502",
    "an image has a kernel that the manifest does not name",
    "The image and the manifest come from different builds, or a step exported a function that"
    " LINK had made internal.",
)
PARAMETER_MISMATCH = Kind(
    "FC0503",
    "a kernel's parameters in an image differ from the manifest",
    "A host that follows the manifest would pass the arguments at wrong places. The image comes"
    " from another build, or a compiler lowered the signature in another way than LINK recorded.",
)
WRONG_IMAGE = Kind(
    "FC0504",
    "an image is not what its name says",
    "The command was told one arch or kind, and the file holds another.",
)
BAD_REPORT = Kind(
    "FC0505",
    "a step's report cannot be read",
    "The link and assemble reports are JSON objects written by the same build.",
)
LAUNCH_MISMATCH = Kind(
    "FC0506",
    "a kernel's launch bounds in an image differ from the manifest",
    "The largest block or the cluster shape that the image was compiled for is not the one that"
    " the source states; a launch that the source allows could fail.",
)
LOST_STATIC = Kind(
    "FC0507",
    "a device static of the manifest is not in an image",
    "The host looks up the static by name; the image has none of that name and size.",
)

ALL: tuple[Kind, ...] = (
    NOT_RECOGNISED,
    TRUNCATED,
    MALFORMED,
    BAD_COMPRESSION,
    TOO_LARGE,
    BAD_ELF,
    BAD_CUBIN,
    BAD_PTX,
    UNSUPPORTED,
    USAGE,
    BAD_ARCHIVE,
    BAD_IMAGE,
    MISSING_ARCH,
    NO_IMAGE,
    SIGNED_WHEEL,
    NOTHING_LEFT,
    OBJECT_TOO_LARGE,
    TOOL_MISSING,
    BAD_SYMBOL,
    LOST_KERNEL,
    EXTRA_KERNEL,
    PARAMETER_MISMATCH,
    WRONG_IMAGE,
    BAD_REPORT,
    LAUNCH_MISMATCH,
    LOST_STATIC,
    EMPTY_CONTAINER,
    NOT_THERE,
    *checks.KINDS,
)
