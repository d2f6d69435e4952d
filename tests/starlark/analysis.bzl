"""Tests of what the rules declare: argv, outputs, providers, failures. Nothing is built.

Expectations name outputs without their configuration: `OUT` stands for `bazel-out/…/bin`.
"""

load("//rules:providers.bzl", "GpuCrateInfo", "GpuKernelsInfo")

_ActionsInfo = provider(
    doc = "What a target under test declares.",
    fields = {"actions": "list of Action"},
)

def _actions_aspect_impl(target, ctx):
    _ignore = ctx  # buildifier: disable=unused-variable
    return [_ActionsInfo(actions = target.actions)]

_actions_aspect = aspect(
    implementation = _actions_aspect_impl,
    doc = "Shows a target's actions to the test.",
)

def _verdict(faults):
    return [AnalysisTestResultInfo(success = not faults, message = "\n".join(faults))]

def _without_configuration(text):
    """`OUT/pkg/file` for `bazel-out/k8-opt/bin/pkg/file`, wherever it stands in `text`."""
    parts = text.split("bazel-out/")
    return parts[0] + "".join(["OUT/" + part.partition("/bin/")[2] for part in parts[1:]])

def _has_run(argv, run):
    """Whether the words of `run` stand in `argv` one after the other."""
    for start in range(len(argv) - len(run) + 1):
        if argv[start:start + len(run)] == run:
            return True
    return False

def _actions(ctx):
    return [
        action
        for action in ctx.attr.target[_ActionsInfo].actions
        if action.mnemonic == ctx.attr.mnemonic and
           [f for f in action.outputs.to_list() if f.short_path.endswith(ctx.attr.output)]
    ]

def _argv_test_impl(ctx):
    found = _actions(ctx)
    if len(found) != 1:
        return _verdict(["{} has {} {} actions for '{}', not one".format(
            ctx.attr.target.label,
            len(found),
            ctx.attr.mnemonic,
            ctx.attr.output,
        )])
    argv = [_without_configuration(word) for word in found[0].argv]
    faults = []
    for run in ctx.attr.has:
        if not _has_run(argv, run.split(" ")):
            faults.append("lacks: " + run)
    for word in ctx.attr.lacks:
        if [a for a in argv if word in a]:
            faults.append("has: " + word)
    if ctx.attr.ends and argv[-len(ctx.attr.ends):] != ctx.attr.ends:
        faults.append("does not end with: " + " ".join(ctx.attr.ends))
    if found[0].env:
        faults.append("has an environment: " + repr(found[0].env))
    return _verdict(faults + (["argv: " + " ".join(argv)] if faults else []))

argv_test = rule(
    implementation = _argv_test_impl,
    doc = "The argv of one action of a target.",
    attrs = {
        "ends": attr.string_list(doc = "The last words."),
        "has": attr.string_list(doc = "Runs of words, separated by single spaces, that stand in it."),
        "lacks": attr.string_list(doc = "Texts that stand in no word."),
        "mnemonic": attr.string(doc = "The action's mnemonic.", mandatory = True),
        "output": attr.string(doc = "How the path of one of its outputs ends."),
        "target": attr.label(doc = "The target.", mandatory = True, aspects = [_actions_aspect]),
    },
    analysis_test = True,
)

def _outputs_test_impl(ctx):
    target = ctx.attr.target
    if ctx.attr.group:
        if ctx.attr.group not in target[OutputGroupInfo]:
            return _verdict(["there is no output group " + ctx.attr.group])
        files = target[OutputGroupInfo][ctx.attr.group]
    else:
        files = target[DefaultInfo].files
    found = sorted([file.short_path for file in files.to_list()])
    expected = sorted([ctx.label.package + "/" + name for name in ctx.attr.files])
    if found == expected:
        return _verdict([])
    return _verdict(["found: " + ", ".join(found), "expected: " + ", ".join(expected)])

outputs_test = rule(
    implementation = _outputs_test_impl,
    doc = "The files of a target, or of one of its output groups.",
    attrs = {
        "files": attr.string_list(doc = "Their paths below the package."),
        "group": attr.string(doc = "The output group; the default outputs where empty."),
        "target": attr.label(doc = "The target.", mandatory = True),
    },
    analysis_test = True,
)

