// deps: a b
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: usize) {
    unsafe {
        let s = core::slice::from_raw_parts(x, n);
        let v = a::largest(s).unwrap_or(1.0) + b::b(s);
        *x = v;
    }
}
