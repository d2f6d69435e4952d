#![no_std]

pub fn number() -> u32 {
    1
}
