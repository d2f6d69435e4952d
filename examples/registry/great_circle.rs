//! Kernels on two crates from crates.io that know nothing of GPUs: `num-traits` for arithmetic
//! that is generic over the float type, `libm` for functions in plain Rust.
#![no_std]

use num_traits::{CheckedMul, Float, FloatConst, NumCast};

/// The distance between two points on a sphere of radius 1, given in radians (haversine).
fn distance<T: Float>(latitude: (T, T), longitude: (T, T)) -> T {
    let two = T::one() + T::one();
    let square_of_half_sine = |angle: T| (angle / two).sin().powi(2);
    let north = square_of_half_sine(latitude.1 - latitude.0);
    let east = square_of_half_sine(longitude.1 - longitude.0);
    let a = north + latitude.0.cos() * latitude.1.cos() * east;
    two * a.sqrt().min(T::one()).asin()
}

/// `out[i]` for the points `(latitude[i], longitude[i])` and the pole of the example's globe.
///
/// # Safety
/// The pointers lead to `n` elements each.
unsafe fn distances<T: Float + FloatConst>(
    latitude: *const T,
    longitude: *const T,
    out: *mut T,
    n: usize,
) {
    let i = gpu::global_rank();
    if i < n {
        let home: T = NumCast::from(0.9).unwrap_or_else(T::zero);
        // SAFETY: in bounds, and each thread has its own element.
        unsafe {
            let (north, east) = (*latitude.add(i), *longitude.add(i));
            *out.add(i) = distance((home, north), (T::FRAC_PI_6(), east));
        }
    }
}

/// Distances in single precision, from the point 0.9 north, π/6 east.
///
/// # Safety
/// The pointers lead to `n` elements each; `out` does not overlap the others.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn distances_f32(
    latitude: *const f32,
    longitude: *const f32,
    out: *mut f32,
    n: usize,
) {
    // SAFETY: the caller vouches for the pointers.
    unsafe { distances(latitude, longitude, out, n) }
}

/// Distances in double precision.
///
/// # Safety
/// As for [`distances_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn distances_f64(
    latitude: *const f64,
    longitude: *const f64,
    out: *mut f64,
    n: usize,
) {
    // SAFETY: the caller vouches for the pointers.
    unsafe { distances(latitude, longitude, out, n) }
}

/// `libm`'s gamma function and error function, in place: `x[i] = tgamma(x[i]) * erf(x[i])`.
///
/// # Safety
/// `x` points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn special(x: *mut f64, n: usize) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: in bounds, and each thread has its own element.
        unsafe {
            let value = *x.add(i);
            *x.add(i) = libm::tgamma(value) * libm::erf(value);
        }
    }
}

/// Products of integers, with the largest integer where a product does not fit.
///
/// # Safety
/// `x` and `y` point to `n` elements; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn products(x: *mut i32, y: *const i32, n: usize) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: in bounds, and each thread has its own element of `x`.
        unsafe {
            let product = (*x.add(i)).checked_mul_by(*y.add(i));
            *x.add(i) = product.unwrap_or(i32::MAX);
        }
    }
}

/// A name for `num_traits`' checked product beside the one of the integer types themselves.
trait CheckedMulBy: CheckedMul {
    fn checked_mul_by(self, other: Self) -> Option<Self> {
        CheckedMul::checked_mul(&self, &other)
    }
}

impl<T: CheckedMul> CheckedMulBy for T {}
