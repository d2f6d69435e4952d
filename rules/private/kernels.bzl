"""`gpu_kernels`: crates linked, compiled for each arch, packed and embedded."""

load("//rules:compat.bzl", "transition_allowlist")
load("//rules:providers.bzl", "GpuCrateInfo", "GpuKernelsInfo")
load("//rules:settings.bzl", "SettingInfo")
load(":arch.bzl", "checked_archs")
load(":code.bzl", "CODE_ATTRS")
load(":host_object.bzl", "HOSTS", "HOST_OBJECT_ATTRS", "HOST_OBJECT_TOOLCHAINS", "cc_info", "target_host")
load(":module.bzl", "build_module", "closure", "named")
load(":partitions.bzl", "PARTITION_ATTRS", "begin_parts", "check_partitions", "is_split")
load(
    ":recipe_kernels.bzl",
    "abi_check_argv",
    "bindings_argv",
    "bindings_parts_argv",
    "embed_argv",
    "embed_parts_argv",
    "merge_manifests_argv",
    "merge_reports_argv",
    "nvlink_argv",
    "pack_argv",
    "partition_argv",
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

def _plan(ctx, toolchain, parts):
    """PARTITION; returns the plan."""
    plan = ctx.actions.declare_file(ctx.label.name + "/plan.json")
    crates = closure(ctx.attr.crates)
    positions = {crate.rlib.path: index for index, crate in enumerate(crates)}
    run_step(
        ctx,
        step = "partition",
        argv = partition_argv(
            toolchain.tools,
            ctx.label.name,
            crates = [(crate.name, crate.rlib.path) for crate in crates],
            units = [
                (root[GpuCrateInfo].crate_name, [positions[c.rlib.path] for c in closure([root])])
                for root in ctx.attr.crates
            ],
            parts = [part.name for part in parts],
            output = plan.path,
        ),
        inputs = depset([crate.rlib for crate in crates]),
        outputs = [plan],
        message = "Planning the partitions of %s",
    )
    return plan

def _packed(archs, ptx, cubins):
    """(arch, File) of what goes into the fatbin: cubins, and PTX for `compute_…`."""
    return [(arch.name, cubins.get(arch.name, ptx[arch.name])) for arch in archs]

def _paths(pairs):
    return [(name, file.path) for name, file in pairs]

def _files(pairs):
    return [file for _, file in pairs]

def _nvlink(ctx, toolchain, arch, cubins):
    """NVLINK for one arch; returns the cubin."""
    if not toolchain.nvlink:
        fail("{}: relocatable: the toolchain has no nvlink; it is in the package of ptxas".format(ctx.label))
    cubin = ctx.actions.declare_file("{}/{}.cubin".format(ctx.label.name, arch))
    run_step(
        ctx,
        step = "nvlink",
        argv = nvlink_argv(toolchain.tools, arch, [file.path for file in cubins], cubin.path),
        inputs = depset(cubins),
        outputs = [cubin],
        message = "Linking machine code of %s for " + arch,
    )
    return cubin

def _merge_manifests(ctx, toolchain, parts):
    """MERGE MANIFESTS; returns the target's manifest."""
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest.json")
    manifests = [part.linked.manifest for part in parts]
    run_step(
        ctx,
        step = "merge-manifests",
        argv = merge_manifests_argv(
            toolchain.tools,
            ctx.label.name,
            [file.path for file in manifests],
            manifest.path,
            one_module = ctx.attr.relocatable,
            **named(ctx)
        ),
        inputs = depset(manifests),
        outputs = [manifest],
        message = "Merging the manifests of %s",
    )
    return manifest

def _abi_check(ctx, toolchain, manifest, parts, packed, name):
    """ABICHECK of images that hold `parts`; returns the report."""
    report = ctx.actions.declare_file(name)
    assembled = []
    for part in parts:
        assembled += part.reports.items()
    link_reports = [part.linked.report for part in parts]
    run_step(
        ctx,
        step = "abi-check",
        argv = abi_check_argv(
            toolchain.tools,
            manifest = manifest.path,
            link_reports = [file.path for file in link_reports],
            images = _paths(packed),
            assemble_reports = _paths(assembled),
            report = report.path,
        ),
        inputs = depset([manifest] + link_reports + _files(assembled) + _files(packed)),
        outputs = [report],
        message = "Checking the ABI of %s",
    )
    return report

def _pack(ctx, toolchain, packed, report, name):
    """PACK; the ABI report is an input so that only checked images are packed."""
    fatbin = ctx.actions.declare_file(name)
    run_step(
        ctx,
        step = "pack",
        argv = pack_argv(
            toolchain.tools,
            _paths(packed),
            fatbin.path,
            compress = ctx.attr._compress[SettingInfo].value or ctx.attr.compress,
            allow = ctx.attr.allow,
            deny = ctx.attr.deny,
        ),
        inputs = depset([report] + _files(packed)),
        outputs = [fatbin],
        message = "Packing %s",
    )
    return fatbin

def _embed(ctx, toolchain, fatbins, manifest, host, symbol):
    """EMBED; returns the object for one host. `fatbins` is a File, or (partition, File) pairs."""
    object = ctx.actions.declare_file("{}.{}.o".format(ctx.label.name, host))
    if type(fatbins) == "list":
        argv = embed_parts_argv(toolchain.tools, _paths(fatbins), manifest.path, object.path, host, symbol)
        inputs = _files(fatbins) + [manifest]
    else:
        argv = embed_argv(toolchain.tools, fatbins.path, object.path, host, symbol)
        inputs = [fatbins]
    run_step(
        ctx,
        step = "embed",
        argv = argv,
        inputs = depset(inputs),
        outputs = [object],
        message = "Embedding %s for " + host,
    )
    return object

def _bindings(ctx, toolchain, fatbins, manifest, symbol):
    """EMBED; returns the header. `fatbins` as for `_embed`."""
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    if type(fatbins) == "list":
        argv = bindings_parts_argv(toolchain.tools, _paths(fatbins), manifest.path, symbol, header.path)
        inputs = _files(fatbins)
    else:
        argv = bindings_argv(toolchain.tools, fatbins.path, manifest.path, symbol, header.path)
        inputs = [fatbins]
    run_step(
        ctx,
        step = "embed",
        argv = argv,
        inputs = depset(inputs + [manifest]),
        outputs = [header],
        message = "Writing the header of %s",
    )
    return header

def _one_module(ctx, toolchain, parts, archs, manifest):
    """One fat binary of all parts; returns struct(fatbins, modules, report, cubins)."""
    cubins = parts[0].cubins
    if ctx.attr.relocatable:
        cubins = {
            arch.name: _nvlink(ctx, toolchain, arch.name, [part.cubins[arch.name] for part in parts])
            for arch in archs
            if not arch.is_ptx
        }
    packed = _packed(archs, parts[0].ptx, cubins)
    report = _abi_check(ctx, toolchain, manifest, parts, packed, ctx.label.name + ".report.json")
    fatbin = _pack(ctx, toolchain, packed, report, ctx.label.name + ".fatbin")
    return struct(fatbins = fatbin, modules = {}, report = report, cubins = cubins)

def _several_modules(ctx, toolchain, parts, archs):
    """A fat binary of each part; returns the same."""
    fatbins = []
    reports = []
    for part in parts:
        packed = _packed(archs, part.ptx, part.cubins)
        report = _abi_check(ctx, toolchain, part.linked.manifest, [part], packed, part.folder + "/report.json")
        name = "{}.{}.fatbin".format(ctx.label.name, part.name)
        fatbins.append((part.name, _pack(ctx, toolchain, packed, report, name)))
        reports.append((part.name, report))
    merged = ctx.actions.declare_file(ctx.label.name + ".report.json")
    run_step(
        ctx,
        step = "merge-reports",
        argv = merge_reports_argv(toolchain.tools, ctx.label.name, _paths(reports), merged.path),
        inputs = depset(_files(reports)),
        outputs = [merged],
        message = "Merging the reports of %s",
    )
    return struct(fatbins = fatbins, modules = dict(fatbins), report = merged, cubins = {})

def _symbol(ctx):
    return ctx.attr.symbol or "".join([c if c.isalnum() else "_" for c in ctx.label.name.elems()])

def _providers(ctx, info, parts, wanted_hosts, target_object):
    """What other rules and the command line get."""
    objects = [info.objects[host] for host in wanted_hosts]
    fatbins = [info.fatbin] if info.fatbin else info.modules.values()
    extras = []
    for part in parts:
        extras += part.extras
    default = fatbins + [info.header, info.manifest, info.report] + objects + extras
    cubins = info.cubins.values()
    ptx = []
    for part in parts:
        ptx += part.ptx.values()
        cubins = cubins + (part.cubins.values() if info.modules else [])
    return [
        DefaultInfo(
            files = depset(default),
            runfiles = ctx.runfiles(files = fatbins + [info.manifest]),
        ),
        OutputGroupInfo(
            cubin = depset(cubins),
            fatbin = depset(fatbins),
            linked = depset([part.linked.module for part in parts]),
            manifest = depset([info.manifest]),
            object = depset(objects),
            ptx = depset(ptx),
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
    check_partitions(ctx, archs)
    begun = begin_parts(ctx)
    plan = _plan(ctx, toolchain, begun) if ctx.attr.auto_partitions else None
    parts = [build_module(ctx, toolchain, part, plan, archs) for part in begun]
    manifest = _merge_manifests(ctx, toolchain, parts) if is_split(ctx) else parts[0].linked.manifest
    if is_split(ctx) and not ctx.attr.relocatable:
        made = _several_modules(ctx, toolchain, parts, archs)
    else:
        made = _one_module(ctx, toolchain, parts, archs, manifest)
    symbol = _symbol(ctx)
    own_host = target_host(ctx)
    hosts = ctx.attr.hosts or [own_host]
    objects = {
        host: _embed(ctx, toolchain, made.fatbins, manifest, host, symbol)
        for host in depset(hosts + [own_host]).to_list()
    }
    info = GpuKernelsInfo(
        archs = [arch.name for arch in archs],
        cubins = made.cubins,
        fatbin = None if made.modules else made.fatbins,
        header = _bindings(ctx, toolchain, made.fatbins, manifest, symbol),
        linked = None if is_split(ctx) else parts[0].linked.module,
        manifest = manifest,
        modules = made.modules,
        objects = objects,
        ptx = {} if is_split(ctx) else parts[0].ptx,
        report = made.report,
        symbol = symbol,
    )
    return _providers(ctx, info, parts, hosts, objects[own_host])

gpu_kernels = rule(
    implementation = _gpu_kernels_impl,
    doc = """Kernels of some crates, for a list of archs, in a fat binary inside host objects.

Makes `NAME.fatbin`, `NAME.HOST.o`, `NAME.h`, `NAME.manifest.json`, `NAME.report.json`, and
`NAME/ARCH.ptx`, `NAME/ARCH.cubin` and `NAME/linked.bc` on the way there. A C++ target that
has it in `deps` links the object for its CPU and may include `PACKAGE/NAME.h`. With
partitions there is a `NAME.PARTITION.fatbin` for each, their other files lie in
`NAME/PARTITION`, and one object holds them all.""",
    attrs = dict(
        dict(HOST_OBJECT_ATTRS, **dict(CODE_ATTRS, **PARTITION_ATTRS)),
        allow = attr.string_list(
            doc = "Checks of the packed images that are silenced, such as `uncovered-device`; see `fatcrate pack --help`.",
        ),
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
        deny = attr.string_list(
            doc = "Checks of the packed images whose warnings fail the build.",
        ),
        exports = attr.string_list(
            doc = "Names of the kernels to export; all where empty.",
        ),
        hosts = attr.string_list(
            doc = "Hosts for which an object is made: `x86_64`, `aarch64`; by default the one that is built for.",
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
