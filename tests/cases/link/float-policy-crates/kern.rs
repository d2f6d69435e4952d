// deps: a_fast
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, y: *mut f64) {
    unsafe {
        let (a, b, c) = (*x, *x.add(1), *x.add(2));
        *x = a_fast::fast(a, b, c);
        *x.add(1) = b * c + a;
        *x.add(2) = a / b;
        let (a, b, c) = (*y, *y.add(1), *y.add(2));
        *y = a_fast::algebraic(a, b, c);
        *y.add(1) = b * c + a;
    }
}
