"""Kinds of fault that the rules package reports (FC01xx)."""

from __future__ import annotations

from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_USAGE, Kind

USAGE = Kind(
    "FC0101",
    "the command line is wrong",
    "An option is unknown, lacks its value or contradicts another. `fatcrate COMMAND --help`"
    " lists what the command takes.",
    EXIT_USAGE,
)
COMPILER_CRASH = Kind(
    "FC0102",
    "rustc ended abnormally",
    "rustc was killed by a signal or met an internal error. Killed by signal 9, the machine"
    " mostly ran out of memory: build with fewer jobs (`-j 1`). An internal error of rustc is"
    " a bug there; its message says how to report it.",
    EXIT_ENVIRONMENT,
)
DISK = Kind(
    "FC0103",
    "a tool could not write its output",
    "The disk is full, or a quota or a limit on the size of files was reached while a tool"
    " wrote its output. No output was touched; the partial file is gone.",
    EXIT_ENVIRONMENT,
)
UNTRACKABLE_FILE = Kind(
    "FC0104",
    "a source file's name cannot be tracked",
    "Ninja reads the list of source files from a dependency file, whose format has no way to"
    " write control characters or any of * ; < > ^ ` | \\ in a file name, nor a colon at its"
    " end. Edits of such a file would go unnoticed, so it is refused.",
)
NO_TOOL = Kind(
    "FC0105",
    "a program is not there",
    "A program that a step runs was not found or may not be executed. `fatcrate doctor` lists"
    " the tools, where they come from and how to get them.",
    EXIT_ENVIRONMENT,
)
SYSROOT_BUILD = Kind(
    "FC0106",
    "the standard library's sources do not compile",
    "`core`, `compiler_builtins` or `alloc` did not compile for the GPU target. The sources"
    " must be those of the very rustc that compiles them.",
    EXIT_ENVIRONMENT,
)

NOT_YAML = Kind(
    "FC0110",
    "the project file is not YAML",
    "The file breaks the rules of YAML: a bracket is not closed, a line is indented wrongly,"
    " a tab stands where spaces must.",
)
UNKNOWN_KEY = Kind(
    "FC0111",
    "the project file has a key that is not known",
    "A key of the project file is misspelt or stands in the wrong place.",
)
BAD_VALUE = Kind(
    "FC0112",
    "a value in the project file is wrong",
    "A value has the wrong type or is not one of the choices.",
)
MISSING_KEY = Kind(
    "FC0113",
    "the project file lacks a key",
    "A key that has no default is not there.",
)
DUPLICATE_KEY = Kind(
    "FC0114",
    "the project file gives a key twice",
    "YAML keeps one of two equal keys and says nothing; here that is an error.",
)
UNKNOWN_CRATE = Kind(
    "FC0115",
    "a crate is named that is not declared",
    "`deps` and a target's `crates` name crates that stand under `crates:` in the project"
    " file, or `gpu`, the device library, which is always there.",
)
CYCLE = Kind(
    "FC0116",
    "crates depend on each other in a circle",
    "A crate cannot depend on itself, through whatever others. Move what both need into a"
    " third crate.",
)
NO_SOURCE = Kind(
    "FC0117",
    "a crate's source is not there",
    "`path` is a Rust file, or a folder with src/lib.rs or lib.rs, relative to the folder of"
    " the project file.",
)
NO_PROJECT = Kind(
    "FC0118",
    "there is no project file",
    "`fatcrate build` reads fatcrate.yaml in the folder that it is run in, or in that which"
    " `-C` names.",
)
BAD_NAME = Kind(
    "FC0119",
    "a name cannot be used",
    "A crate's key is made of ASCII letters, digits and `_.@+-`, a letter, a digit or `_` first; a"
    " target's name of letters, digits, `_` and `-`, a letter or `_` first. Both become names of"
    " files and have at most 200 characters; `crates`, `crates-abort` and `crates-host` are folders"
    " of the build. A crate's name in Rust and a `symbol` are made of letters, digits and `_`, no"
    " digit first, and a crate's name is none of Rust's own, such as `core`.",
)
UNKNOWN_TARGET = Kind(
    "FC0120",
    "there is no such target",
    "A target is the name of an entry of `kernels:`, of a crate, or an output file relative"
    " to the output folder.",
    EXIT_USAGE,
)
WRONG_CRATE_KIND = Kind(
    "FC0121",
    "a crate cannot be used in this place",
    "A proc-macro crate runs in the compiler on this machine and holds no device code; what"
    " it depends on runs there too.",
)
BAD_OUTPUT_FOLDER = Kind(
    "FC0122",
    "the output folder cannot be used",
    "The output folder is one of its own: it is not the project's folder nor that of a crate's"
    " sources, and its path has no line break, which Ninja's files and depfiles have no way to"
    " write.",
    EXIT_USAGE,
)
NO_NINJA = Kind(
    "FC0123",
    "Ninja is not there",
    "`fatcrate build` runs Ninja. The Python package `ninja` brings it; a `ninja` in PATH"
    " is taken otherwise.",
    EXIT_ENVIRONMENT,
)
NINJA_FAILED = Kind(
    "FC0124",
    "Ninja itself failed",
    "Ninja ended without telling of a failed step: it could not read or write its files, or"
    " ran out of memory.",
    EXIT_ENVIRONMENT,
)

