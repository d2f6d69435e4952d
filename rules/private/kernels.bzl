"""`gpu_kernels`: crates linked, compiled for each arch, packed and embedded."""

load("//rules:compat.bzl", "transition_allowlist")
load("//rules:providers.bzl", "GpuCrateInfo", "GpuKernelsInfo")
load("//rules:settings.bzl", "SettingInfo")
load(":arch.bzl", "checked_archs")
load(":host_object.bzl", "HOSTS", "HOST_OBJECT_ATTRS", "HOST_OBJECT_TOOLCHAINS", "cc_info", "target_host")
load(
    ":recipe.bzl",
    "abi_check_argv",
    "assemble_argv",
    "bindings_argv",
    "codegen_argv",
    "embed_argv",
    "link_argv",
    "pack_argv",
)
load(":steps.bzl", "TOOLCHAIN_TYPE", "gpu_toolchain", "run_step")
load(":transition.bzl", "DEFAULT_PANIC", "PANIC_STRATEGIES", "panic_transition")

_COMPRESS = ["none", "default", "speed", "size", "balanced"]

def _check_crates(ctx):
    faults = []
    if not ctx.attr.crates:
        faults.append("crates is empty: name at least one gpu_rust_library that holds kernels")
    for crate in ctx.attr.crates:
        if crate[GpuCrateInfo].is_proc_macro:
            faults.append("{} is a procedural macro, not a library with kernels".format(crate.label))
    for host in ctx.attr.hosts:
        if host not in HOSTS:
            faults.append("{} is not a host; choose from: {}".format(repr(host), ", ".join(HOSTS)))
    if faults:
        fail("\n  ".join(["{}: wrong attributes:".format(ctx.label)] + faults))

def _archs(ctx, toolchain):
    """The archs to build for: the setting `archs` outranks the attribute."""
    asked = ctx.attr._archs[SettingInfo].value
    return checked_archs(
        ctx.label,
        [asked] if asked else ctx.attr.archs,
        toolchain.cubin_archs,
        toolchain.ptx_archs,
    )

def _link(ctx, toolchain):
    """LINK; returns struct(module, manifest, report)."""
    crates = depset(
        transitive = [crate[GpuCrateInfo].crates for crate in ctx.attr.crates],
        order = "postorder",
    ).to_list()
    sysroot_crates = ctx.attr.crates[0][GpuCrateInfo].sysroot_crates
    name = ctx.label.name
    module = ctx.actions.declare_file(name + "/linked.bc")
    manifest = ctx.actions.declare_file(name + ".manifest.json")
    report = ctx.actions.declare_file(name + "/link.json")
    run_step(
        ctx,
        step = "link",
        argv = link_argv(
            toolchain.tools,
            name = name,
            crates = [(crate.name, crate.rlib.path) for crate in crates],
            sysroot_libs = [(crate, file.path) for crate, file in sysroot_crates],
            output = module.path,
            manifest = manifest.path,
            report = report.path,
            exports = ctx.attr.exports,
        ),
        inputs = depset([crate.rlib for crate in crates] + [file for _, file in sysroot_crates]),
        outputs = [module, manifest, report],
        message = "Linking kernels %s",
    )
    return struct(module = module, manifest = manifest, report = report)

def _codegen(ctx, toolchain, linked, arch):
    """CODEGEN for one arch; returns the PTX."""
    ptx = ctx.actions.declare_file("{}/{}.ptx".format(ctx.label.name, arch.name))
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
            options = ["--min-driver", ctx.attr.min_driver] if ctx.attr.min_driver else [],
        ),
        inputs = depset([linked.module, linked.manifest]),
        outputs = [ptx],
        message = "Generating code of %s for " + arch.name,
    )
    return ptx

def _assemble(ctx, toolchain, arch, ptx):
    """ASSEMBLE for one arch; returns the cubin and its resource report."""
    cubin = ctx.actions.declare_file("{}/{}.cubin".format(ctx.label.name, arch.name))
    report = ctx.actions.declare_file("{}/{}.json".format(ctx.label.name, arch.name))
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
        ),
        inputs = depset([ptx]),
        outputs = [cubin, report],
        message = "Assembling %s for " + arch.name,
    )
    return cubin, report

