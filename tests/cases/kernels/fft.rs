//! Fourier transforms, one block each, in shared memory.
#![no_std]

use complex::Complex;
use gpu::{Float, Shared};

/// The longest transform.
const LONGEST: usize = 512;

/// The thread's share of the numbers below `count`, within its block.
#[inline]
fn share(count: usize) -> impl Iterator<Item = usize> {
    (gpu::thread_rank() as usize..count).step_by(gpu::block_size() as usize)
}

/// Transforms `1 << bits` points in place: bit reversal, then `bits` rounds of butterflies.
///
/// # Safety
/// All threads of the block call this together with the same arguments, after a barrier.
unsafe fn transform<T: Float>(data: Shared<[Complex<T>; LONGEST]>, bits: u32, inverse: bool) {
    let count = 1_usize << bits;
    // SAFETY: between barriers each pair belongs to one thread.
    unsafe {
        for i in share(count) {
            let j = if bits == 0 {
                0
            } else {
                i.reverse_bits() >> (usize::BITS - bits)
            };
            if i < j {
                let (a, b) = (data.read(i), data.read(j));
                data.write(i, b);
                data.write(j, a);
            }
        }
        gpu::barrier();
        for round in 0..bits {
            let half = 1_usize << round;
            for pair in share(count / 2) {
                let k = pair % half;
                let i = pair / half * half * 2 + k;
                let turns = T::from_usize(k) / T::from_usize(half * 2);
                let factor = Complex::turn(turns);
                let factor = if inverse { factor } else { factor.conj() };
                let (a, b) = (data.read(i), data.read(i + half) * factor);
                data.write(i, a + b);
                data.write(i + half, a - b);
            }
            gpu::barrier();
        }
    }
}

/// # Safety
/// As for [`fft_f32`].
#[inline(always)]
unsafe fn rows<T: Float>(
    tile: Shared<[Complex<T>; LONGEST]>,
    x: *const Complex<T>,
    y: *mut Complex<T>,
    batches: usize,
    bits: u32,
    inverse: bool,
) {
    assert!(bits < usize::BITS && 1 << bits <= LONGEST);
    let count = 1_usize << bits;
    let mut row = gpu::block_rank();
    // SAFETY: a row belongs to one block.
    unsafe {
        while row < batches {
            for i in share(count) {
                tile.write(i, x.add(row * count + i).read());
            }
            gpu::barrier();
            transform(tile, bits, inverse);
            for i in share(count) {
                y.add(row * count + i).write(tile.read(i));
            }
            gpu::barrier();
            row += gpu::grid_size() as usize;
        }
    }
}

/// Transforms `batches` rows of `1 << bits` complex numbers.
///
/// # Safety
/// `x` and `y` point to that many numbers and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn fft_f32(
    x: *const Complex<f32>,
    y: *mut Complex<f32>,
    batches: usize,
    bits: u32,
    inverse: bool,
) {
    let tile = gpu::shared!([Complex<f32>; LONGEST]);
    // SAFETY: the caller vouches for the buffers.
    unsafe { rows(tile, x, y, batches, bits, inverse) }
}

/// The same in double precision.
///
/// # Safety
/// As for [`fft_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn fft_f64(
    x: *const Complex<f64>,
    y: *mut Complex<f64>,
    batches: usize,
    bits: u32,
    inverse: bool,
) {
    let tile = gpu::shared!([Complex<f64>; LONGEST]);
    // SAFETY: as in `fft_f32`.
    unsafe { rows(tile, x, y, batches, bits, inverse) }
}

/// The squares of absolute values.
///
/// # Safety
/// `x` and `power` point to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn power(x: *const Complex<f32>, power: *mut f32, n: usize) {
    for i in slices::mine(n) {
        // SAFETY: `i < n`.
        unsafe { power.add(i).write((*x.add(i)).norm()) };
    }
}
