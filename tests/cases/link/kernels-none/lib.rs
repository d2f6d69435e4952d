#![no_std]
pub fn f() -> u32 {
    1
}
