//! Reductions of slices, one result per block.
//!
//! Every kernel takes slices as pointer and length, and writes `out[block]`; `out` has one
//! element per block of the grid. Blocks have at most [`BLOCK`] threads.
#![no_std]

use core::slice;

use gpu::Float;
use reduction::{Max, Sum};

/// The most threads that a block may have.
const BLOCK: usize = 256;

/// Writes the block's result, once. Panics if `out` is too short.
///
/// # Safety
/// `out` points to `blocks` elements.
#[inline]
unsafe fn store(out: *mut f32, blocks: usize, result: f32) {
    if gpu::thread_rank() == 0 {
        assert!(gpu::block_rank() < blocks);
        // SAFETY: in bounds, and no other block writes this element.
        unsafe { out.add(gpu::block_rank()).write(result) };
    }
}

/// The sum of the elements.
///
/// # Safety
/// `x` points to `n` elements and `out` to `blocks`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn sum(x: *const f32, n: usize, out: *mut f32, blocks: usize) {
    let tile = gpu::shared!([f32; BLOCK]);
    // SAFETY: the caller vouches for the buffers; all threads of the block are here.
    unsafe {
        let x = slice::from_raw_parts(x, n);
        let own = reduction::fold::<Sum, f32>(slices::mine(x));
        let result = reduction::block::<Sum, _, BLOCK>(tile, own);
        store(out, blocks, result);
    }
}

/// The largest element; negative infinity if a block has none.
///
/// # Safety
/// As for [`sum`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn max(x: *const f32, n: usize, out: *mut f32, blocks: usize) {
    let tile = gpu::shared!([f32; BLOCK]);
    // SAFETY: as in `sum`.
    unsafe {
        let x = slice::from_raw_parts(x, n);
        let own = reduction::fold::<Max, f32>(slices::mine(x));
        let result = reduction::block::<Max, _, BLOCK>(tile, own);
        store(out, blocks, result);
    }
}

/// The inner product in double precision, to single precision at the end.
///
/// # Safety
/// `x` and `y` point to `n` elements and `out` to `blocks`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn dot(
    x: *const f32,
    y: *const f32,
    n: usize,
    out: *mut f32,
    blocks: usize,
) {
    let tile = gpu::shared!([f64; BLOCK]);
    // SAFETY: as in `sum`.
    unsafe {
        let (x, y) = (slice::from_raw_parts(x, n), slice::from_raw_parts(y, n));
        let products = slices::mine(x).zip(slices::mine(y));
        let own = products.map(|(x, y)| f64::from(x) * f64::from(y));
        let own = reduction::fold::<Sum, f64>(own);
        let result = reduction::block::<Sum, _, BLOCK>(tile, own);
        store(out, blocks, result as f32);
    }
}

/// The logarithm of the sum of the exponentials, without overflow: two reductions in one tile.
///
/// # Safety
/// As for [`sum`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn log_sum_exp(
    x: *const f32,
    n: usize,
    out: *mut f32,
    blocks: usize,
) {
    let tile = gpu::shared!([f32; BLOCK]);
    // SAFETY: as in `sum`.
    unsafe {
        let x = slice::from_raw_parts(x, n);
        let own = reduction::fold::<Max, f32>(slices::mine(x));
        let largest = reduction::block::<Max, _, BLOCK>(tile, own);
        let own = slices::mine(x).map(|x| (x - largest).exp());
        let own = reduction::fold::<Sum, f32>(own);
        let total = reduction::block::<Sum, _, BLOCK>(tile, own);
        store(out, blocks, largest + total.ln());
    }
}

/// Divides each element by the square root of the sum of `squares`, in place.
///
/// # Safety
/// `x` points to `n` elements and `squares` to `count`; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn normalize(
    x: *mut f32,
    n: usize,
    squares: *const f32,
    count: usize,
) {
    // SAFETY: the caller vouches for the buffers; each thread has its own element of `x`.
    unsafe {
        let squares = slice::from_raw_parts(squares, count);
        let length = squares.iter().sum::<f32>().sqrt();
        let i = gpu::global_rank();
        if i < n {
            *x.add(i) /= length;
        }
    }
}
