//! The kernel crate: `y = a x + y`, one thread per element.
#![no_std]

use vecops::{Input, Output};

/// # Safety
/// `x` and `y` point to `n` elements each and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    // SAFETY: the caller vouches for the buffers; each thread asks for its own element alone.
    let (x, y) = unsafe { (Input::new(x, n as usize), Output::new(y, n as usize)) };
    mathlib::axpy(gpu::global_x(), a, x, y);
}