def _images(ctx, toolchain, linked, archs):
    """CODEGEN and ASSEMBLE; returns struct(ptx, cubins, reports), dicts by arch."""
    ptx = {}
    cubins = {}
    reports = {}
    for arch in archs:
        ptx[arch.name] = _codegen(ctx, toolchain, linked, arch)
        if not arch.is_ptx:
            cubins[arch.name], reports[arch.name] = _assemble(ctx, toolchain, arch, ptx[arch.name])
    return struct(ptx = ptx, cubins = cubins, reports = reports)

def _packed(archs, images):
    """(arch, File) of what goes into the fatbin: cubins, and PTX for `compute_…`."""
    return [(arch.name, images.cubins.get(arch.name, images.ptx[arch.name])) for arch in archs]

def _paths(pairs):
    return [(name, file.path) for name, file in pairs]

def _abi_check(ctx, toolchain, linked, packed, reports):
    """ABICHECK; returns the target's report."""
    report = ctx.actions.declare_file(ctx.label.name + ".report.json")
    run_step(
        ctx,
        step = "abi-check",
        argv = abi_check_argv(
            toolchain.tools,
            manifest = linked.manifest.path,
            link_report = linked.report.path,
            images = _paths(packed),
            assemble_reports = _paths(reports.items()),
            report = report.path,
        ),
        inputs = depset([linked.manifest, linked.report] + reports.values() + [file for _, file in packed]),
        outputs = [report],
        message = "Checking the ABI of %s",
    )
    return report

def _pack(ctx, toolchain, packed, report):
    """PACK; the ABI report is an input so that only checked images are packed."""
    fatbin = ctx.actions.declare_file(ctx.label.name + ".fatbin")
    run_step(
        ctx,
        step = "pack",
        argv = pack_argv(
            toolchain.tools,
            _paths(packed),
            fatbin.path,
            compress = ctx.attr._compress[SettingInfo].value or ctx.attr.compress,
        ),
        inputs = depset([report] + [file for _, file in packed]),
        outputs = [fatbin],
        message = "Packing %s",
    )
    return fatbin

def _embed(ctx, toolchain, fatbin, host, symbol):
    """EMBED; returns the object for one host."""
    object = ctx.actions.declare_file("{}.{}.o".format(ctx.label.name, host))
    run_step(
        ctx,
        step = "embed",
        argv = embed_argv(toolchain.tools, fatbin.path, object.path, host, symbol),
        inputs = depset([fatbin]),
        outputs = [object],
        message = "Embedding %s for " + host,
    )
    return object

def _bindings(ctx, toolchain, fatbin, manifest, symbol):
    """EMBED; returns the header."""
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    run_step(
        ctx,
        step = "embed",
        argv = bindings_argv(toolchain.tools, fatbin.path, manifest.path, symbol, header.path),
        inputs = depset([fatbin, manifest]),
        outputs = [header],
        message = "Writing the header of %s",
    )
    return header

def _symbol(ctx):
    return ctx.attr.symbol or "".join([c if c.isalnum() else "_" for c in ctx.label.name.elems()])

def _providers(ctx, info, wanted_hosts, target_object):
    """What other rules and the command line get."""
    objects = [info.objects[host] for host in wanted_hosts]
    default = [info.fatbin, info.header, info.manifest, info.report] + objects
    return [
        DefaultInfo(
            files = depset(default),
            runfiles = ctx.runfiles(files = [info.fatbin, info.manifest]),
        ),
        OutputGroupInfo(
            cubin = depset(info.cubins.values()),
            fatbin = depset([info.fatbin]),
            linked = depset([info.linked]),
            manifest = depset([info.manifest]),
            object = depset(objects),
            ptx = depset(info.ptx.values()),
            report = depset([info.report]),
            _validation = depset([info.report]),
        ),
        info,
        cc_info(ctx, target_object, info.header),
    ]

