"""Attributes of `gpu_kernels` that choose how code is linked and generated.

Each has the name of the argument of the recipe's functions that it becomes.
"""

CODE_ATTRS = {
    "contract": attr.string(
        doc = "`on` fuses multiplications with additions; Rust promises not to.",
        default = "off",
        values = ["off", "on"],
    ),
    "debug": attr.string(
        doc = "Debug information that is kept of what the crates have: `none`, source lines, or all, with which ptxas does not optimise.",
        default = "line",
        values = ["none", "line", "full"],
    ),
    "div": attr.string(
        doc = "Division of `f32`: correctly rounded, within 2 ulp, or approximate.",
        default = "ieee",
        values = ["ieee", "full", "approx"],
    ),
    "engine": attr.string(
        doc = "The LLVM that links and generates code: the Python package's, or rustc's own, which is faster.",
        default = "llvmlite",
        values = ["llvmlite", "libllvm"],
    ),
    "ftz": attr.bool(
        doc = "Flush subnormal `f32` to zero.",
    ),
    "inline_threshold": attr.string(
        doc = "LLVM's inlining threshold, a number.",
    ),
    "llvm_options": attr.string_list(
        doc = "Options of LLVM itself, such as `-unroll-threshold=100`.",
    ),
    "map": attr.bool(
        doc = "Write `NAME/link.map`: what the module holds, by crate.",
    ),
    "min_driver": attr.string(
        doc = "A driver branch, such as `535`: the newest PTX that it loads is written. By default the oldest PTX that has the arch.",
    ),
    "opt_level": attr.string(
        doc = "Optimisation level of code generation.",
        default = "3",
        values = ["0", "1", "2", "3", "s", "z"],
    ),
    "print_gc": attr.bool(
        doc = "Print each definition that the linker drops.",
    ),
    "remarks": attr.bool(
        doc = "Write `NAME/ARCH.remarks.yaml`: what LLVM says of inlining, unrolling and loops.",
    ),
    "sqrt": attr.string(
        doc = "Square root of `f32`: correctly rounded, or approximate.",
        default = "ieee",
        values = ["ieee", "approx"],
    ),
    "time_trace": attr.bool(
        doc = "Write `NAME/ARCH.trace.json`: where LLVM spends its time, for chrome://tracing.",
    ),
    "trace_symbol": attr.string_list(
        doc = "Symbols for which the linker prints who defines and who uses them.",
    ),
    "undefined": attr.string_list(
        doc = "Symbols to keep though nothing refers to them.",
    ),
    "unroll": attr.bool(
        doc = "Unroll loops.",
        default = True,
    ),
    "vectorize": attr.bool(
        doc = "Vectorise memory accesses.",
        default = True,
    ),
    "why": attr.string_list(
        doc = "Symbols for which the linker prints the chain of references that keeps them.",
    ),
}
