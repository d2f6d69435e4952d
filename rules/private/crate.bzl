"""What the crate rules share: attributes, and the actions that compile one crate."""

load("//rules:providers.bzl", "GpuBuildScriptInfo", "GpuCrateInfo", "GpuSysrootInfo")
load(":recipe.bzl", "crate_argv", "crate_metadata", "package_env")
load(":sources.bzl", "crate_name", "crate_sources")
load(":steps.bzl", "gpu_toolchain", "run_step")

CRATE_ATTRS = {
    "aliases": attr.label_keyed_string_dict(
        doc = "Names under which this crate knows its dependencies, where they differ from the crates' own.",
        providers = [GpuCrateInfo],
    ),
    "build_script": attr.label(
        doc = "Build script of the crate's Cargo package (`gpu_rust_build_script`).",
        providers = [GpuBuildScriptInfo],
    ),
    "cfgs": attr.string_list(
        doc = "Values of rustc's `--cfg`, such as `fast_path` or `mode=\"wide\"`.",
    ),
    "compile_data": attr.label_list(
        doc = "Files that the sources read while they are compiled (`include_str!`).",
        allow_files = True,
    ),
    "crate_features": attr.string_list(
        doc = "Enabled features, as in `#[cfg(feature = \"…\")]`.",
    ),
    "crate_name": attr.string(
        doc = "Name of the crate in Rust; by default the target's, with `_` for `-`.",
    ),
    "crate_root": attr.label(
        doc = "Root source. By default the only `.rs` file of `srcs`, or `src/lib.rs`, `lib.rs`, `NAME.rs`.",
        allow_single_file = [".rs"],
    ),
    "deps": attr.label_list(
        doc = "Libraries that the crate uses (`gpu_rust_library`).",
        providers = [GpuCrateInfo],
    ),
    "edition": attr.string(
        doc = "Rust edition.",
        default = "2021",
        values = ["2015", "2018", "2021", "2024"],
    ),
    "manifest_dir": attr.string(
        doc = "Folder of the crate's Cargo package, relative to this one, for CARGO_MANIFEST_DIR; `.` for this one itself.",
    ),
    "package": attr.string_dict(
        doc = "Fields of the package's manifest that CARGO_PKG variables are made of: name, version, authors and so on.",
    ),
    "proc_macro_deps": attr.label_list(
        doc = "Procedural macros that the crate uses (`gpu_rust_proc_macro`).",
        providers = [GpuCrateInfo],
    ),
    "rustc_env": attr.string_dict(
        doc = "Environment variables that `env!` sees.",
    ),
    "rustc_flags": attr.string_list(
        doc = "Further flags of rustc.",
    ),
    "srcs": attr.label_list(
        doc = "Rust sources.",
        allow_files = [".rs"],
        mandatory = True,
        allow_empty = False,
    ),
}

def check_deps(ctx, for_gpu):
    """Stops the build when a dependency is in the wrong attribute or a name is taken twice.

    Args:
      ctx: context of a crate rule.
      for_gpu: whether the crate is compiled for the GPU.
    """
    faults = []
    for dep in ctx.attr.deps:
        if dep[GpuCrateInfo].is_proc_macro:
            faults.append("{} is a procedural macro: move it from deps to proc_macro_deps".format(dep.label))
        elif for_gpu and dep[GpuCrateInfo].rlib == None:
            faults.append("{} is for this machine only (host_only): a crate for the GPU cannot use it".format(dep.label))
    for dep in ctx.attr.proc_macro_deps:
        if not dep[GpuCrateInfo].is_proc_macro:
            faults.append("{} is a library: move it from proc_macro_deps to deps".format(dep.label))
    labels = {}
    for name, dep in _named_deps(ctx):
        if name in labels:
            faults.append("both {} and {} are called {}: give one another name with aliases".format(labels[name], dep.label, name))
        labels[name] = dep.label
    known = [dep.label for dep in ctx.attr.deps + ctx.attr.proc_macro_deps]
    for dep in ctx.attr.aliases:
        if dep.label not in known:
            faults.append("aliases names {}, which is in neither deps nor proc_macro_deps".format(dep.label))
    if faults:
        fail("\n  ".join(["{}: wrong dependencies:".format(ctx.label)] + faults))

def _named_deps(ctx):
    """(extern name, dependency) for each direct dependency."""
    names = {dep.label: name for dep, name in ctx.attr.aliases.items()}
    return [
        (names.get(dep.label, dep[GpuCrateInfo].crate_name), dep)
        for dep in ctx.attr.deps + ctx.attr.proc_macro_deps
    ]

def _folders(files):
    """The folders of the files, each once."""
    return depset([file.dirname for file in files]).to_list()

