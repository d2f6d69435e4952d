"""Bazel's built-in C++ symbols under other names: a file cannot rename one to itself."""

builtin_cc_common = cc_common  # buildifier: disable=native-cc-common
builtin_cc_info = CcInfo  # buildifier: disable=native-cc-info
