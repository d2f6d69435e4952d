#![no_std]
#[unsafe(no_mangle)]
pub static mut LENGTH: u32 = 0;
struct Sink;
impl core::fmt::Write for Sink {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        unsafe {
            LENGTH += s.len() as u32;
        }
        Ok(())
    }
}
#[panic_handler]
fn on_panic(info: &core::panic::PanicInfo) -> ! {
    use core::fmt::Write;
    let _ = write!(Sink, "{}", info);
    loop {}
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: u32) {
    unsafe {
        if *x > n {
            panic!("{} is more than {}", *x, n);
        }
    }
}
