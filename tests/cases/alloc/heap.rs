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

/// A type whose alignment no allocation of the heap has.
#[repr(align(64))]
struct Wide([u32; 16]);

/// Fails like any other allocation that cannot be made.
///
/// # Safety
/// `out` points to a word.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn overaligned(out: *mut u32) {
    let wide = Box::new(Wide([7; 16]));
    // SAFETY: there is a word.
    unsafe { *out = wide.0[gpu::global_x()] };
}
