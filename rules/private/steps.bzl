"""Running the steps: the argv comes from `recipe.bzl`, the inputs from the toolchain."""

load("//rules:compat.bzl", "label_string", "run_options")

# For `rule(toolchains = …)`.
TOOLCHAIN_TYPE = label_string("//toolchain:toolchain_type")

_TOOLCHAIN_LABEL = Label("//toolchain:toolchain_type")

def gpu_toolchain(ctx):
    """The resolved toolchain of a rule that names `TOOLCHAIN_TYPE`.

    Args:
      ctx: context of the rule.

    Returns:
      GpuToolchainInfo.
    """
    return ctx.toolchains[_TOOLCHAIN_LABEL].gpu

def run_step(ctx, step, argv, inputs, outputs, message):
    """Declares the action of one step.

    Args:
      ctx: context of the rule.
      step: name of the step, a key of the toolchain's `step_inputs`.
      argv: what the recipe says.
      inputs: depset of Files, the step's own inputs.
      outputs: list of Files.
      message: what is done, for the progress line; `%s` stands for the target's label.
    """
    toolchain = gpu_toolchain(ctx)
    ctx.actions.run(
        executable = toolchain.python,
        arguments = argv[1:],
        inputs = depset(transitive = [inputs, toolchain.step_inputs[step]]),
        outputs = outputs,
        mnemonic = "Gpu" + "".join([word.capitalize() for word in step.split("-")]),
        progress_message = message % ctx.label,
        # The steps set what the tools that they start see; they themselves read nothing.
        env = {},
        **run_options(_TOOLCHAIN_LABEL)
    )
