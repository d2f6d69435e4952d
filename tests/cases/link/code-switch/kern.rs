#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, i: u32) {
    unsafe {
        *x = match i {
            0 => (*x).wrapping_mul(3),
            1 => *x ^ 99,
            2 => *x >> 3,
            3 => (*x).rotate_left(5),
            4 => !*x,
            5 => (*x).count_ones(),
            6 => (*x).leading_zeros(),
            7 => (*x).swap_bytes(),
            8 => (*x).reverse_bits(),
            9 => *x % 7,
            _ => 0,
        };
    }
}
