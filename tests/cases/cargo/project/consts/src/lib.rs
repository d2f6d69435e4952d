#![no_std]

include!(concat!(env!("OUT_DIR"), "/root.rs"));

/// A file that the build script names in a variable.
pub const INCLUDED: &str = include_str!(env!("TEXT_FILE"));
