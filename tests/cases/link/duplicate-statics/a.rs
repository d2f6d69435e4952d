#![no_std]
#[unsafe(no_mangle)]
pub static TABLE: u32 = 1;
#[unsafe(no_mangle)]
pub extern "C" fn f() -> u32 {
    1
}
