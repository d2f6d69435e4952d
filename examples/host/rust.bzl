"""`rust_program`: a small Rust program that links host objects of kernels.

For these examples, which must build without a network; a project of yours uses rules_rust,
whose `rust_binary` takes kernels in its `deps` too.
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _libraries(ctx):
    """The archives of `deps`."""
    found = []
    for dep in ctx.attr.deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            found += [
                library.pic_static_library or library.static_library
                for library in linker_input.libraries
            ]
    return found

def _rust_program_impl(ctx):
    gpu = ctx.toolchains["//toolchain:toolchain_type"].gpu
    program = ctx.actions.declare_file(ctx.label.name)
    libraries = _libraries(ctx)
    argv = gpu.tools.step + [
        "compile",
        "--output",
        program.path,
        "--",
        gpu.tools.rustc,
        "--crate-name",
        ctx.label.name,
        "--edition=2024",
        "-Copt-level=2",
        "-Zremap-cwd-prefix=.",
        "-Clinker=" + gpu.tools.host_linker,
    ] + ["-Clink-arg=" + library.path for library in libraries] + [ctx.file.main.path]
    ctx.actions.run(
        executable = gpu.python,
        arguments = argv[1:],
        inputs = depset(ctx.files.srcs + [ctx.file.main] + libraries, transitive = [gpu.step_inputs["compile"]]),
        outputs = [program],
        mnemonic = "RustProgram",
        progress_message = "Compiling %s" % ctx.label,
    )
    return [DefaultInfo(executable = program, files = depset([program]))]

rust_program = rule(
    implementation = _rust_program_impl,
    doc = "A Rust program for this machine.",
    attrs = {
        "deps": attr.label_list(
            doc = "Kernels and C++ libraries to link.",
            providers = [CcInfo],
        ),
        "main": attr.label(
            doc = "Root source.",
            allow_single_file = [".rs"],
            mandatory = True,
        ),
        "srcs": attr.label_list(
            doc = "Other sources.",
            allow_files = [".rs"],
        ),
    },
    executable = True,
    toolchains = ["//toolchain:toolchain_type"],
)
