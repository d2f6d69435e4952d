//! An allocator of the user's: a bump allocator over a static.
#![no_std]

extern crate alloc;

use alloc::alloc::{GlobalAlloc, Layout};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

const BYTES: usize = 4096;

#[repr(align(64))]
struct Arena {
    memory: UnsafeCell<[u8; BYTES]>,
    used: AtomicUsize,
}

// SAFETY: `alloc` gives each byte away once.
unsafe impl Sync for Arena {}

// SAFETY: blocks are aligned, inside of `memory`, and do not overlap.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size() + layout.align() - 1;
        let start = self.used.fetch_add(size, Ordering::Relaxed);
        if start + size > BYTES {
            return core::ptr::null_mut();
        }
        let block = self.memory.get().cast::<u8>().wrapping_add(start);
        block.wrapping_add(block.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static ARENA: Arena = Arena {
    memory: UnsafeCell::new([0; BYTES]),
    used: AtomicUsize::new(0),
};

/// Writes the bytes that the arena gave away, and results of what lies there.
///
/// # Safety
/// `out` points to 3 words.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn bump(out: *mut u32) {
    let mut values: Vec<u32> = Vec::with_capacity(8);
    values.extend(0..8);
    let text: String = "abc".chars().rev().collect();
    let arena = ARENA.memory.get() as usize;
    let inside = (arena..arena + BYTES).contains(&(values.as_ptr() as usize));
    let results = [
        ARENA.used.load(Ordering::Relaxed) as u32,
        values.iter().sum::<u32>() + 1000 * u32::from(inside),
        text.bytes()
            .fold(0, |word, byte| word << 8 | u32::from(byte)),
    ];
    for (i, result) in results.into_iter().enumerate() {
        // SAFETY: there are 3 words.
        unsafe { *out.add(i) = result };
    }
}

/// Takes more than the arena has.
///
/// # Safety
/// `out` points to a word.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn overfill(out: *mut u32) {
    let values: Vec<u32> = (0..BYTES as u32).collect();
    // SAFETY: there is a word.
    unsafe { *out = values[gpu::global_x()] };
}