def _failure_test_impl(ctx):
    target = ctx.attr.target[0]  # a list, for it has a transition
    if AnalysisFailureInfo not in target:
        return _verdict(["{} did not fail".format(target.label)])
    text = "\n".join([cause.message for cause in target[AnalysisFailureInfo].causes.to_list()])
    faults = ["the message lacks: " + part for part in ctx.attr.message if part not in text]
    return _verdict(faults + (["message: " + text] if faults else []))

failure_test = rule(
    implementation = _failure_test_impl,
    doc = "A target that must fail, and what the message must say.",
    attrs = {
        "message": attr.string_list(doc = "Parts of the message."),
        "target": attr.label(
            doc = "The target.",
            mandatory = True,
            cfg = analysis_test_transition(settings = {
                "//command_line_option:allow_analysis_failures": "True",
            }),
        ),
    },
    analysis_test = True,
)

def _crate_test_impl(ctx):
    crate = ctx.attr.target[GpuCrateInfo]
    faults = []
    names = [c.name for c in crate.crates.to_list()]
    if names != ctx.attr.crates:
        faults.append("crates are " + ", ".join(names))
    if crate.crate_name != ctx.attr.crate_name:
        faults.append("crate_name is " + crate.crate_name)
    if crate.panic != ctx.attr.panic:
        faults.append("panic is " + crate.panic)
    return _verdict(faults)

crate_test = rule(
    implementation = _crate_test_impl,
    doc = "GpuCrateInfo of a target.",
    attrs = {
        "crate_name": attr.string(doc = "The crate's name."),
        "crates": attr.string_list(doc = "Names of the crates of its closure, in order."),
        "panic": attr.string(doc = "The panic strategy.", default = "immediate-abort"),
        "target": attr.label(doc = "The target.", mandatory = True, providers = [GpuCrateInfo]),
    },
    analysis_test = True,
)

def _kernels_test_impl(ctx):
    kernels = ctx.attr.target[GpuKernelsInfo]
    faults = []
    for field, found in [
        ("archs", kernels.archs),
        ("cubins", kernels.cubins.keys()),
        ("ptx", kernels.ptx.keys()),
        ("hosts", kernels.objects.keys()),
        ("symbol", kernels.symbol),
    ]:
        if found != getattr(ctx.attr, field):
            faults.append(field + " is " + repr(found))
    return _verdict(faults)

kernels_test = rule(
    implementation = _kernels_test_impl,
    doc = "GpuKernelsInfo of a target.",
    attrs = {
        "archs": attr.string_list(doc = "Names of the archs, in order."),
        "cubins": attr.string_list(doc = "Those that have a cubin."),
        "hosts": attr.string_list(doc = "Hosts that have an object."),
        "ptx": attr.string_list(doc = "Archs that have PTX."),
        "symbol": attr.string(doc = "Prefix of the symbols."),
        "target": attr.label(doc = "The target.", mandatory = True, providers = [GpuKernelsInfo]),
    },
    analysis_test = True,
)

def _one_configuration_test_impl(ctx):
    places = {target.label: _places(target) for target in ctx.attr.targets}
    seen = {}
    for label, paths in places.items():
        for short, path in paths:
            if seen.setdefault(short, path) != path:
                return _verdict(["{} is made twice: {} and {} (seen from {})".format(short, seen[short], path, label)])
    return _verdict([] if seen else ["the targets have no crates"])

def _places(target):
    """(path without, path with configuration) of every rlib that a target is made of."""
    files = [crate.rlib for crate in target[GpuCrateInfo].crates.to_list()] if GpuCrateInfo in target else []
    if _ActionsInfo in target:
        for action in target[_ActionsInfo].actions:
            if action.mnemonic == "GpuLink":
                files = files + [f for f in action.inputs.to_list() if f.extension == "rlib"]
    return [(file.short_path, file.path) for file in files]

one_configuration_test = rule(
    implementation = _one_configuration_test_impl,
    doc = "No crate, the sysroot's included, is made in two configurations for these targets.",
    attrs = {
        "targets": attr.label_list(doc = "Crates and kernels.", mandatory = True, aspects = [_actions_aspect]),
    },
    analysis_test = True,
)
