// name: same
#![no_std]
use core::mem::MaybeUninit;
#[unsafe(link_section = ".shared")]
pub static mut TILE: MaybeUninit<[f32; 64]> = MaybeUninit::uninit();
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn kb(x: *mut f32, i: usize) {
    unsafe {
        let p = &raw mut TILE as *mut f32;
        *p.add(i) = *x;
        *x = *p.add(63 - i);
    }
}
