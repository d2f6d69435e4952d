#![no_std]
#![feature(f128)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f128) {
    unsafe { *x += *x.add(1) };
}
