"""The toolchain that the rules resolve: tools, and what each step declares as its inputs."""

GpuToolchainInfo = provider(
    doc = "The GPU toolchain of one execution platform: field `gpu` of the toolchain.",
    fields = {
        "cubin_archs": "list of string: archs (`sm_…`) that LLVM and ptxas both build, ordered by number",
        "ptx_archs": "list of string: archs (`sm_…`) that LLVM builds as PTX",
        "libllvm": "File: the LLVM that rustc loads, for `engine = \"libllvm\"`; or None",
        "nvlink": "File: NVIDIA's linker, for `relocatable`; or None",
        "prebuilt": "list of (crate name, File): a prebuilt sysroot; empty where one is built from source",
        "python": "File: the interpreter of the steps",
        "sysroot_tools": "struct like `tools`, for the step sysroot: its identity leaves out what does not concern that",
        "step_inputs": "dict from the name of a step to the depset of Files that it needs beside its own inputs",
        "tools": "struct of paths, as `recipe.bzl` takes it",
    },
)

_SYSROOT_CRATES = ["core", "compiler_builtins", "alloc"]

def _prebuilt_crates(files):
    """(crate name, rlib) for each sysroot crate among `lib<crate>-<hash>.rlib`, in link order."""
    found = []
    for crate in _SYSROOT_CRATES:
        for file in files:
            if file.basename.startswith("lib" + crate + "-") and file.extension == "rlib":
                found.append((crate, file))
    return found

def _folder(path):
    return path.rpartition("/")[0]

def _tools(ctx, identity):
    """The paths, all relative to the execution root."""
    machine = _folder(_folder(ctx.file.python.path))
    return struct(
        # Isolated, without site-packages, leaving no files behind.
        step = [
            ctx.file.python.path,
            "-I",
            "-S",
            "-B",
            ctx.file._launcher.path,
            machine + "/packages",
        ],
        rustc = ctx.file.rustc.path,
        host_linker = ctx.file.host_linker.path,
        ptxas = ctx.file.ptxas.path,
        libdevice = ctx.file.libdevice.path,
        libllvm = ctx.file.libllvm.path if ctx.file.libllvm else "",
        nvlink = ctx.file.nvlink.path if ctx.file.nvlink else "",
        rust_src = machine + "/rust_src" if ctx.files.rust_src else "",
        identity = identity.path,
    )

def _inputs(base, *attributes):
    return depset(base, transitive = [attribute[DefaultInfo].files for attribute in attributes])

def _gpu_toolchain_impl(ctx):
    base = [ctx.file.python, ctx.file._launcher]
    lto = _inputs(base + [ctx.file.identity], ctx.attr._lto_sources, ctx.attr.packages_lto)
    fatbin = _inputs(base, ctx.attr._fatbin_sources, ctx.attr.packages_fatbin)
    info = GpuToolchainInfo(
        cubin_archs = ctx.attr.cubin_archs,
        libllvm = ctx.file.libllvm,
        nvlink = ctx.file.nvlink,
        ptx_archs = ctx.attr.ptx_archs,
        prebuilt = _prebuilt_crates(ctx.files.prebuilt),
        python = ctx.file.python,
        step_inputs = {
            "abi-check": fatbin,
            "assemble": _inputs(base + [ctx.file.identity, ctx.file.ptxas], ctx.attr._lto_sources),
            "build-script": _inputs(base, ctx.attr._compile_sources, ctx.attr.rustc_files),
            "codegen": lto,
            "compile": _inputs(base, ctx.attr._compile_sources, ctx.attr.rustc_files),
            "embed": fatbin,
            "link": depset([ctx.file.libdevice], transitive = [lto]),
            "merge-manifests": lto,
            "merge-reports": fatbin,
            "nvlink": depset([ctx.file.nvlink] if ctx.file.nvlink else [], transitive = [lto]),
            "pack": fatbin,
            "partition": lto,
            "sysroot": _inputs(base + [ctx.file.rust_identity], ctx.attr._sysroot_sources, ctx.attr.rustc_files, ctx.attr.rust_src),
        },
        sysroot_tools = _tools(ctx, ctx.file.rust_identity),
        tools = _tools(ctx, ctx.file.identity),
    )
    return [platform_common.ToolchainInfo(gpu = info)]

def _tool(doc):
    return attr.label(doc = doc, allow_single_file = True, mandatory = True, cfg = "exec")

def _optional(doc):
    return attr.label(doc = doc, allow_single_file = True, cfg = "exec")

def _files(doc):
    return attr.label(doc = doc, allow_files = True, mandatory = True, cfg = "exec")

def _own(target):
    return attr.label(default = Label(target), allow_files = True, cfg = "exec")

gpu_toolchain = rule(
    implementation = _gpu_toolchain_impl,
    doc = "A GPU toolchain. `@fatcrate_tools` holds the one of this machine; write your own to pin tools otherwise.",
    attrs = {
        "cubin_archs": attr.string_list(
            doc = "Archs (`sm_…`) that both LLVM and ptxas build, ordered by number.",
            mandatory = True,
        ),
        "host_linker": _tool("C compiler that links proc-macro crates."),
        "identity": _tool("`toolchain.json`: versions and digests of the tools, no paths."),
        "libdevice": _tool("`libdevice.10.bc`."),
        "libllvm": _optional("The LLVM that rustc itself loads, for `engine = \"libllvm\"`."),
        "nvlink": _optional("NVIDIA's linker of the same release as ptxas, for `relocatable`."),
        "packages_fatbin": _files("Python packages of the steps abi-check, pack and embed, in a folder `packages` beside the interpreter's."),
        "packages_lto": _files("Python packages of the steps link and codegen, likewise."),
        "prebuilt": _files("The rlibs of a prebuilt nvptx target; none where `rust_src` is given."),
        "ptx_archs": attr.string_list(
            doc = "Archs (`sm_…`) that LLVM builds, ordered by number.",
            mandatory = True,
        ),
        "ptxas": _tool("ptxas."),
        "python": _tool("Interpreter of the steps, in a folder beside `packages`."),
        "rust_identity": _tool("The same without what does not concern the sysroot."),
        "rust_src": _files("Sources of the standard library, in a folder `rust_src` beside the interpreter's."),
        "rustc": _tool("rustc."),
        "rustc_files": _files("What rustc needs beside itself, the host linker included."),
        "_compile_sources": _own("//rules:compile_sources"),
        "_fatbin_sources": _own("//fatbin:sources"),
        "_launcher": attr.label(default = Label("//rules:step.py"), allow_single_file = True, cfg = "exec"),
        "_lto_sources": _own("//lto:sources"),
        "_sysroot_sources": _own("//rules:sysroot_sources"),
    },
    provides = [platform_common.ToolchainInfo],
)
