#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut i128, y: *mut u128, f: *mut f32, d: *mut f64) {
    unsafe {
        let (a, b, u, v) = (*x, *x.add(1), *y, *y.add(1));
        *x.add(2) = a / b;
        *x.add(3) = a % b;
        *y.add(2) = u / v;
        *y.add(3) = u % v;
        *x.add(4) = a.wrapping_mul(b);
        *f = a as f32;
        *f.add(1) = u as f32;
        *d = a as f64;
        *d.add(1) = u as f64;
        *x.add(5) = *f.add(2) as i128;
        *y.add(5) = *f.add(3) as u128;
        *x.add(6) = *d.add(2) as i128;
        *y.add(6) = *d.add(3) as u128;
        *x.add(7) = a.checked_mul(b).unwrap_or(0);
        *y.add(7) = u.checked_mul(v).unwrap_or(0);
        *x.add(8) = a.saturating_add(b);
        *y.add(8) = u.rotate_left(7) ^ v.swap_bytes();
        *y.add(9) = u << (v & 127) as u32;
        *x.add(9) = a >> (b & 127) as u32;
        *f.add(9) = (a.leading_zeros() + u.count_ones() + v.trailing_zeros()) as f32;
        *x.add(10) = a.abs_diff(b) as i128;
    }
}
