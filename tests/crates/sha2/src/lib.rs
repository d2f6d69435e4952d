//! SHA-256 and SHA-512 of messages of several lengths.
#![no_std]

use harness::Words;
use sha2::{Digest, Sha256, Sha512};

fn message(i: u32) -> [u8; 200] {
    core::array::from_fn(|n| (n as u32 * 7 + i) as u8)
}

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let message = message(i);
    let text = &message[..(i as usize * 3) % message.len()];
    out.bytes(&Sha256::digest(text));
    out.bytes(
        &Sha512::new()
            .chain_update(text)
            .chain_update([1])
            .finalize(),
    );
}

harness::kernel!(sha2_case, 24, case);
