#![cfg_attr(not(feature = "host"), no_std)]

/// Whether this is the variant for proc macros: with resolver 2 the two do not mix.
pub fn for_host() -> bool {
    #[cfg(feature = "host")]
    return std::env::consts::OS.len() > 1;
    #[cfg(not(feature = "host"))]
    false
}
