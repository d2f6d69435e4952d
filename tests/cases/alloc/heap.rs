//! The default allocator: the heap of the device.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Thread `i` sorts its own numbers on the heap.
///
/// # Safety
/// `out` points to a word per thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn collect(out: *mut u32) {
    let i = gpu::global_x();
    let mut map: BTreeMap<u32, Box<[u32]>> = BTreeMap::new();
    for n in 0..20u32 {
        let values: Vec<u32> = (0..n % 5).map(|k| k + n + i as u32).collect();
        map.insert(n * 7 % 11, values.into_boxed_slice());
    }
    let total = map
        .iter()
        .map(|(key, values)| key * values.iter().sum::<u32>())
        .sum();
    // SAFETY: each thread has its own word.
    unsafe { *out.add(i) = total };
}

/// Takes ever more until the heap is exhausted.
///
/// # Safety
/// `out` points to a word.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn exhaust(out: *mut u32) {
    let mut held: Vec<Box<[u8]>> = Vec::new();
    loop {
        let mut block = Vec::<u8>::with_capacity(1 << 46);
        block.push(1);
        // SAFETY: there is a word.
        unsafe { *out += u32::from(block[0]) };
        held.push(block.into_boxed_slice());
    }
}

/// Asks for too much, and takes no for an answer.
///
/// # Safety
/// `out` points to a word.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn ask(out: *mut u32) {
    let mut block: Vec<u8> = Vec::new();
    let refused = block.try_reserve_exact(1 << 46).is_err();
    // Used, so that the allocation is not optimised away.
    let address = block.as_ptr() as usize;
    // SAFETY: there is a word.
    unsafe { *out = u32::from(refused) + 2 * u32::from(address == 1) };
}

/// A type of a larger alignment than the heap gives by itself.
#[repr(align(64))]
struct Wide([u32; 16]);

/// Allocates, grows and frees blocks of that alignment.
///
/// # Safety
/// `out` points to 3 words.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn overaligned(out: *mut u32) {
    let wide = Box::new(Wide([7; 16]));
    let mut many = Vec::new();
    for n in 0..10 {
        many.push(Wide([n; 16]));
    }
    many.drain(..5);
    many.shrink_to_fit();
    let zeros = alloc::vec![0u8; 100];
    let apart = wide.0.as_ptr() as usize | many.as_ptr() as usize;
    let results = [
        (apart % 64) as u32,
        many.iter().flat_map(|wide| wide.0).sum::<u32>() + wide.0[3],
        zeros.iter().map(|&byte| u32::from(byte)).sum(),
    ];
    for (i, result) in results.into_iter().enumerate() {
        // SAFETY: there are 3 words.
        unsafe { *out.add(i) = result };
    }
}
