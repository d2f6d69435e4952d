#![no_std]
extern crate alloc;
use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering};
struct Bump;
static mut HEAP: [u64; 1024] = [0; 1024];
static NEXT: AtomicUsize = AtomicUsize::new(0);
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        let at = NEXT.fetch_add(l.size().next_multiple_of(16), Ordering::Relaxed);
        if at + l.size() > 8192 {
            core::ptr::null_mut()
        } else {
            unsafe { (&raw mut HEAP as *mut u8).add(at) }
        }
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
#[global_allocator]
static GLOBAL: Bump = Bump;
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: u32) {
    let mut v = alloc::vec::Vec::new();
    for i in 0..n {
        v.push(i);
    }
    unsafe {
        *x = v.iter().sum();
    }
}
