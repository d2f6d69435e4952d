"""Providers of the rules, for rules of yours that use their targets."""

GpuCrateInfo = provider(
    doc = "A Rust crate that device code is made of, or a procedural macro for such crates.",
    fields = {
        "crate_name": "string: its name in Rust",
        "crates": "depset of struct(name, rlib), dependencies first: this crate and all that it depends on, compiled for the GPU; empty where `rlib` is None",
        "extern_files": "depset of File: what rustc reads when it compiles a crate for the GPU that depends on this one",
        "host_extern_files": "depset of File: the same for a crate compiled for this machine",
        "host_library": "File: the crate compiled for this machine, an rlib or a procedural macro's shared library; made only when it is used",
        "is_proc_macro": "bool: whether this is a procedural macro",
        "panic": "string: what a panic does, \"immediate-abort\" or \"abort\"; empty where `rlib` is None",
        "rlib": "File: metadata and GPU bitcode; None for a procedural macro and a library with `host_only`",
        "sysroot_crates": "list of (name, File): the standard library's crates compiled for the GPU; empty where `rlib` is None",
    },
)

GpuKernelsInfo = provider(
    doc = "Kernels, linked and packed for a list of archs.",
    fields = {
        "archs": "list of string: names of the archs, sorted (`sm_80`, `compute_90`)",
        "cubins": "dict from arch to File: machine code, for each `sm_…`; empty for `modules`",
        "fatbin": "File: all images in one container; None where partitions are modules of their own",
        "header": "File: C and C++ declarations that go with the host objects",
        "linked": "File: the linked module before it is specialised for an arch; None for partitions",
        "manifest": "File: the ABI manifest, which tells the module of each kernel",
        "modules": "dict from partition to File: its fat binary; empty where `fatbin` is set",
        "objects": "dict from host (`x86_64`, `aarch64`) to File: ELF object that holds the fatbin",
        "ptx": "dict from arch to File: PTX text, for each arch; empty for partitions",
        "report": "File: what the ABI check found, with the resources of each kernel",
        "symbol": "string: prefix of the object's symbols",
    },
)

GpuSysrootInfo = provider(
    doc = "The standard library compiled for the GPU.",
    fields = {
        "crates": "list of (name, File), in link order",
        "directory": "string: path for `rustc --sysroot`; empty where rustc brings the libraries itself",
        "panic": "string: what a panic does, \"immediate-abort\" or \"abort\"",
    },
)

GpuBuildScriptInfo = provider(
    doc = "What the build script of a Cargo package made. Made by `gpu_rust_build_script`.",
    fields = {
        "device": "File: folder of its results for crates for the GPU",
        "host": "File: folder of its results for crates for this machine",
        "links": "string: the manifest's `links` key, or empty",
    },
)
