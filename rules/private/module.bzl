"""One module of `gpu_kernels`: LINK, CODEGEN and ASSEMBLE for each arch."""

load("//rules:providers.bzl", "GpuCrateInfo")
load(":partitions.bzl", "is_split")
load(":recipe_kernels.bzl", "assemble_argv", "codegen_argv", "link_argv")
load(":steps.bzl", "run_step")

def _place(ctx):
    """Where the target is, as Bazel's users write it."""
    package = "//" + ctx.label.package + ":" + ctx.label.name
    return "@" + ctx.label.workspace_name + package if ctx.label.workspace_name else package

def named(ctx):
    """Arguments about kernels that the attributes name.

    Args:
      ctx: context of `gpu_kernels`.

    Returns:
      A dict of arguments of `link_argv` and `merge_manifests_argv`.
    """
    budgeted = []
    for budget in ctx.attr.budgets:
        kernel = budget.rpartition(":")[0]
        if kernel and kernel not in budgeted:
            budgeted.append(kernel)
    names = []
    for name in ctx.attr.exports + ctx.attr.undefined + budgeted:
        if name not in names:
            names.append(name)
    return dict(
        budgeted = budgeted,
        exports = ctx.attr.exports,
        places = [(name, _place(ctx)) for name in names],
    )

def closure(crates):
    """Crates compiled for the GPU.

    Args:
      crates: list of targets with GpuCrateInfo.

    Returns:
      A list of struct(name, rlib) of them and all that they depend on, dependencies first.
    """
    return depset(
        transitive = [crate[GpuCrateInfo].crates for crate in crates],
        order = "postorder",
    ).to_list()

def _engine(ctx, toolchain):
    """Files that the steps with LLVM read beside their own."""
    if ctx.attr.engine != "libllvm":
        return []
    if not toolchain.libllvm:
        fail("{}: engine: rustc has no libLLVM as a shared library; use llvmlite".format(ctx.label))
    return [toolchain.libllvm]

def _link(ctx, toolchain, part, plan):
    """LINK of one module; returns struct(module, manifest, report, extras)."""
    crates = closure(part.roots)
    sysroot_crates = ctx.attr.crates[0][GpuCrateInfo].sysroot_crates
    module = ctx.actions.declare_file(part.folder + "/linked.bc")
    manifest = ctx.actions.declare_file(part.manifest)
    report = ctx.actions.declare_file(part.folder + "/link.json")
    extras = [ctx.actions.declare_file(part.folder + "/link.map")] if ctx.attr.map else []
    given = dict(exports = ctx.attr.exports) if is_split(ctx) else named(ctx)
    run_step(
        ctx,
        step = "link",
        argv = link_argv(
            toolchain.tools,
            name = part.name,
            crates = [(crate.name, crate.rlib.path) for crate in crates],
            sysroot_libs = [(crate, file.path) for crate, file in sysroot_crates],
            output = module.path,
            manifest = manifest.path,
            report = report.path,
            engine = ctx.attr.engine,
            undefined = ctx.attr.undefined,
            map = extras[0].path if extras else "",
            why = ctx.attr.why,
            trace_symbol = ctx.attr.trace_symbol,
            print_gc = ctx.attr.print_gc,
            debug = ctx.attr.debug,
            kernels_of = part.kernels_of,
            leave = part.leave,
            plan = plan.path if plan else "",
            **given
        ),
        inputs = depset(
            [crate.rlib for crate in crates] + [file for _, file in sysroot_crates] +
            ([plan] if plan else []) + _engine(ctx, toolchain),
        ),
        outputs = [module, manifest, report] + extras,
        message = "Linking kernels %s",
    )
    return struct(module = module, manifest = manifest, report = report, extras = extras)

def _codegen(ctx, toolchain, folder, linked, arch):
    """CODEGEN for one arch; returns the PTX and files that were asked for."""
    ptx = ctx.actions.declare_file("{}/{}.ptx".format(folder, arch.name))
    remarks = []
    trace = []
    if ctx.attr.remarks:
        remarks = [ctx.actions.declare_file("{}/{}.remarks.yaml".format(folder, arch.name))]
    if ctx.attr.time_trace:
        trace = [ctx.actions.declare_file("{}/{}.trace.json".format(folder, arch.name))]
    run_step(
        ctx,
        step = "codegen",
        argv = codegen_argv(
            toolchain.tools,
            arch.name,
            linked.module.path,
            linked.manifest.path,
            ptx.path,
            opt_level = ctx.attr.opt_level,
            engine = ctx.attr.engine,
            min_driver = ctx.attr.min_driver,
            ftz = ctx.attr.ftz,
            div = ctx.attr.div,
            sqrt = ctx.attr.sqrt,
            contract = ctx.attr.contract,
            debug = ctx.attr.debug,
            inline_threshold = ctx.attr.inline_threshold,
            unroll = ctx.attr.unroll,
            vectorize = ctx.attr.vectorize,
            llvm_options = ctx.attr.llvm_options,
            remarks = remarks[0].path if remarks else "",
            time_trace = trace[0].path if trace else "",
        ),
        inputs = depset([linked.module, linked.manifest] + _engine(ctx, toolchain)),
        outputs = [ptx] + remarks + trace,
        message = "Generating code of %s for " + arch.name,
    )
    return ptx, remarks + trace

def _assemble(ctx, toolchain, folder, arch, ptx):
    """ASSEMBLE for one arch; returns the cubin and its resource report."""
    kind = "relocatable.cubin" if ctx.attr.relocatable else "cubin"
    cubin = ctx.actions.declare_file("{}/{}.{}".format(folder, arch.name, kind))
    report = ctx.actions.declare_file("{}/{}.json".format(folder, arch.name))
    run_step(
        ctx,
        step = "assemble",
        argv = assemble_argv(
            toolchain.tools,
            arch.name,
            ptx.path,
            cubin.path,
            report.path,
            options = ctx.attr.ptxas_options,
            budgets = ctx.attr.budgets,
            relocatable = ctx.attr.relocatable,
            partial = is_split(ctx),
        ),
        inputs = depset([ptx]),
        outputs = [cubin, report],
        message = "Assembling %s for " + arch.name,
    )
    return cubin, report

def build_module(ctx, toolchain, part, plan, archs):
    """Declares the steps of one module.

    Args:
      ctx: context of `gpu_kernels`.
      toolchain: GpuToolchainInfo.
      part: see `begin_parts`.
      plan: File of PARTITION, or None.
      archs: list of structs, see `checked_archs`.

    Returns:
      struct(name, folder, linked, ptx, cubins, reports, extras): three dicts from arch to
      File, and a list of Files that were asked for.
    """
    linked = _link(ctx, toolchain, part, plan)
    extras = linked.extras
    ptx = {}
    cubins = {}
    reports = {}
    for arch in archs:
        ptx[arch.name], more = _codegen(ctx, toolchain, part.folder, linked, arch)
        extras = extras + more
        if not arch.is_ptx:
            cubins[arch.name], reports[arch.name] = _assemble(ctx, toolchain, part.folder, arch, ptx[arch.name])
    return struct(name = part.name, folder = part.folder, linked = linked, ptx = ptx, cubins = cubins, reports = reports, extras = extras)
