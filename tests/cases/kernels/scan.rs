//! Exclusive scans of arrays of any length: of blocks, then of their totals, then together.
#![no_std]

use blockscan::exclusive;
use gpu::Shared;
use monoid::{Affine, Largest, Monoid, Sum};

/// The most threads of a block.
const BLOCK: usize = 256;

/// Scans each block's `block_size()` elements, and keeps its total.
///
/// # Safety
/// `x` and `y` point to `n` elements, `totals` to one per block.
#[inline(always)]
unsafe fn blocks<M: Monoid>(
    tile: Shared<[M; BLOCK]>,
    x: *const M,
    y: *mut M,
    totals: *mut M,
    n: usize,
) {
    let i = gpu::global_rank();
    // SAFETY: `i < n` where it counts.
    unsafe {
        let own = if i < n { x.add(i).read() } else { M::NEUTRAL };
        let (before, total) = exclusive(tile, own);
        if i < n {
            y.add(i).write(before);
        }
        if gpu::thread_rank() == 0 {
            totals.add(gpu::block_rank()).write(total);
        }
    }
}

/// Puts what stands before a block before each of its elements.
///
/// # Safety
/// As for [`blocks`].
#[inline(always)]
unsafe fn shift<M: Monoid>(y: *mut M, offsets: *const M, n: usize) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: `i < n`.
        unsafe {
            y.add(i)
                .write(offsets.add(gpu::block_rank()).read().then(y.add(i).read()))
        };
    }
}

macro_rules! kernels {
    ($($blocks:ident, $shift:ident: $type:ty;)*) => {
        $(
            /// Scans each block.
            ///
            /// # Safety
            /// `x` and `y` point to `n` elements, `totals` to one per block.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $blocks(
                x: *const $type,
                y: *mut $type,
                totals: *mut $type,
                n: usize,
            ) {
                let tile = gpu::shared!([$type; BLOCK]);
                // SAFETY: the caller vouches for the buffers.
                unsafe { blocks(tile, x, y, totals, n) }
            }

            /// Adds the scan of the totals.
            ///
            /// # Safety
            /// `y` points to `n` elements, `offsets` to one per block.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $shift(y: *mut $type, offsets: *const $type, n: usize) {
                // SAFETY: the caller vouches for the buffers.
                unsafe { shift(y, offsets, n) }
            }
        )*
    };
}

kernels! {
    scan_sum, shift_sum: Sum;
    scan_largest, shift_largest: Largest;
    scan_affine, shift_affine: Affine;
    scan_both, shift_both: (Sum, (Affine, Affine));
}
