//! The Mandelbrot set in double precision.
#![no_std]

use core::ops::{Add, Mul};

use complex::Complex;

/// How many steps `step` takes from zero until `done`; `limit` if it never does.
#[inline]
fn steps<T: Copy + Default + Add<Output = T> + Mul<Output = T>>(
    c: T,
    limit: u32,
    done: impl Fn(T) -> bool,
) -> (u32, T) {
    let mut z = T::default();
    for i in 0..limit {
        if done(z) {
            return (i, z);
        }
        z = z * z + c;
    }
    (limit, z)
}

/// Steps and last place of each point of a picture.
///
/// # Safety
/// `steps` and `last` point to `width * height` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn mandelbrot(
    counts: *mut u32,
    last: *mut Complex<f64>,
    width: u32,
    height: u32,
    limit: u32,
) {
    let (x, y) = (gpu::global_x() as u32, gpu::global_y() as u32);
    if x >= width || y >= height {
        return;
    }
    let c = Complex::new(
        f64::from(x) / f64::from(width) * 3.5 - 2.5,
        f64::from(y) / f64::from(height) * 2.5 - 1.25,
    );
    let (count, z) = steps(c, limit, |z: Complex<f64>| z.norm() > 4.0);
    let i = y as usize * width as usize + x as usize;
    // SAFETY: in the picture, and each thread has its own point.
    unsafe {
        counts.add(i).write(count);
        last.add(i).write(z);
    }
}
