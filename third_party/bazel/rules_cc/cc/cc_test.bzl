"""`cc_test`, as newer rules_cc spells its place."""

load(":defs.bzl", _cc_test = "cc_test")

cc_test = _cc_test
