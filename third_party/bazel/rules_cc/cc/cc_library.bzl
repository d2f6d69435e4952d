"""`cc_library`, as newer rules_cc spells its place."""

load(":defs.bzl", _cc_library = "cc_library")

cc_library = _cc_library
