"""Kinds of fault that the CPU runner reports (FC06xx)."""

from __future__ import annotations

from fatcrate.toolchain.diagnostics import EXIT_ENVIRONMENT, EXIT_USAGE, Kind

BAD_LAUNCH = Kind(
    "FC0601",
    "a launch that no GPU would accept",
    "A grid has 1 to 2147483647 blocks in x and up to 65535 in y and z; a block has up to 1024"
    " threads, at most 64 of them in z; a block has at most 227 KiB of dynamic shared memory.",
)
UNKNOWN_KERNEL = Kind(
    "FC0602",
    "a kernel that is not there",
    "The linked module exports no kernel of that name.",
)
BAD_ARGUMENT = Kind(
    "FC0603",
    "an argument that does not fit its parameter",
    "A kernel gets one argument for each machine parameter, in order: a number for a scalar,"
    " an array for a pointer. Slices are two parameters: pointer and length.",
)
TRAPPED = Kind(
    "FC0604",
    "a thread trapped",
    "The thread panicked (an index out of bounds, an overflow, an `unwrap` on `None`, …) or"
    " called `gpu::trap()`. On a GPU this ends the whole launch; the CPU runner ends the one"
    " thread and goes on, so that all such threads can be reported.",
)
DIVERGED = Kind(
    "FC0605",
    "a barrier that not all threads of the block reach",
    "`gpu::barrier()` must be reached by every thread of the block, at the same place. If some"
    " threads return early, or wait at another barrier, a GPU may hang or go on with data that"
    " is not there yet. `--divergence allow` runs on as recent NVIDIA hardware would: threads"
    " that have ended count as arrived, and all barriers are one.",
)
OUT_OF_BOUNDS = Kind(
    "FC0606",
    "a write out of bounds",
    "The kernel changed bytes before or behind a buffer or a piece of shared memory. The runner"
    " surrounds each with a guard band and looks at it after the run.",
)
CRASHED = Kind(
    "FC0607",
    "the kernel crashed",
    "The process that ran the kernel was ended by a signal. The usual reason is an access far"
    " out of bounds, a null or dangling pointer, or recursion deeper than the thread's stack.",
)
TIMED_OUT = Kind(
    "FC0608",
    "the kernel did not finish in time",
    "The kernel ran longer than the time limit (`--timeout`). Threads take turns only at"
    " barriers, so that a loop that waits for another thread's write never ends.",
)
UNSUPPORTED = Kind(
    "FC0609",
    "code that the CPU cannot run",
    "The kernel reaches inline assembly, an intrinsic or a function that only the GPU has."
    " Guard it with `gpu::has(...)`, which is false on the CPU, or use the device library.",
)
NOT_RUNNABLE = Kind(
    "FC0610",
    "a module that cannot be prepared for the CPU",
    "LLVM could not read the linked module or generate code for the host from it.",
)
NO_HOST = Kind(
    "FC0611",
    "a host that the CPU runner does not know",
    "Kernels run on Linux on x86_64 and aarch64.",
    EXIT_ENVIRONMENT,
)
MISMATCH = Kind(
    "FC0612",
    "module and manifest disagree",
    "The manifest describes a kernel otherwise than the module defines it; they come from"
    " different links.",
)
NOT_BUILT = Kind(
    "FC0613",
    "a target that has not been built",
    "With `--no-build`, or in a folder without a project file, `fatcrate run` reads the linked"
    " module and the manifest that a build left in the output folder.",
)
BAD_SPEC = Kind(
    "FC0614",
    "an option of `fatcrate run` that does not fit",
    "Sizes are X, X,Y or X,Y,Z. Arguments are numbers, null, in:FILE, inout:FILE,"
    " out:FILE:DTYPE:SHAPE or zeros:DTYPE:SHAPE[:FILE].",
    EXIT_USAGE,
)
BAD_ARRAY = Kind(
    "FC0615",
    "not an array file",
    "Arrays are read from NumPy's .npy files, without pickled objects.",
)

NO_HEAP = Kind(
    "FC0616",
    "the device's heap has too little memory",
    "A thread trapped after an allocation (`Box`, `Vec`, `malloc`) that the heap could not serve."
    " The heap of a GPU has 8 MiB unless the host program sets another limit, for all threads"
    " together; the CPU runner's has the same, or what `--heap-bytes` says. Each allocation costs"
    " 16 bytes more than it asks for. What is not freed stays in use in later launches.",
)

ALL: tuple[Kind, ...] = (
    BAD_LAUNCH,
    UNKNOWN_KERNEL,
    BAD_ARGUMENT,
    TRAPPED,
    DIVERGED,
    OUT_OF_BOUNDS,
    CRASHED,
    TIMED_OUT,
    UNSUPPORTED,
    NOT_RUNNABLE,
    NO_HOST,
    MISMATCH,
    NOT_BUILT,
    BAD_SPEC,
    BAD_ARRAY,
    NO_HEAP,
)
