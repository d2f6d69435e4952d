"""`cc_binary`, as newer rules_cc spells its place."""

load(":defs.bzl", _cc_binary = "cc_binary")

cc_binary = _cc_binary
