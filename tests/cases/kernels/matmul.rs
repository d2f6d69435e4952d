//! Products of matrices of several types, each thread one element of the result.
#![no_std]

use core::num::Wrapping;

use tiles::{Matrix, product};

macro_rules! kernels {
    ($($name:ident: $type:ty, $size:literal;)*) => {
        $(
            /// `c = a * b`, with `a` of `m` by `k` and `b` of `k` by `n` elements.
            ///
            /// # Safety
            /// The pointers lead to as many elements; `c` overlaps neither of the others.
            #[unsafe(no_mangle)]
            pub unsafe extern "gpu-kernel" fn $name(
                a: *mut $type,
                b: *mut $type,
                c: *mut $type,
                m: u32,
                k: u32,
                n: u32,
            ) {
                let tiles = gpu::shared!([[[$type; $size]; $size]; 2]);
                let (m, k, n) = (m as usize, k as usize, n as usize);
                let row = gpu::global_y();
                let column = gpu::global_x();
                // SAFETY: the caller vouches for the buffers; each thread has its own element.
                unsafe {
                    let (a, b) = (Matrix::new(a, m, k), Matrix::new(b, k, n));
                    let sum = product::<_, $size>(tiles, a, b, row, column);
                    Matrix::new(c, m, n).set(row, column, sum);
                }
            }
        )*
    };
}

kernels! {
    matmul_f32: f32, 16;
    matmul_f64: f64, 8;
    matmul_i32: Wrapping<i32>, 5;
    matmul_u8: Wrapping<u8>, 16;
    matmul_i128: Wrapping<i128>, 4;
}
