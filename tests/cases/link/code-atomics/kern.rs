#![no_std]
use core::sync::atomic::*;
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(a: *mut u8, b: *mut u16, c: *mut u32, d: *mut u64) {
    use Ordering::*;
    unsafe {
        let (a, b, c, d) = (
            AtomicU8::from_ptr(a),
            AtomicU16::from_ptr(b),
            AtomicU32::from_ptr(c),
            AtomicU64::from_ptr(d),
        );
        a.fetch_add(1, Relaxed);
        b.fetch_or(2, SeqCst);
        c.fetch_add(1, Relaxed);
        c.fetch_sub(1, AcqRel);
        c.fetch_max(7, Acquire);
        c.fetch_min(7, Release);
        c.fetch_xor(3, SeqCst);
        c.fetch_nand(3, SeqCst);
        c.swap(4, SeqCst);
        d.fetch_add(5, SeqCst);
        let _ = d.compare_exchange(1, 2, SeqCst, Relaxed);
        let _ = b.compare_exchange(1, 2, AcqRel, Acquire);
        c.store(d.load(Acquire) as u32, Release);
        fence(SeqCst);
        let _ = AtomicI32::from_ptr(c.as_ptr() as *mut i32).fetch_max(-1, Relaxed);
    }
}