def crate_env(ctx, name):
    """What `env!` sees: the variables of the package, and those of the target.

    Args:
      ctx: context of a rule with `package` and `rustc_env`.
      name: the crate's name.

    Returns:
      A sorted list of (name, value).
    """
    return sorted(dict(package_env(ctx.attr.package, name), **ctx.attr.rustc_env).items())

def package_folder(ctx):
    """Path of the folder of the crate's Cargo package, or "".

    Args:
      ctx: context of a rule with `manifest_dir`.

    Returns:
      A path relative to the execution root.
    """
    if not ctx.attr.manifest_dir:
        return ""
    parts = [ctx.label.workspace_root, ctx.label.package]
    if ctx.attr.manifest_dir != ".":
        parts.append(ctx.attr.manifest_dir)
    return "/".join([part for part in parts if part]) or "."

def _compile(ctx, crate, kind, output, externs, extern_files, sysroot_files, message, **recipe):
    """Declares the action that makes `output`."""
    toolchain = gpu_toolchain(ctx)
    script = None
    if getattr(ctx.attr, "build_script", None):
        results = ctx.attr.build_script[GpuBuildScriptInfo]
        script = results.device if kind == "device" else results.host
    argv = crate_argv(
        toolchain.tools,
        name = crate.name,
        source = crate.sources.root.path,
        output = output.path,
        metadata = crate_metadata(crate.sources.origin, ctx.attr.crate_features, ctx.attr.cfgs),
        kind = kind,
        edition = ctx.attr.edition,
        deps = [(name, file.path) for name, file in externs],
        dep_dirs = _folders(extern_files.to_list()),
        features = ctx.attr.crate_features,
        cfgs = ctx.attr.cfgs,
        env = crate_env(ctx, getattr(crate, "env_name", crate.name)),
        remaps = crate.sources.remaps,
        rustc_flags = ctx.attr.rustc_flags,
        manifest_dir = package_folder(ctx),
        build_script = script.path if script else "",
        **recipe
    )
    run_step(
        ctx,
        step = "compile",
        argv = argv,
        inputs = depset(crate.sources.files + sysroot_files + ([script] if script else []), transitive = [extern_files]),
        outputs = [output],
        message = message,
    )

def begin_crate(ctx, for_gpu):
    """The crate's name and sources, after its dependencies were checked.

    Args:
      ctx: context of a crate rule.
      for_gpu: whether the crate is compiled for the GPU.

    Returns:
      struct(name, sources), as the compile functions below take it.
    """
    check_deps(ctx, for_gpu)
    name = crate_name(ctx)
    return struct(name = name, sources = crate_sources(ctx, name))

def compile_for_host(ctx, crate, kind, output):
    """Compiles the crate for this machine.

    Args:
      ctx: context of a crate rule.
      crate: see `begin_crate`; a field `env_name` names the crate for CARGO_CRATE_NAME instead.
      kind: "host", "proc-macro" or "program".
      output: the File to make.

    Returns:
      depset of Files that rustc reads when it compiles a crate that depends on this one.
    """
    deps = _named_deps(ctx)
    extern_files = depset(transitive = [dep[GpuCrateInfo].host_extern_files for _, dep in deps], order = "postorder")
    _compile(
        ctx,
        crate,
        kind,
        output,
        externs = [(name, dep[GpuCrateInfo].host_library) for name, dep in deps],
        extern_files = extern_files,
        sysroot_files = [],
        message = "Compiling %s for this machine",
    )
    return depset([output], transitive = [extern_files], order = "postorder")

def compile_for_gpu(ctx, crate, output, sysroot):
    """Compiles the crate for the GPU.

    Args:
      ctx: context of a rule with `opt_level` and `debug`.
      crate: see `begin_crate`.
      output: the File to make.
      sysroot: GpuSysrootInfo.

    Returns:
      depset of Files that rustc reads when it compiles a crate that depends on this one.
    """
    deps = _named_deps(ctx)
    extern_files = depset(transitive = [dep[GpuCrateInfo].extern_files for _, dep in deps], order = "postorder")
    _compile(
        ctx,
        crate,
        "device",
        output,
        externs = [
            (name, dep[GpuCrateInfo].host_library if dep[GpuCrateInfo].is_proc_macro else dep[GpuCrateInfo].rlib)
            for name, dep in deps
        ],
        extern_files = extern_files,
        sysroot_files = [file for _, file in sysroot.crates],
        message = "Compiling %s for the GPU",
        sysroot = sysroot.directory,
        panic = sysroot.panic,
        opt_level = ctx.attr.opt_level,
        debug = ctx.attr.debug,
    )
    return depset([output], transitive = [extern_files], order = "postorder")

def sysroot_of(ctx):
    """GpuSysrootInfo of a rule with the attribute `_sysroot`.

    Args:
      ctx: context of the rule.

    Returns:
      GpuSysrootInfo.
    """
    return ctx.attr._sysroot[GpuSysrootInfo]
