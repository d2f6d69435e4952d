#![no_std]
#[unsafe(no_mangle)]
pub extern "C" fn shared(x: u32) -> u32 {
    x
}
