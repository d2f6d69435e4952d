#![cfg_attr(not(feature = "std"), no_std)]
pub fn level() -> u32 {
    if cfg!(feature = "std") {
        100
    } else if cfg!(feature = "extra") {
        2
    } else {
        1
    }
}
