#![no_std]
pub static BIG: [u8; 4096] = [1; 4096];
#[inline(never)]
pub fn used(x: u32) -> u32 {
    x ^ 5
}
#[inline(never)]
pub fn unused(i: usize) -> u8 {
    BIG[i]
}
