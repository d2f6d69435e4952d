"""The second half of the recipe: the steps that make a target of compiled crates.

The rules of `recipe.bzl` hold here, too, and `tools` is what is described there.
"""

def _flag_each(flag, values):
    """[flag, v] for each value."""
    argv = []
    for value in values:
        argv.append(flag)
        argv.append(value)
    return argv

def link_argv(
        tools,
        name,
        crates,
        sysroot_libs,
        output,
        manifest,
        report,
        exports = [],
        engine = "",
        undefined = [],
        map = "",
        why = [],
        trace_symbol = [],
        print_gc = False,
        debug = "line",
        budgeted = [],
        places = [],
        kernels_of = [],
        leave = [],
        plan = "",
        options = []):
    """LINK: all crates of a target to one module whose arch queries are still open.

    Args:
      tools: see the head of this file.
      name: the target's name, or the partition's.
      crates: list of (crate name, rlib path): the whole transitive closure, dependencies
        first (left to right, each once).
      sysroot_libs: list of (crate name, rlib path), used as needed.
      output: path of the linked module.
      manifest: path of the ABI manifest.
      report: path of the link report.
      exports: names of the kernels to export; empty for all.
      engine: "llvmlite", "libllvm", or "" for the default.
      undefined: symbols to keep though nothing refers to them.
      map: path of the map file to write, or "".
      why: symbols whose chain of references is printed.
      trace_symbol: symbols of which is printed who defines and who uses them.
      print_gc: whether dropped definitions are printed.
      debug: as for `codegen_argv`; "full" warns of crates without debug information.
      budgeted: kernels that budgets name; each must be there.
      places: list of (kernel or symbol, where the project names it), for messages.
      kernels_of: what a partition holds: "crate" or "crate/kernel"; empty for all kernels.
      leave: kernels that other partitions hold.
      plan: path of PARTITION's plan, which says the same of the partition `name`, or "".
      options: further options of `fatcrate link`.

    Returns:
      The argv.
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
    argv += _flag_each("--kernels-of", kernels_of)
    argv += _flag_each("--leave", leave)
    argv += ["--plan", plan] if plan else []
    argv += _engine(tools, engine)
    argv += _flag_each("--undefined", undefined)
    argv += ["--map", map] if map else []
    argv += _flag_each("--why", why)
    argv += _flag_each("--trace-symbol", trace_symbol)
    argv += ["--print-gc"] if print_gc else []
    argv += ["--wants-debug"] if debug == "full" else []
    return argv + _named_kernels(budgeted, places) + options

def _engine(tools, engine):
    """The option that chooses the LLVM; rustc's own is named by its path."""
    if not engine or engine == "llvmlite":
        return []
    return ["--engine", engine + "=" + tools.libllvm]

def _named_kernels(budgeted, places):
    """Kernels that the project names, and where."""
    argv = _flag_each("--budgeted", budgeted)
    return argv + _flag_each("--place", [name + "=" + place for name, place in places])

def partition_argv(tools, name, crates, units, parts, output):
    """PARTITION: which crates' kernels go into which of a target's modules, by size.

    Args:
      tools: see the head of this file.
      name: the target's name.
      crates: as for `link_argv`.
      units: list of (crate name, indices into `crates` of its transitive closure), for each
        crate that the target names.
      parts: names of the partitions.
      output: path of the plan.

    Returns:
      The argv.
    """
    argv = tools.step + ["partition", "--name", name, "--output", output]
    argv += _flag_each("--crate", [crate + "=" + path for crate, path in crates])
    for crate, indices in units:
        argv += ["--unit", crate + "=" + ",".join([str(index) for index in indices])]
    return argv + _flag_each("--part", parts)

