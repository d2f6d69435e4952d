#![no_std]
#![feature(asm_experimental_arch)]
use core::arch::asm;
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    let r: u32;
    unsafe {
        asm!("mov.u32 {}, %smid;", out(reg32) r);
        *x = r;
    }
}
