//! Kernels.
#![no_std]

/// `y = a * x + y`, one element for each thread.
///
/// # Safety
/// `x` and `y` hold `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = gpu::global_x();
    if i < n as usize {
        // SAFETY: `i < n`, and each thread has its own element.
        unsafe { *y.add(i) += a * *x.add(i) };
    }
}
