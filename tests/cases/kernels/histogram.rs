//! Histograms with atomics in shared and in global memory.
#![no_std]

use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use gpu::Shared;
use keys::Key;

/// Bins.
const BINS: usize = 256;

/// Counts the top eight bits of the keys.
///
/// # Safety
/// `keys` points to `n` keys, `bins` to 256 counters.
#[inline(always)]
unsafe fn count<K: Key>(own: Shared<[AtomicU32; BINS]>, keys: *const K, n: usize, bins: *mut u32) {
    let (rank, size) = (gpu::thread_rank() as usize, gpu::block_size() as usize);
    // SAFETY: the counters are atomic.
    unsafe {
        let own = own.as_ptr();
        for i in (rank..BINS).step_by(size) {
            (&raw mut (*own)[i]).write(AtomicU32::new(0));
        }
        gpu::barrier();
        let own = &*own;
        for i in slices::mine(n) {
            own[(*keys.add(i)).digit(K::BITS - 8, 8)].fetch_add(1, Ordering::Relaxed);
        }
        gpu::barrier();
        for i in (rank..BINS).step_by(size) {
            let count = own[i].load(Ordering::Acquire);
            if count != 0 {
                AtomicU32::from_ptr(bins.add(i)).fetch_add(count, Ordering::AcqRel);
            }
        }
    }
}

macro_rules! kernels {
    ($($name:ident: $type:ty;)*) => {
        $(
            /// Adds the counts of top bytes to `bins`.
            ///
            /// # Safety
            /// `keys` points to `n` keys, `bins` to 256 counters.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $name(
                keys: *const $type,
                n: usize,
                bins: *mut u32,
            ) {
                let own = gpu::shared!([AtomicU32; BINS]);
                // SAFETY: the caller vouches for the buffers.
                unsafe { count(own, keys, n, bins) }
            }
        )*
    };
}

kernels! {
    bytes: u8;
    halves: u16;
    words: i32;
    longs: u64;
    floats: f32;
}

/// Counts, sum, least, largest, and, or, xor of numbers, and how many are new largest ones.
#[repr(C)]
pub struct Facts {
    sum: AtomicU64,
    least: AtomicI32,
    largest: AtomicI32,
    all: AtomicU32,
    any: AtomicU32,
    odd: AtomicU32,
    product: AtomicU32,
}

/// Gathers facts; the product by compare and exchange.
///
/// # Safety
/// `x` points to `n` numbers, `facts` to [`Facts`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn facts(x: *const i32, n: usize, facts: *mut u64) {
    // SAFETY: the fields are atomic.
    let facts = unsafe { &*facts.cast::<Facts>() };
    for i in slices::mine(n) {
        // SAFETY: `i < n`.
        let x = unsafe { *x.add(i) };
        facts.sum.fetch_add(x as u64, Ordering::SeqCst);
        facts.least.fetch_min(x, Ordering::Relaxed);
        facts.largest.fetch_max(x, Ordering::Release);
        facts.all.fetch_and(x as u32, Ordering::Acquire);
        facts.any.fetch_or(x as u32, Ordering::AcqRel);
        facts.odd.fetch_xor(x as u32, Ordering::Relaxed);
        let mut old = facts.product.load(Ordering::Relaxed);
        while let Err(now) = facts.product.compare_exchange_weak(
            old,
            old.wrapping_mul(x as u32 | 1),
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            old = now;
        }
    }
}

/// Adds weights in fixed point, by their bins.
///
/// # Safety
/// `places` and `weights` point to `n` elements, `bins` to `count`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn weighted(
    places: *const u32,
    weights: *const f32,
    n: usize,
    bins: *mut u64,
    count: usize,
) {
    // SAFETY: as the caller says.
    let bins = unsafe { core::slice::from_raw_parts(bins.cast::<AtomicU64>(), count) };
    for i in slices::mine(n) {
        // SAFETY: `i < n`.
        let (place, weight) = unsafe { (*places.add(i), *weights.add(i)) };
        if let Some(bin) = bins.get(place as usize) {
            bin.fetch_add(
                (f64::from(weight) * 65536.0) as i64 as u64,
                Ordering::Relaxed,
            );
        }
    }
}
