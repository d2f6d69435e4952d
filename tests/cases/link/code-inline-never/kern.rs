#![no_std]
#[inline(never)]
fn apart(x: u32) -> u32 {
    x.wrapping_mul(2654435761)
}
#[cold]
#[inline(never)]
fn rare(x: u32) -> u32 {
    x ^ 0xdead
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        let v = *x;
        *x = if v > 77 { rare(v) } else { apart(v) };
    }
}
