#![no_std]
use core::mem::MaybeUninit;
#[unsafe(link_section = ".shared")]
static mut BUF: MaybeUninit<[f32; 32]> = MaybeUninit::uninit();
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, i: usize) {
    unsafe {
        let p = &raw mut BUF as *mut f32;
        *p.add(i) = *x;
        *x = *p.add(31 - i);
    }
}
