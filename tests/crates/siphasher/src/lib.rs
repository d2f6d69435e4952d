//! Keyed hashes of `siphasher`, 64 and 128 bits.
#![no_std]

use core::hash::Hasher;
use harness::Words;
use siphasher::sip::{self, SipHasher13};
use siphasher::sip128;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let text: [u8; 40] = core::array::from_fn(|n| n as u8);
    let part = &text[..i as usize % 41];
    let mut short = SipHasher13::new_with_keys(1, u64::from(i));
    short.write(part);
    out.u64(short.finish());
    let mut long = sip::SipHasher24::new_with_keys(3, 4);
    long.write(part);
    out.u64(long.finish());
    let wide = sip128::SipHasher13::new_with_key(&[7; 16]).hash(part);
    out.u64(wide.h1);
    out.u64(wide.h2);
}

harness::kernel!(siphasher_case, 8, case);
