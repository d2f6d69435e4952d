//! Every crate under test; those with kernels set the feature `one` or the cfg `kernel`.
#![no_std]

#[cfg(feature = "one")]
mod module;

/// # Safety
/// Does nothing.
#[cfg(any(feature = "one", kernel))]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn first() {}
