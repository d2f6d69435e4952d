"""The built-in `CcInfo` under the path of rules_cc."""

load(":builtin.bzl", "builtin_cc_info")

CcInfo = builtin_cc_info