NOT_EMPTY = Kind(
    "FC0125",
    "the folder for a new project is there already",
    "`fatcrate new` makes its folder itself, or takes an empty one; it never writes into a"
    " folder that holds something.",
)
NO_SUCH_KERNEL = Kind(
    "FC0126",
    "there is no such kernel in the target",
    "A kernel goes by the name that the host program looks it up by. `fatcrate inspect --kernels`"
    " lists those of a built target.",
    EXIT_USAGE,
)
NO_DISASSEMBLER = Kind(
    "FC0127",
    "the disassembler is not there",
    "Machine code is shown as text by NVIDIA's nvdisasm, which comes with the CUDA toolkit or the"
    " package nvidia-cuda-nvdisasm. Builds do not need it.",
    EXIT_ENVIRONMENT,
)
NOT_DISASSEMBLED = Kind(
    "FC0128",
    "nvdisasm refuses a cubin",
    "The disassembler does not know the architecture or the format of the cubin: it is older"
    " than the ptxas that wrote it, or the file is damaged.",
)
SYSROOT_FOLDER = Kind(
    "FC0129",
    "the folder of compiled standard libraries cannot be written",
    "`core` and `alloc` for the GPU are compiled once and kept in $XDG_CACHE_HOME/fatcrate/sysroot"
    " (~/.cache/fatcrate/sysroot), for the builds of all projects. That folder's disk is full or"
    " may not be written. Free some space, or set XDG_CACHE_HOME to another folder.",
    EXIT_ENVIRONMENT,
)

NO_BAZEL_CRATES = Kind(
    "FC0130",
    "Bazel names no crates",
    "`fatcrate rust-project --bazel` asks Bazel for the actions that compile crates for the GPU."
    " Bazel failed, or the targets have none.",
)

LARGE_FILE = Kind(
    "FC0131",
    "the project file is too large",
    "A project file describes crates and targets; the limit is four million bytes, several times"
    " what `fatcrate import` writes for a workspace of a thousand packages.",
)

ALL: tuple[Kind, ...] = (
    USAGE,
    COMPILER_CRASH,
    DISK,
    UNTRACKABLE_FILE,
    NO_TOOL,
    SYSROOT_BUILD,
    NOT_YAML,
    UNKNOWN_KEY,
    BAD_VALUE,
    MISSING_KEY,
    DUPLICATE_KEY,
    UNKNOWN_CRATE,
    CYCLE,
    NO_SOURCE,
    NO_PROJECT,
    BAD_NAME,
    UNKNOWN_TARGET,
    WRONG_CRATE_KIND,
    BAD_OUTPUT_FOLDER,
    NO_NINJA,
    NINJA_FAILED,
    NOT_EMPTY,
    NO_SUCH_KERNEL,
    NO_DISASSEMBLER,
    NOT_DISASSEMBLED,
    SYSROOT_FOLDER,
    NO_BAZEL_CRATES,
    LARGE_FILE,
)
