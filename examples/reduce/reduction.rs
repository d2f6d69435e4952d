//! Reductions over a block: generic over the element, the operation and the block's size.
#![no_std]

use gpu::{Float, Shared};

/// An associative operation with a neutral element.
pub trait Operation<T> {
    /// Combining it with a value gives the value.
    const NEUTRAL: T;

    /// The combination of two values.
    fn combine(a: T, b: T) -> T;
}

/// The sum.
pub enum Sum {}

impl<T: Float> Operation<T> for Sum {
    const NEUTRAL: T = T::ZERO;

    #[inline]
    fn combine(a: T, b: T) -> T {
        a + b
    }
}

/// The largest value.
pub enum Max {}

impl<T: Float> Operation<T> for Max {
    const NEUTRAL: T = T::NEG_INFINITY;

    #[inline]
    fn combine(a: T, b: T) -> T {
        a.max(b)
    }
}

/// One thread's values, combined in order.
#[inline]
pub fn fold<O: Operation<T>, T>(values: impl Iterator<Item = T>) -> T {
    values.fold(O::NEUTRAL, O::combine)
}

/// Combines one value of each thread of the block; every thread gets the result.
///
/// The block has at most `N` threads (else this panics), any number of them. `tile` is free
/// for other use afterwards.
///
/// # Safety
/// All threads of the block call this together, with the same tile, and none of them uses the
/// tile between the last barrier and the call.
#[inline]
pub unsafe fn block<O: Operation<T>, T: Float, const N: usize>(
    tile: Shared<[T; N]>,
    value: T,
) -> T {
    let rank = gpu::thread_rank() as usize;
    let mut width = gpu::block_size() as usize;
    // SAFETY: a thread writes only the element of its own rank, and reads others that were
    // written before the last barrier and are not written before the next.
    unsafe {
        tile.write(rank, value);
        gpu::barrier();
        while width > 1 {
            let half = width.div_ceil(2);
            if rank < width - half {
                tile.write(rank, O::combine(tile.read(rank), tile.read(rank + half)));
            }
            gpu::barrier();
            width = half;
        }
        let result = tile.read(0);
        gpu::barrier();
        result
    }
}
