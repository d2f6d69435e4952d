//! A module, for the target that has one.

/// # Safety
/// Does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn second() {}
