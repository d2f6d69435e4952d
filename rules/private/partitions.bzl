"""Partitions of `gpu_kernels`: which kernels share a module."""

load("//rules:providers.bzl", "GpuCrateInfo")

_NAME_FIRST = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
_NAME = _NAME_FIRST + "0123456789"
_MOST = 64

# Folders of a target's folder that are not a partition's.
_TAKEN = ["temps"]

PARTITION_ATTRS = {
    "auto_partitions": attr.int(
        doc = "Spread the kernels over this many modules at most, by size; crates that use the same static share one.",
    ),
    "partitions": attr.string_list_dict(
        doc = "Modules of their own: name to crates (by their names in Rust), or to single kernels as `crate/kernel`. Each becomes a fat binary, unless `relocatable`.",
    ),
    "relocatable": attr.bool(
        doc = "Assemble relocatable machine code and link it with nvlink to one image; what that costs each kernel is in the report.",
    ),
}

def is_split(ctx):
    """Whether the target has partitions.

    Args:
      ctx: context of a rule with `PARTITION_ATTRS`.

    Returns:
      A bool.
    """
    return bool(ctx.attr.partitions or ctx.attr.auto_partitions)

def _name_faults(name):
    good = name and len(name) <= 100 and name[0] in _NAME_FIRST and name not in _TAKEN
    for char in name.elems():
        good = good and char in _NAME
    return [] if good else ["partitions: {} cannot be the name of one: use letters, digits and _".format(repr(name))]

def _crate_faults(ctx):
    """Every crate of the target is in one partition, whole or by kernels; nothing else is."""
    crates = [crate[GpuCrateInfo].crate_name for crate in ctx.attr.crates]
    homes = {}
    named = []
    faults = []
    for name, items in ctx.attr.partitions.items():
        faults += _name_faults(name)
        if not items:
            faults.append("partitions: {} names no crate".format(repr(name)))
        for item in items:
            crate = item.partition("/")[0]
            named.append(crate)
            if crate not in crates:
                faults.append("partitions: {} is not among the crates; choose from: {}".format(repr(crate), ", ".join(crates)))
            elif item in homes:
                faults.append("partitions: {} is in {} and in {}".format(repr(item), repr(homes[item]), repr(name)))
            homes[item] = name
    return faults + ["partitions: the crate {} is in none".format(repr(crate)) for crate in crates if crate not in named]

def check_partitions(ctx, archs):
    """Stops the build when the attributes about partitions do not fit.

    Args:
      ctx: context of a rule with `PARTITION_ATTRS`.
      archs: list of structs, see `checked_archs`.
    """
    faults = []
    if ctx.attr.partitions and ctx.attr.auto_partitions:
        faults.append("partitions and auto_partitions: give one of them")
    if ctx.attr.auto_partitions < 0 or ctx.attr.auto_partitions > _MOST:
        faults.append("auto_partitions: choose from 1 to {}".format(_MOST))
    if ctx.attr.partitions:
        faults += _crate_faults(ctx)
    if is_split(ctx):
        for name in ["undefined", "why", "trace_symbol"]:
            if getattr(ctx.attr, name):
                faults.append(name + " does not go with partitions: not every module has the symbol")
    ptx = [arch.name for arch in archs if arch.is_ptx]
    if ctx.attr.relocatable and ptx and (len(ctx.attr.partitions) > 1 or _count(ctx) > 1):
        faults.append("archs: {} is PTX, which cannot be linked from relocatable partitions".format(ptx[0]))
    if faults:
        fail("\n  ".join(["{}: wrong attributes:".format(ctx.label)] + faults))

def _count(ctx):
    """How many partitions are chosen by size."""
    return min(ctx.attr.auto_partitions, len(ctx.attr.crates))

def _leave(ctx, name):
    """Kernels of the partition's whole crates that others take out of these."""
    found = []
    for other, items in ctx.attr.partitions.items():
        for item in items if other != name else []:
            crate, slash, kernel = item.partition("/")
            if slash and crate in ctx.attr.partitions[name]:
                found.append(kernel)
    return found

def begin_parts(ctx):
    """The modules that are linked.

    Args:
      ctx: context of a rule with `PARTITION_ATTRS`.

    Returns:
      A list of struct(name, folder, manifest, roots, kernels_of, leave): name for LINK, paths
      below the package, crates whose closure is linked, arguments of `link_argv`.
    """
    label = ctx.label.name
    if not is_split(ctx):
        return [struct(
            name = label,
            folder = label,
            manifest = label + ".manifest.json",
            roots = ctx.attr.crates,
            kernels_of = [],
            leave = [],
        )]
    roots = {crate[GpuCrateInfo].crate_name: crate for crate in ctx.attr.crates}
    parts = ctx.attr.partitions or {str(number + 1): [] for number in range(_count(ctx))}
    made = []
    for name, items in parts.items():
        wanted = depset([item.partition("/")[0] for item in items]).to_list()
        made.append(struct(
            name = name,
            folder = label + "/" + name,
            manifest = "{}/{}/manifest.json".format(label, name),
            roots = [roots[crate] for crate in wanted] or ctx.attr.crates,
            kernels_of = items,
            leave = _leave(ctx, name) if items else [],
        ))
    return made
