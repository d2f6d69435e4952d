#![no_std]
#[unsafe(no_mangle)]
pub static mut PANICS: u32 = 0;
#[panic_handler]
fn on_panic(_: &core::panic::PanicInfo) -> ! {
    unsafe {
        PANICS += 1;
    }
    loop {}
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: usize, i: usize) {
    let s = unsafe { core::slice::from_raw_parts_mut(x, n) };
    s[i] = 1.0;
}
