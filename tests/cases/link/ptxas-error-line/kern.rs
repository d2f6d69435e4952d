#![no_std]
#![feature(asm_experimental_arch)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn broken(x: *mut u32) {
    unsafe {
        core::arch::asm!("frobnicate.u32 %r1;");
        *x = 1;
    }
}
