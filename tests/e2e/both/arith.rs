//! A library with features and cfgs.
#![no_std]

/// Depends on features and cfgs, so that losing one changes the code.
pub fn apply(x: u32) -> u32 {
    let x = if cfg!(feature = "offset") { x + 11 } else { x };
    let x = if cfg!(feature = "scale") { x * 13 } else { x };
    let x = if cfg!(wide) { x ^ 17 } else { x };
    if cfg!(mode = "fast") { x | 1 } else { x }
}
