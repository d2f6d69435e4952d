//! Questions about the architecture that code is generated for.
//!
//! Crates are compiled once for all architectures; the linker answers these questions per
//! architecture and removes the branches not taken, at every optimisation level.

use crate::primitives::{__fc_arch, __fc_has};

/// A hardware feature. The numbers are a contract with the table in `toolchain/arch.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Feature {
    /// `add`, `mul` and `fma` on `f16`.
    F16Arithmetic = 0,
    /// `dp4a` and `dp2a`.
    DotProduct4 = 1,
    /// `ldmatrix`.
    LdMatrix = 2,
    /// `cp.async`, other than bulk copies.
    CpAsync = 3,
    /// `fma.rn.bf16`.
    Bf16Arithmetic = 4,
    /// `mbarrier` objects.
    MBarrier = 5,
    /// `redux.sync` on integers.
    ReduxSync = 6,
    /// `cvt` to and from `e4m3` and `e5m2`.
    Fp8Convert = 7,
    /// Thread block clusters and distributed shared memory.
    Cluster = 8,
    /// `cp.async.bulk` and tensor copies (TMA).
    BulkCopy = 9,
    /// `elect.sync`.
    ElectSync = 10,
    /// `griddepcontrol`.
    GridDependencyControl = 11,
    /// `stmatrix`.
    StMatrix = 12,
    /// `wgmma.mma_async`: `sm_90a` alone.
    Wgmma = 13,
    /// `setmaxnreg`.
    SetMaxNReg = 14,
    /// `tcgen05.*`, the fifth-generation tensor core.
    Tcgen05 = 15,
    /// `add`, `mul` and `fma` on `f32x2`.
    PackedF32 = 16,
}

/// Whether the code at hand may use `feature`. A constant once the architecture is known;
/// false on the CPU.
#[inline(always)]
#[must_use]
pub fn has(feature: Feature) -> bool {
    __fc_has(feature as u32)
}

/// The compute capability times ten: 900 for both `sm_90` and `sm_90a`, 1210 for `sm_121`.
/// 0 on the CPU. Prefer [`has`]: a higher number does not imply an older chip's
/// architecture-specific instructions.
#[inline(always)]
#[must_use]
pub fn arch() -> u32 {
    __fc_arch()
}
