//! Searches of `memchr`, for bytes and for text.
#![no_std]

use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let text: [u8; 96] = core::array::from_fn(|n| b'a' + ((n as u32 * n as u32 + i) % 23) as u8);
    let found = |place: Option<usize>| place.map_or(u32::MAX, |at| at as u32);
    out.u32(found(memchr::memchr(b'k', &text)));
    out.u32(found(memchr::memrchr(b'b', &text)));
    out.u32(found(memchr::memchr3(b'x', b'y', b'z', &text)));
    out.u32(memchr::memchr_iter(b'e', &text).count() as u32);
    let needle = [text[50], text[51], text[52]];
    out.u32(found(memchr::memmem::find(&text, &needle)));
    out.u32(found(memchr::memmem::rfind(&text, &needle)));
}

harness::kernel!(memchr_case, 6, case);
