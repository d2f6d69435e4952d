"""Finding the C++ toolchain, under the path of rules_cc."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

find_cc_toolchain = find_cpp_toolchain

def use_cc_toolchain(mandatory = False):
    """For `rule(toolchains = …)`.

    Args:
      mandatory: has no meaning in the releases that this file is for.

    Returns:
      A list of toolchain types.
    """
    _ignore = mandatory  # buildifier: disable=unused-variable
    return ["@bazel_tools//tools/cpp:toolchain_type"]