def merge_manifests_argv(
        tools,
        name,
        manifests,
        output,
        one_module = False,
        exports = [],
        budgeted = [],
        places = []):
    """MERGE MANIFESTS: those of a target's partitions to one.

    Args:
      tools: see the head of this file.
      name: the target's name.
      manifests: paths of the partitions' manifests.
      output: path of the combined one.
      one_module: whether the partitions are linked to one image again (`relocatable`).
      exports: as for `link_argv`.
      budgeted: as for `link_argv`.
      places: as for `link_argv`.

    Returns:
      The argv.
    """
    argv = tools.step + ["merge-manifests", "--name", name, "--output", output]
    argv += ["--one-module"] if one_module else []
    argv += _flag_each("--export", exports)
    return argv + _named_kernels(budgeted, places) + manifests

def merge_reports_argv(tools, name, reports, output):
    """MERGE REPORTS: those of a target's partitions to one. reports: list of (partition, path)."""
    argv = tools.step + ["merge-reports", "--name", name, "--output", output]
    return argv + [part + "=" + path for part, path in reports]

def ir_argv(tools, files, output, options = []):
    """IR: the LLVM IR of rlibs or bitcode as text, for people to read."""
    return tools.step + ["ir", "--output", output] + options + files

def disassemble_argv(tools, cubin, output):
    """DISASSEMBLE: a cubin's machine code as text, for people to read."""
    return tools.step + ["disassemble", "--nvdisasm", tools.nvdisasm, "--output", output, cubin]

def copy_argv(source, output):
    """A copy of a file under another name."""
    return ["cp", "--", source, output]

def codegen_argv(
        tools,
        arch,
        linked,
        manifest,
        output,
        opt_level = 3,
        engine = "",
        min_driver = "",
        ftz = False,
        div = "ieee",
        sqrt = "ieee",
        contract = "off",
        debug = "line",
        inline_threshold = "",
        unroll = True,
        vectorize = True,
        llvm_options = [],
        remarks = "",
        time_trace = "",
        options = []):
    """CODEGEN: the linked module for one arch, to PTX text.

    Args:
      tools: see the head of this file.
      arch: such as "sm_90a" or "compute_90".
      linked: path of the linked module.
      manifest: path of the ABI manifest.
      output: path of the PTX.
      opt_level: 0 to 3, "s" or "z".
      engine: as for `link_argv`.
      min_driver: a driver branch that must load the PTX, or "".
      ftz: whether f32 subnormals become zero.
      div: f32 division: "ieee", "full" or "approx".
      sqrt: f32 square root: "ieee" or "approx".
      contract: "on" to fuse multiplications with additions, or "off".
      debug: debug information that is kept: "none", "line" or "full".
      inline_threshold: LLVM's inlining threshold, or "" for its default.
      unroll: whether loops are unrolled.
      vectorize: whether memory accesses are vectorised.
      llvm_options: options of LLVM itself.
      remarks: path of the file of remarks to write, or "".
      time_trace: path of the time trace to write, or "".
      options: further options of `fatcrate codegen`.

    Returns:
      The argv.
    """
    argv = tools.step + [
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
    ]
    argv += ["--min-driver", min_driver] if min_driver else []
    argv += _engine(tools, engine)
    argv += ["--ftz"] if ftz else []
    argv += ["--div", div] if div != "ieee" else []
    argv += ["--sqrt", sqrt] if sqrt != "ieee" else []
    argv += ["--contract", contract] if contract != "off" else []
    argv += ["--debug", debug] if debug != "line" else []
    argv += ["--inline-threshold", inline_threshold] if inline_threshold else []
    argv += [] if unroll else ["--no-unroll"]
    argv += [] if vectorize else ["--no-vectorize"]
    argv += ["--llvm-option=" + option for option in llvm_options]
    argv += ["--remarks", remarks] if remarks else []
    argv += ["--time-trace", time_trace] if time_trace else []
    return argv + options + [linked]

