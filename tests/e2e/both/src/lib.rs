//! Kernels of the crate `kern`.
#![no_std]

mod deep;

/// # Safety
/// `data` points to as many elements as there are threads, and at least one.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn scale(data: *mut u32) {
    let i = gpu::global_x();
    // SAFETY: each thread has its own element.
    unsafe { *data.add(i) = maths::apply(deep::factor(i) * *data.add(i)) };
}

/// # Safety
/// `line` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn where_am_i(line: *mut u32) {
    let place = core::panic::Location::caller();
    // SAFETY: by contract.
    unsafe { *line = place.line() + place.file().len() as u32 + env!("GREETING").len() as u32 };
}
