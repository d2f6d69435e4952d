"""The one recipe: argv of every step, from step parameters.

Pure functions in the common subset of Python and Starlark: no `lambda`, no `load`, no
f-strings, no `set`; only `struct` and `fail` are supplied. Bazel loads this file; the Ninja
generator executes it (`rules/recipe.py`). Paths are strings, relative to the execution root
wherever the file lies below it.

`tools` is a struct with:
  step:      list of strings, the argv prefix that starts a fatcrate step
  rustc:     path of rustc
  host_linker: path of the C compiler that links proc-macro crates
  ptxas:     path of ptxas
  libdevice: path of libdevice.10.bc
  rust_src:  path of the standard library's sources (the folder that holds `core`)
  identity:  path of toolchain.json (versions and digests, no paths); an input of each step
"""

NVPTX_TRIPLE = "nvptx64-nvidia-cuda"

def _flag_each(flag, values):
    """[flag, v] for each value."""
    argv = []
    for value in values:
        argv.append(flag)
        argv.append(value)
    return argv

def sysroot_outputs(directory):
    """Paths of the sysroot's rlibs below `directory`, in link order."""
    lib = directory + "/lib/rustlib/" + NVPTX_TRIPLE + "/lib/lib"
    return [lib + crate + ".rlib" for crate in ["core", "compiler_builtins", "alloc"]]

def sysroot_argv(tools, directory, panic):
    """SYSROOT: `core`, `compiler_builtins` and `alloc` from source into `directory`."""
    return tools.step + [
        "sysroot",
        "--rustc",
        tools.rustc,
        "--src",
        tools.rust_src,
        "--toolchain",
        tools.identity,
        "--panic",
        panic,
        "--output",
        directory,
    ]

def crate_codegen_flags(opt_level, debug, panic):
    """rustc flags that decide the code of a device crate."""
    return [
        "-Copt-level=" + str(opt_level),
        "-Clinker-plugin-lto",
        "-Ccodegen-units=1",
        "-Zunstable-options",
        "-Cpanic=" + panic,
        "-Zremap-cwd-prefix=.",
        "-Cdebuginfo=" + str(debug),
    ]

def crate_argv(
        tools,
        name,
        source,
        output,
        depfile,
        metadata,
        edition = "2021",
        sysroot = "",
        panic = "immediate-abort",
        opt_level = 3,
        debug = 0,
        deps = [],
        dep_dirs = [],
        features = [],
        cfgs = [],
        proc_macro = False,
        remaps = [],
        rustc_flags = []):
    """CRATE: one crate to an rlib of metadata and bitcode, or a host proc-macro library.

    deps: list of (extern name, path of rlib or proc-macro library), direct ones.
    dep_dirs: folders that hold the rlibs of all transitive dependencies.
    metadata: makes the crate's symbols unique; the same string gives the same symbols.
    remaps: list of (path prefix, replacement).
    """
    argv = tools.step + [
        "compile",
        "--output",
        output,
        "--depfile",
        depfile,
        "--",
        tools.rustc,
        "--crate-name",
        name,
        "--edition",
        str(edition),
        "-Cmetadata=" + metadata,
    ]
    if proc_macro:
        argv += ["--crate-type", "proc-macro", "-Clinker=" + tools.host_linker, "-Copt-level=1", "-Zremap-cwd-prefix=."]
        argv += ["--extern", "proc_macro"]
    else:
        argv += ["--crate-type", "rlib", "--target", NVPTX_TRIPLE, "--sysroot", sysroot]
        argv += crate_codegen_flags(opt_level, debug, panic)
    argv += ["--remap-path-prefix=" + old + "=" + new for old, new in remaps]
    for extern, path in deps:
        argv += ["--extern", extern + "=" + path]
    argv += ["-Ldependency=" + directory for directory in dep_dirs]
    for feature in features:
        argv += ["--cfg", "feature=\"" + feature + "\""]
    argv += _flag_each("--cfg", cfgs)
    return argv + rustc_flags + [source]

def link_argv(
        tools,
        name,
        crates,
        sysroot_libs,
        output,
        manifest,
        report,
        exports = [],
        options = []):
    """LINK: all crates of a target to one module whose arch queries are still open.

    crates: list of (crate name, rlib path): the whole transitive closure, dependencies
    first. sysroot_libs: list of (crate name, rlib path), used as needed.
    """
    argv = tools.step + [
        "link",
        "--name",
        name,
        "--toolchain",
        tools.identity,
        "--libdevice",
        tools.libdevice,
        "--output",
        output,
        "--manifest",
        manifest,
        "--report",
        report,
    ]
    argv += _flag_each("--crate", [crate + "=" + path for crate, path in crates])
    argv += _flag_each("--sysroot-crate", [crate + "=" + path for crate, path in sysroot_libs])
    argv += _flag_each("--export", exports)
    return argv + options

def codegen_argv(tools, arch, linked, manifest, output, opt_level = 3, options = []):
    """CODEGEN: the linked module for one arch, to PTX text."""
    return tools.step + [
        "codegen",
        "--arch",
        arch,
        "--opt-level",
        str(opt_level),
        "--toolchain",
        tools.identity,
        "--manifest",
        manifest,
        "--output",
        output,
    ] + options + [linked]

def assemble_argv(tools, arch, ptx, output, report, options = []):
    """ASSEMBLE: PTX to a cubin and its resource report. options: ptxas options."""
    return tools.step + [
        "assemble",
        "--arch",
        arch,
        "--ptxas",
        tools.ptxas,
        "--toolchain",
        tools.identity,
        "--output",
        output,
        "--report",
        report,
    ] + _flag_each("--ptxas-option", options) + [ptx]

def abi_check_argv(tools, manifest, link_report, images, assemble_reports, report):
    """ABICHECK: every image against the manifest; writes the target's report when all agree.

    images: list of (arch, path of PTX or cubin). assemble_reports: list of (arch, path).
    """
    argv = tools.step + [
        "abi-check",
        "--manifest",
        manifest,
        "--link-report",
        link_report,
        "--report",
        report,
    ]
    argv += _flag_each("--assemble-report", [arch + "=" + path for arch, path in assemble_reports])
    return argv + [arch + "=" + path for arch, path in images]

def pack_argv(tools, images, output, compress = "balanced", options = []):
    """PACK: images to one fatbin. images: list of (arch, path)."""
    return tools.step + ["pack", "-o", output, "--compress", compress] + options + [arch + "=" + path for arch, path in images]

def embed_argv(tools, fatbin, output, host, symbol, options = []):
    """EMBED: a fatbin to a host ELF object."""
    return tools.step + ["embed", fatbin, "-o", output, "--host", host, "--symbol", symbol] + options

def bindings_argv(tools, fatbin, manifest, symbol, header, options = []):
    """EMBED: the C/C++ header that goes with the host objects."""
    return tools.step + ["embed", fatbin, "--manifest", manifest, "--symbol", symbol, "--header", header] + options
