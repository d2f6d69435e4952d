//! A crate with a kernel and without dependencies.
#![no_std]

/// # Safety
/// `to` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn alone(to: *mut u32) {
    // SAFETY: by contract.
    unsafe { *to = 42 };
}
