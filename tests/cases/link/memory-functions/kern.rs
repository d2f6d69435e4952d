#![no_std]
unsafe extern "C" {
    fn memcpy(d: *mut u8, s: *const u8, n: usize) -> *mut u8;
    fn memmove(d: *mut u8, s: *const u8, n: usize) -> *mut u8;
    fn memset(d: *mut u8, v: i32, n: usize) -> *mut u8;
    fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32;
    fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32;
    fn strlen(s: *const i8) -> usize;
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(d: *mut u8, s: *const u8, n: usize) {
    unsafe {
        memcpy(d, s, n);
        memmove(d.add(1), s, n);
        memset(d, 7, n);
        *d = (memcmp(d, s, n) + bcmp(d, s, n)) as u8 + strlen(s as *const i8) as u8;
    }
}
