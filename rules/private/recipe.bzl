"""The one recipe: argv of every step, from step parameters.

Pure functions in the common subset of Python and Starlark: no `lambda`, no `load`, no
f-strings, no `set`; only `struct` and `fail` are supplied. Bazel loads this file; the Ninja
generator executes it (`rules/recipe.py`). The steps after CRATE are in `recipe_kernels.bzl`. Paths are strings, relative to the execution root
wherever the file lies below it.

`tools` is a struct with:
  step:      list of strings, the argv prefix that starts a fatcrate step
  rustc:     path of rustc
  host_linker: path of the C compiler that links proc-macro crates
  ptxas:     path of ptxas
  nvlink:    path of NVIDIA's linker, or ""
  libllvm:   path of the LLVM that rustc itself loads, or ""
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

def device_crate(directory):
    """The device library, which every crate may name in `deps`.

    Args:
      directory: path of the folder `toolchain/device` of fatcrate itself.

    Returns:
      struct(name, source, edition, origin, remaps), as `crate_argv` and `crate_metadata`
      take them.
    """
    return struct(
        name = "gpu",
        source = directory + "/gpu/src/lib.rs",
        edition = "2024",
        origin = "fatcrate/gpu",
        remaps = [(directory, "/fatcrate/device")],
    )

def crate_metadata(origin, features = [], cfgs = []):
    """What makes the symbols of a crate unique, for `-Cmetadata`.

    Args:
      origin: path of the crate's root source relative to the project root, or for a crate
        from elsewhere the name that the project gives it; never an absolute path.
      features: features it is compiled with.
      cfgs: cfgs it is compiled with.

    Returns:
      A string; equal strings give equal symbols.
    """
    return ",".join([origin] + ["feature=" + feature for feature in features] + cfgs)

# Field of a crate's `package` -> variable.
PACKAGE_FIELDS = {
    "name": "CARGO_PKG_NAME",
    "version": "CARGO_PKG_VERSION",
    "authors": "CARGO_PKG_AUTHORS",
    "description": "CARGO_PKG_DESCRIPTION",
    "homepage": "CARGO_PKG_HOMEPAGE",
    "repository": "CARGO_PKG_REPOSITORY",
    "license": "CARGO_PKG_LICENSE",
    "license_file": "CARGO_PKG_LICENSE_FILE",
    "rust_version": "CARGO_PKG_RUST_VERSION",
    "readme": "CARGO_PKG_README",
}

def package_env(package, crate):
    """The variables that describe a Cargo package, as cargo sets them for its crates.

    Args:
      package: dict with some of `PACKAGE_FIELDS`; empty for a crate of no package.
      crate: the crate's name in Rust.

    Returns:
      A dict of all variables, "" for what is not known.
    """
    if not package:
        return {}
    env = {variable: package.get(field, "") for field, variable in PACKAGE_FIELDS.items()}
    core, _, pre = package.get("version", "").partition("+")[0].partition("-")
    numbers = core.split(".") + ["", "", ""]
    env["CARGO_PKG_VERSION_MAJOR"] = numbers[0]
    env["CARGO_PKG_VERSION_MINOR"] = numbers[1]
    env["CARGO_PKG_VERSION_PATCH"] = numbers[2]
    env["CARGO_PKG_VERSION_PRE"] = pre
    env["CARGO_CRATE_NAME"] = crate
    return env

def crate_flags(kind, sysroot, opt_level, debug, panic):
    """rustc flags that decide what a crate is compiled for, and how.

    Args:
      kind: as for `crate_argv`.
      sysroot: as for `crate_argv`.
      opt_level: as for `crate_argv`.
      debug: as for `crate_argv`.
      panic: as for `crate_argv`.

    Returns:
      A list of flags.
    """
    if kind != "device":
        types = {"host": "rlib", "proc-macro": "proc-macro", "program": "bin"}
        if kind not in types:
            fail("crate kind must be device, host, proc-macro or program, not " + kind)
        return [
            "--crate-type",
            types[kind],
            "-Copt-level=0",
            "-Ccodegen-units=1",
            "-Cstrip=debuginfo",
            "-Zremap-cwd-prefix=.",
        ]
    return [
        "--crate-type",
        "rlib",
        "--target",
        NVPTX_TRIPLE,
    ] + (["--sysroot", sysroot] if sysroot else []) + [
        "-Copt-level=" + str(opt_level),
        "-Clinker-plugin-lto",
        "-Ccodegen-units=1",
        "-Zunstable-options",
        "-Cpanic=" + panic,
        "-Cdebuginfo=" + str(debug),
        "-Csymbol-mangling-version=v0",
        "-Zremap-cwd-prefix=.",
        # Correctness: this MIR pass copies a barrier into both arms of a divergent branch
        # (rust-lang/rust#137086); LLVM's passes know `convergent`, MIR's do not.
        "-Zmir-enable-passes=-JumpThreading",
        # Kernels need no ceremony, and may state the features themselves.
        "-Zcrate-attr=feature(abi_gpu_kernel,abi_ptx)",
        "-Aduplicate-features",
        "-Aunused-features",
        # rustc warns of a kernel with a mangled name, and makes no code of most of them.
        "-Dmissing-gpu-kernel-export-name",
    ]

def crate_argv(
        tools,
        name,
        source,
        output,
        metadata,
        kind = "device",
        edition = "2021",
        sysroot = "",
        panic = "immediate-abort",
        opt_level = 3,
        debug = 0,
        deps = [],
        dep_dirs = [],
        features = [],
        cfgs = [],
        env = [],
        remaps = [],
        rustc_flags = [],
        manifest_dir = "",
        build_script = "",
        options = []):
    """CRATE: one crate to an rlib of metadata and bitcode, or to a host library or program.

    Args:
      tools: see the head of this file.
      name: the crate's name in Rust (`num_traits`).
      source: path of its root source.
      output: path of the `.rlib`, of the proc macro's `.so`, or of the program.
      metadata: makes the crate's symbols unique; see `crate_metadata`.
      kind: "device"; or for this machine "proc-macro", "host" (a library that proc macros
        use) or "program", for which `sysroot`, `panic`, `opt_level` and `debug` do not count.
      edition: Rust edition.
      sysroot: folder made by SYSROOT; "" where rustc brings the target's libraries.
      panic: "immediate-abort" or "abort", as the sysroot was built.
      opt_level: 0 to 3, "s" or "z".
      debug: rustc's `debuginfo`: 0, 1, 2, "line-directives-only" and so on.
      deps: list of (extern name, path of rlib or proc-macro library), direct ones.
      dep_dirs: folders that hold the rlibs of all transitive dependencies.
      features: enabled features.
      cfgs: further `--cfg` values.
      env: list of (name, value), what `env!` sees.
      remaps: list of (path prefix, replacement) for sources outside of the project.
      rustc_flags: flags of the user.
      manifest_dir: folder of the Cargo package that the crate belongs to, or "".
      build_script: output folder of BUILD SCRIPT for the crate, or "".
      options: options of `fatcrate compile` itself, such as `--depfile`.

    Returns:
      The argv.
    """
    argv = tools.step + ["compile", "--output", output] + options
    argv += _flag_each("--env", [key + "=" + value for key, value in env])
    argv += ["--manifest-dir", manifest_dir] if manifest_dir else []
    argv += ["--build-script", build_script] if build_script else []
    argv += ["--", tools.rustc, "--crate-name", name, "--edition", str(edition), "-Cmetadata=" + metadata]
    argv += crate_flags(kind, sysroot, opt_level, debug, panic)
    if kind in ["proc-macro", "program"]:
        argv.append("-Clinker=" + tools.host_linker)
    if kind == "proc-macro":
        argv += ["--extern", "proc_macro"]
    argv += ["--remap-path-prefix=" + old + "=" + new for old, new in remaps]
    for extern, path in deps:
        argv += ["--extern", extern + "=" + path]
    argv += ["-Ldependency=" + directory for directory in dep_dirs]
    for feature in features:
        argv += ["--cfg", "feature=\"" + feature + "\""]
    argv += _flag_each("--cfg", cfgs)
    return argv + rustc_flags + [source]

def build_script_argv(
        tools,
        program,
        manifest_dir,
        output,
        kind = "device",
        sysroot = "",
        env = [],
        features = [],
        links = "",
        deps = [],
        opt_level = 3,
        debug = 0,
        options = []):
    """BUILD SCRIPT: one run of the build script of a Cargo package.

    Args:
      tools: see the head of this file.
      program: path of the compiled script, a crate of kind "program".
      manifest_dir: the package's folder.
      output: folder for its results, which `crate_argv` takes as `build_script`.
      kind: kind of the crate that the script belongs to.
      sysroot: as for `crate_argv`, for a device crate.
      env: list of (name, value): the package's CARGO_PKG variables, and the user's.
      features: enabled features.
      links: the manifest's `links` key, or "".
      deps: list of (links, output folder) of direct dependencies that have both.
      opt_level: as for `crate_argv`.
      debug: as for `crate_argv`.
      options: options of `fatcrate build-script` itself, such as `--depfile`.

    Returns:
      The argv.
    """
    argv = tools.step + [
        "build-script",
        "--program",
        program,
        "--manifest-dir",
        manifest_dir,
        "--rustc",
        tools.rustc,
        "--opt-level",
        str(opt_level),
        "--debug",
        str(debug),
        "--output",
        output,
    ]
    if kind == "device":
        argv += ["--target", NVPTX_TRIPLE]
        argv += ["--sysroot", sysroot] if sysroot else []
    argv += _flag_each("--package-env", [key + "=" + value for key, value in env])
    argv += _flag_each("--feature", features)
    argv += ["--links", links] if links else []
    argv += _flag_each("--dep", [name + "=" + path for name, path in deps])
    return argv + options
