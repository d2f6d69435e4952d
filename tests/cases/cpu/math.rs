//! One kernel per method of `gpu::Float` and type: `out[i] = method(x[i], …)`.
#![no_std]

use gpu::Float;

macro_rules! unary {
    ($($method:ident)*) => { $(
        pub mod $method {
            use super::*;

            /// # Safety
            /// The pointers lead to `n` elements.
            #[unsafe(export_name = concat!(stringify!($method), "_f32"))]
            pub unsafe extern "gpu-kernel" fn single(x: *const f32, out: *mut f32, n: usize) {
                let i = gpu::global_rank();
                if i < n {
                    // SAFETY: in bounds.
                    unsafe { *out.add(i) = Float::$method(*x.add(i)) }
                }
            }

            /// # Safety
            /// The pointers lead to `n` elements.
            #[unsafe(export_name = concat!(stringify!($method), "_f64"))]
            pub unsafe extern "gpu-kernel" fn double(x: *const f64, out: *mut f64, n: usize) {
                let i = gpu::global_rank();
                if i < n {
                    // SAFETY: in bounds.
                    unsafe { *out.add(i) = Float::$method(*x.add(i)) }
                }
            }
        }
    )* };
}

macro_rules! binary {
    ($($method:ident)*) => { $(
        pub mod $method {
            use super::*;

            /// # Safety
            /// The pointers lead to `n` elements.
            #[unsafe(export_name = concat!(stringify!($method), "_f32"))]
            pub unsafe extern "gpu-kernel" fn single(
                x: *const f32,
                y: *const f32,
                out: *mut f32,
                n: usize,
            ) {
                let i = gpu::global_rank();
                if i < n {
                    // SAFETY: in bounds.
                    unsafe { *out.add(i) = Float::$method(*x.add(i), *y.add(i)) }
                }
            }

            /// # Safety
            /// The pointers lead to `n` elements.
            #[unsafe(export_name = concat!(stringify!($method), "_f64"))]
            pub unsafe extern "gpu-kernel" fn double(
                x: *const f64,
                y: *const f64,
                out: *mut f64,
                n: usize,
            ) {
                let i = gpu::global_rank();
                if i < n {
                    // SAFETY: in bounds.
                    unsafe { *out.add(i) = Float::$method(*x.add(i), *y.add(i)) }
                }
            }
        }
    )* };
}

unary! {
    floor ceil round round_ties_even trunc fract abs signum recip sqrt rsqrt cbrt rcbrt exp exp2
    exp10 exp_m1 ln ln_1p log2 log10 sin cos tan sin_pi cos_pi asin acos atan sinh cosh tanh asinh
    acosh atanh erf erfc erf_inv gamma ln_gamma bessel_j0 bessel_j1 bessel_y0 bessel_y1
    to_degrees to_radians
}

binary! {
    copysign max min maximum minimum positive_difference fmod remainder div_euclid rem_euclid
    next_after hypot powf log atan2
}

/// # Safety
/// The pointers lead to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn mul_add_f32(
    x: *const f32,
    y: *const f32,
    out: *mut f32,
    n: usize,
) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: in bounds.
        unsafe { *out.add(i) = (*x.add(i)).mul_add(*y.add(i), *out.add(i)) }
    }
}

/// # Safety
/// The pointers lead to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn mul_add_f64(
    x: *const f64,
    y: *const f64,
    out: *mut f64,
    n: usize,
) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: in bounds.
        unsafe { *out.add(i) = (*x.add(i)).mul_add(*y.add(i), *out.add(i)) }
    }
}

/// # Safety
/// The pointers lead to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn powi_f32(x: *const f32, y: *const i32, out: *mut f32, n: usize) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: in bounds.
        unsafe { *out.add(i) = (*x.add(i)).powi(*y.add(i)) }
    }
}

/// # Safety
/// The pointers lead to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn powi_f64(x: *const f64, y: *const i32, out: *mut f64, n: usize) {
    let i = gpu::global_rank();
    if i < n {
        // SAFETY: in bounds.
        unsafe { *out.add(i) = (*x.add(i)).powi(*y.add(i)) }
    }
}
