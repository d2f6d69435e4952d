"""Names that cross a language or package border. Each has one owner: this file.

Rust (``toolchain/device``) and Starlark (``rules/private``) hold copies; tests in
``tests/tidy`` compare them with the values here.

Contract between the device library and LINK
--------------------------------------------
* Hardware primitives are ``extern "C"`` functions ``__fc_*`` (:data:`PRIMITIVE_PREFIX`),
  declared in the device library, defined by LINK from ``lto/backends/<back end>.ll``.
* ``fn __fc_arch() -> u32`` and ``fn __fc_has(feature: u32) -> bool`` (an LLVM ``i1
  zeroext``) stay undefined in the linked module and are defined by CODEGEN for its arch.
  ``__fc_arch`` is the compute capability times ten (900 for sm_90 and sm_90a, 1210).
* Static shared memory: each use of ``shared!`` makes a function ``symbol() -> *mut u8``
  and a ``#[used]`` static in section :data:`META_SECTION` with this ``#[repr(C)]`` layout
  (little endian)::

      struct SharedRecord { symbol: unsafe extern "C" fn() -> *mut u8, size: u64, align: u64 }

  LINK makes ``<symbol>.mem`` (internal, address space 3, undef, that size and alignment),
  defines ``symbol`` to return its generic address, and drops the record. The record alone
  tells which functions these are. ``shared!`` gives ``symbol`` rustc's own mangled name
  (crate, module, function, counter: unique even between two versions of one crate) and a
  *weak* body that returns null, which LINK's strong definition replaces; a hand-written
  declaration without a body, by custom named ``__fc_shared_<...>``, serves as well.
* ``fn __fc_dynamic_shared() -> *mut u8``: the start of dynamic shared memory, from one
  ``external addrspace(3) global [0 x i8], align 16``.
"""

from __future__ import annotations

NVPTX_TRIPLE = "nvptx64-nvidia-cuda"
AMDGPU_TRIPLE = "amdgcn-amd-amdhsa"

PRIMITIVE_PREFIX = "__fc_"
ARCH_QUERY = "__fc_arch"
FEATURE_QUERY = "__fc_has"
SHARED_PREFIX = "__fc_shared_"
DYNAMIC_SHARED = "__fc_dynamic_shared"
META_SECTION = ".fatcrate.meta"

#: LLVM calling conventions of kernels (llvm/IR/CallingConv.h, LLVM 22).
CC_PTX_KERNEL = 71
CC_AMDGPU_KERNEL = 91

DEVICE_CRATE = "gpu"
SYSROOT_CRATES = ("core", "compiler_builtins", "alloc")
PANIC_STRATEGIES = ("immediate-abort", "abort")

#: Host ELF sections (facts measured from nvcc 13.5 and clang -x hip).
NV_FATBIN_SECTION = ".nv_fatbin"
NV_FATBIN_WRAPPER_SECTION = ".nvFatBinSegment"
HIP_FATBIN_SECTION = ".hip_fatbin"
HIP_FATBIN_WRAPPER_SECTION = ".hipFatBinSegment"

HOSTS = ("x86_64", "aarch64")
