//! SHA-256 of many messages.
#![no_std]

use digest::{Sha256, hash};
use slices::Ragged;

/// The digest of each message: `bytes[offsets[i]..offsets[i + 1]]`.
///
/// # Safety
/// `offsets` points to `count + 1` ascending numbers, `bytes` to as many bytes as the last
/// says, and `out` to `count` digests.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn sha256(
    offsets: *const u32,
    count: usize,
    bytes: *const u8,
    out: *mut [u8; 32],
) {
    // SAFETY: as the caller says.
    let messages = unsafe { Ragged::new(offsets, count, bytes) };
    for i in slices::mine(messages.rows()) {
        if let Some(message) = messages.row(i) {
            // SAFETY: `i < count`.
            unsafe { out.add(i).write(hash::<Sha256, 64>(message)) };
        }
    }
}

/// The first number from `start` on whose digest begins with `zeros` zero bits, and how many
/// were tried, for each thread.
///
/// # Safety
/// `found` and `tried` point to one number per thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn mine(start: u64, zeros: u32, found: *mut u64, tried: *mut u32) {
    let own = gpu::global_rank();
    let mut number = start.wrapping_add((own as u64) << 32);
    let mut count = 0;
    while count < 1000 {
        count += 1;
        let [first @ .., _, _, _, _] = hash::<Sha256, 64>(&number.to_le_bytes());
        if first
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
            .take_while(|&bit| bit == 0)
            .count()
            >= zeros as usize
        {
            break;
        }
        number = number.wrapping_add(1);
    }
    // SAFETY: each thread has its own elements.
    unsafe {
        found.add(own).write(number);
        tried.add(own).write(count);
    }
}
