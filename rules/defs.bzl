"""Rules for Rust GPU kernels; see docs/bazel.md."""

load("//rules:providers.bzl", _GpuCrateInfo = "GpuCrateInfo", _GpuKernelsInfo = "GpuKernelsInfo")
load("//rules/private:build_script.bzl", _gpu_rust_build_script = "gpu_rust_build_script")
load("//rules/private:kernels.bzl", _gpu_kernels = "gpu_kernels")
load("//rules/private:library.bzl", _gpu_rust_library = "gpu_rust_library")
load("//rules/private:proc_macro.bzl", _gpu_rust_proc_macro = "gpu_rust_proc_macro")

GpuCrateInfo = _GpuCrateInfo
GpuKernelsInfo = _GpuKernelsInfo
gpu_kernels = _gpu_kernels
gpu_rust_build_script = _gpu_rust_build_script
gpu_rust_library = _gpu_rust_library
gpu_rust_proc_macro = _gpu_rust_proc_macro
