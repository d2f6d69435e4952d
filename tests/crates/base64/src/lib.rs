//! Base64 of `base64` into slices, there and back.
#![no_std]

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let bytes: [u8; 33] = core::array::from_fn(|n| (n as u32 * 29 + i) as u8);
    let part = &bytes[..(i % 34) as usize];
    let mut encoded = [0; 48];
    let length = STANDARD.encode_slice(part, &mut encoded).unwrap();
    out.bytes(&encoded);
    let mut decoded = [0; 36];
    let back = STANDARD
        .decode_slice(&encoded[..length], &mut decoded)
        .unwrap();
    out.u32((&decoded[..back] == part).into());
    let url = URL_SAFE_NO_PAD.encode_slice(part, &mut encoded).unwrap();
    out.u32(url as u32);
    encoded[0] = b'!';
    out.u32(
        STANDARD
            .decode_slice(&encoded[..length.max(4)], &mut decoded)
            .is_err()
            .into(),
    );
    out.u32(base64::encoded_len(part.len(), true).unwrap() as u32);
}

harness::kernel!(base64_case, 16, case);
