//! Hashes of `fnv`.
#![no_std]

use core::hash::{BuildHasher, Hasher};
use fnv::{FnvBuildHasher, FnvHasher};
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let mut hasher = FnvHasher::default();
    hasher.write(b"fatcrate");
    hasher.write_u32(i);
    out.u64(hasher.finish());
    out.u64(FnvBuildHasher::default().hash_one((i, "text", [1u8, 2])));
}

harness::kernel!(fnv_case, 4, case);
