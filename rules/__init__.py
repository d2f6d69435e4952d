"""Build rules: Bazel (``*.bzl``), Ninja, and the root command line."""