def assemble_argv(
        tools,
        arch,
        ptx,
        output,
        report,
        options = [],
        budgets = [],
        relocatable = False,
        partial = False):
    """ASSEMBLE: PTX to a cubin and its resource report.

    Args:
      tools: see the head of this file.
      arch: a real architecture, such as "sm_90a".
      ptx: path of the PTX.
      output: path of the cubin.
      report: path of the resource report.
      options: options for ptxas.
      budgets: limits such as "max_registers=64" or "kernel:max_stack=0".
      relocatable: whether the cubin is an input of NVLINK.
      partial: whether the PTX is a partition's, so that budgets may name kernels of others.

    Returns:
      The argv.
    """
    argv = tools.step + [
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
    ] + ["--ptxas-option=" + option for option in options] + _flag_each("--budget", budgets)
    argv += ["--relocatable"] if relocatable else []
    argv += ["--partial"] if partial else []
    return argv + [ptx]

def nvlink_argv(tools, arch, cubins, output):
    """NVLINK: relocatable cubins of one arch to one cubin."""
    return tools.step + ["nvlink", "--arch", arch, "--nvlink", tools.nvlink, "--output", output] + cubins

def abi_check_argv(tools, manifest, link_reports, images, assemble_reports, report):
    """ABICHECK: every image against the manifest; writes the target's report when all agree.

    Args:
      tools: see the head of this file.
      manifest: path of the ABI manifest.
      link_reports: paths of LINK's reports: one, or one for each partition of the image.
      images: list of (arch, path of PTX or cubin).
      assemble_reports: list of (arch, path); several of an arch for an image of partitions.
      report: path of the target's report.

    Returns:
      The argv.
    """
    argv = tools.step + ["abi-check", "--manifest", manifest]
    argv += _flag_each("--link-report", link_reports)
    argv += ["--report", report]
    argv += _flag_each("--assemble-report", [arch + "=" + path for arch, path in assemble_reports])
    return argv + [arch + "=" + path for arch, path in images]

def pack_argv(tools, images, output, compress = "balanced", allow = [], deny = [], options = []):
    """PACK: images to one fatbin.

    Args:
      tools: see the head of this file.
      images: list of (arch, path).
      output: path of the fatbin.
      compress: mode of compression.
      allow: names of checks that are silenced.
      deny: names of checks whose warnings are errors.
      options: further options.

    Returns:
      The argv.
    """
    argv = tools.step + ["pack", "-o", output, "--compress", compress]
    argv = argv + _flag_each("--allow", allow) + _flag_each("--deny", deny) + options
    return argv + [arch + "=" + path for arch, path in images]

def embed_argv(tools, fatbin, output, host, symbol, options = []):
    """EMBED: a fatbin to a host ELF object."""
    return tools.step + ["embed", fatbin, "-o", output, "--host", host, "--symbol", symbol] + options

def bindings_argv(tools, fatbin, manifest, symbol, header, options = []):
    """EMBED: the C/C++ header that goes with the host objects."""
    return tools.step + ["embed", fatbin, "--manifest", manifest, "--symbol", symbol, "--header", header] + options

def embed_parts_argv(tools, parts, manifest, output, host, symbol):
    """EMBED: the fatbins of a target's partitions to one host ELF object.

    Args:
      tools: see the head of this file.
      parts: list of (partition, path of its fatbin).
      manifest: path of the combined manifest.
      output: path of the object.
      host: machine of the object.
      symbol: prefix of its symbols, before the partition's name.

    Returns:
      The argv.
    """
    argv = tools.step + ["embed", "-o", output, "--host", host, "--symbol", symbol, "--manifest", manifest]
    return argv + _flag_each("--part", [part + "=" + path for part, path in parts])

def bindings_parts_argv(tools, parts, manifest, symbol, header):
    """EMBED: the C/C++ header that goes with the host objects of `embed_parts_argv`."""
    argv = tools.step + ["embed", "--manifest", manifest, "--symbol", symbol, "--header", header]
    return argv + _flag_each("--part", [part + "=" + path for part, path in parts])
