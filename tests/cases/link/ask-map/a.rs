#![no_std]
pub static TABLE: [u32; 4] = [1, 2, 3, 4];
#[inline(never)]
pub fn get(i: usize) -> u32 {
    TABLE[i]
}
