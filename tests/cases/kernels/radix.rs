//! One pass of a stable radix sort: count digits per block, scan, scatter.
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use blockscan::exclusive;
use gpu::Shared;
use keys::Key;
use monoid::{Monoid, Sum};

/// Bits of a digit.
const WIDTH: u32 = 4;
const DIGITS: usize = 1 << WIDTH;
/// The most threads of a block.
const BLOCK: usize = 128;

/// Counts the digits of a block's keys in shared memory; counts are ordered by digit, then
/// block.
///
/// # Safety
/// `keys` points to `n` keys, `counts` to `DIGITS` numbers per block.
#[inline(always)]
unsafe fn count<K: Key>(
    bins: Shared<[AtomicU32; DIGITS]>,
    keys: *const K,
    n: usize,
    shift: u32,
    counts: *mut u32,
) {
    // SAFETY: the bins are atomic; `i < n`.
    unsafe {
        let bins = bins.as_ptr();
        let mut digit = gpu::thread_rank() as usize;
        while digit < DIGITS {
            (*bins)[digit].store(0, Relaxed);
            digit += gpu::block_size() as usize;
        }
        gpu::barrier();
        let i = gpu::global_rank();
        if i < n {
            (*bins)[(*keys.add(i)).digit(shift, WIDTH)].fetch_add(1, Relaxed);
        }
        gpu::barrier();
        let mut digit = gpu::thread_rank() as usize;
        while digit < DIGITS {
            let place = digit * gpu::grid_size() as usize + gpu::block_rank();
            counts.add(place).write((*bins)[digit].load(Relaxed));
            digit += gpu::block_size() as usize;
        }
    }
}

/// Scans an array of any length with a single block.
///
/// # Safety
/// `counts` points to `n` numbers; there is one block.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn offsets(counts: *mut Sum, n: usize) {
    let tile = gpu::shared!([Sum; BLOCK]);
    assert!(gpu::grid_size() == 1);
    let mut carried = Sum::NEUTRAL;
    let mut start = 0;
    while start < n {
        let i = start + gpu::thread_rank() as usize;
        // SAFETY: `i < n` where it counts; the whole block is here.
        unsafe {
            let own = if i < n {
                counts.add(i).read()
            } else {
                Sum::NEUTRAL
            };
            let (before, total) = exclusive(tile, own);
            if i < n {
                counts.add(i).write(carried.then(before));
            }
            carried = carried.then(total);
        }
        start += gpu::block_size() as usize;
    }
}

/// Puts each key where its digit begins, after equal digits that came before it.
///
/// # Safety
/// `from` and `to` point to `n` keys, `offsets` to `DIGITS` numbers per block.
#[inline(always)]
unsafe fn scatter<K: Key>(
    digits: Shared<[u8; BLOCK]>,
    from: *const K,
    to: *mut K,
    n: usize,
    shift: u32,
    offsets: *const u32,
) {
    let (i, rank) = (gpu::global_rank(), gpu::thread_rank() as usize);
    // SAFETY: `i < n` where it counts.
    unsafe {
        let key = (i < n).then(|| from.add(i).read());
        let digit = key.map(|key| key.digit(shift, WIDTH));
        digits.write(rank, digit.map_or(u8::MAX, |digit| digit as u8));
        gpu::barrier();
        if let (Some(key), Some(digit)) = (key, digit) {
            let earlier = &(&*digits.as_ptr())[..rank];
            let equal = earlier
                .iter()
                .filter(|&&other| usize::from(other) == digit)
                .count();
            let start = *offsets.add(digit * gpu::grid_size() as usize + gpu::block_rank());
            let place = start as usize + equal;
            assert!(place < n);
            to.add(place).write(key);
        }
    }
}

macro_rules! kernels {
    ($($count:ident, $scatter:ident: $type:ty;)*) => {
        $(
            /// Counts one digit.
            ///
            /// # Safety
            /// `keys` points to `n` keys, `counts` to 16 numbers per block.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $count(
                keys: *const $type,
                n: usize,
                shift: u32,
                counts: *mut u32,
            ) {
                let bins = gpu::shared!([AtomicU32; DIGITS]);
                // SAFETY: the caller vouches for the buffers.
                unsafe { count(bins, keys, n, shift, counts) }
            }

            /// Sorts by one digit.
            ///
            /// # Safety
            /// `from` and `to` point to `n` keys, `offsets` to 16 numbers per block.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $scatter(
                from: *const $type,
                to: *mut $type,
                n: usize,
                shift: u32,
                offsets: *const u32,
            ) {
                let digits = gpu::shared!([u8; BLOCK]);
                // SAFETY: the caller vouches for the buffers.
                unsafe { scatter(digits, from, to, n, shift, offsets) }
            }
        )*
    };
}

kernels! {
    count_u32, scatter_u32: u32;
    count_i32, scatter_i32: i32;
    count_f32, scatter_f32: f32;
    count_i64, scatter_i64: i64;
    count_f64, scatter_f64: f64;
    count_i8, scatter_i8: i8;
}
