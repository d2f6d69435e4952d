#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(d: *mut u8, s: *const u8, n: usize) -> *mut u8 {
    unsafe {
        let mut i = 0;
        while i < n {
            d.add(i).write_volatile(s.add(i).read_volatile());
            i += 1;
        }
        d
    }
}
unsafe extern "C" {
    fn memmove(d: *mut u8, s: *const u8, n: usize) -> *mut u8;
}
mod inner {
    unsafe extern "C" {
        pub fn memcpy(d: *mut u8, s: *const u8, n: usize) -> *mut u8;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(d: *mut u8, s: *const u8, n: usize) {
    unsafe {
        inner::memcpy(d, s, n);
        memmove(d.add(1), d, n);
    }
}
