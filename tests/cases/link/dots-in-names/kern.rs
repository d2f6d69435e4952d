#![no_std]
#[unsafe(export_name = "helper.with dots-and/ünïcode")]
#[inline(never)]
pub extern "C" fn helper(x: f32) -> f32 {
    x + 1.0
}
#[unsafe(export_name = "1digit")]
#[inline(never)]
pub extern "C" fn digit(x: f32) -> f32 {
    x * 3.0
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32) {
    unsafe {
        *x = helper(*x) + digit(*x);
    }
}