def _gpu_kernels_impl(ctx):
    _check_crates(ctx)
    toolchain = gpu_toolchain(ctx)
    archs = _archs(ctx, toolchain)
    linked = _link(ctx, toolchain)
    images = _images(ctx, toolchain, linked, archs)
    packed = _packed(archs, images)
    report = _abi_check(ctx, toolchain, linked, packed, images.reports)
    fatbin = _pack(ctx, toolchain, packed, report)
    symbol = _symbol(ctx)
    own_host = target_host(ctx)
    hosts = ctx.attr.hosts or [own_host]
    objects = {host: _embed(ctx, toolchain, fatbin, host, symbol) for host in depset(hosts + [own_host]).to_list()}
    info = GpuKernelsInfo(
        archs = [arch.name for arch in archs],
        cubins = images.cubins,
        fatbin = fatbin,
        header = _bindings(ctx, toolchain, fatbin, linked.manifest, symbol),
        linked = linked.module,
        manifest = linked.manifest,
        objects = objects,
        ptx = images.ptx,
        report = report,
        symbol = symbol,
    )
    return _providers(ctx, info, hosts, objects[own_host])

gpu_kernels = rule(
    implementation = _gpu_kernels_impl,
    doc = """Kernels of some crates, for a list of archs, in a fat binary inside host objects.

Makes `NAME.fatbin`, `NAME.HOST.o`, `NAME.h`, `NAME.manifest.json`, `NAME.report.json`, and
`NAME/ARCH.ptx`, `NAME/ARCH.cubin` and `NAME/linked.bc` on the way there. A C++ target that
has it in `deps` links the object for its CPU and may include `PACKAGE/NAME.h`.""",
    attrs = dict(
        HOST_OBJECT_ATTRS,
        archs = attr.string_list(
            doc = "What to build for: `sm_90`, `sm_90a`, `sm_100f` (cubins), `compute_90` (PTX), or `9.0`, `9.0a`, `9.0+PTX`, `all`, `all-major`. The setting `//rules:archs` outranks it.",
            mandatory = True,
        ),
        budgets = attr.string_list(
            doc = "Limits that fail the build: `max_registers=64` for all kernels, `KERNEL:max_stack=0` for one. See `fatcrate assemble --help`.",
        ),
        compress = attr.string(
            doc = "How the images are compressed; see `fatcrate pack --help`. The setting `//rules:compress` outranks it.",
            default = "balanced",
            values = _COMPRESS,
        ),
        crates = attr.label_list(
            doc = "Libraries whose kernels are exported; what they depend on is linked too.",
            mandatory = True,
            providers = [GpuCrateInfo],
            cfg = panic_transition,
        ),
        exports = attr.string_list(
            doc = "Names of the kernels to export; all where empty.",
        ),
        hosts = attr.string_list(
            doc = "Hosts for which an object is made: `x86_64`, `aarch64`; by default the one that is built for.",
        ),
        min_driver = attr.string(
            doc = "A driver branch, such as `535`: the newest PTX that it loads is written. By default the oldest PTX that has the arch.",
        ),
        opt_level = attr.string(
            doc = "Optimisation level of code generation.",
            default = "3",
            values = ["0", "1", "2", "3", "s"],
        ),
        panic = attr.string(
            doc = "What a panic in device code does: `immediate-abort` traps without a message. The setting `//rules:panic` outranks it.",
            default = DEFAULT_PANIC,
            values = PANIC_STRATEGIES,
        ),
        ptxas_options = attr.string_list(
            doc = "Further options of ptxas.",
        ),
        symbol = attr.string(
            doc = "Prefix of the object's symbols; by default the target's name, with `_` for what a symbol cannot hold.",
        ),
        _archs = attr.label(
            default = "//rules:archs",
            providers = [SettingInfo],
        ),
        _compress = attr.label(
            default = "//rules:compress",
            providers = [SettingInfo],
        ),
        **transition_allowlist()
    ),
    fragments = ["cpp"],
    provides = [GpuKernelsInfo],
    toolchains = [TOOLCHAIN_TYPE] + HOST_OBJECT_TOOLCHAINS,
)
