"""Bitcode to PTX for two SMs with the libLLVM engine, against LLVM's own tools."""

from __future__ import annotations

from bench import harness, link_vs_llvm_tools


def run() -> harness.Result:
    return link_vs_llvm_tools.measure("libllvm")


BENCH = harness.Bench(
    "link-vs-llvm-tools-libllvm",
    "ratio",
    0.9,
    "as link-vs-llvm-tools, with the engine on rustc's own libLLVM",
    run,
)
