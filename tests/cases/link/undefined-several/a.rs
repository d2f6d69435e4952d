#![no_std]
unsafe extern "C" {
    fn zeta(x: u32) -> u32;
    fn alpha() -> u32;
}
pub unsafe fn both(x: u32) -> u32 {
    unsafe { zeta(x) + alpha() }
}
