#![no_std]
use core::hint::black_box;
#[inline(never)]
fn sieve(n: u32) -> u32 {
    let mut seen = [0_u8; 2000];
    for i in 0..n as usize {
        seen[i * 37 % 2000] += 1;
        black_box(&mut seen)[i] ^= 3;
    }
    seen.iter().map(|&b| u32::from(b)).sum()
}
#[inline(never)]
fn descend(n: u32, outer: &mut [u32; 6]) -> u32 {
    if n == 0 {
        return outer[0];
    }
    let mut own = [n; 6];
    own[outer[1] as usize % 6] = 7;
    descend(n - 1, black_box(&mut own)) + own[n as usize % 6]
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn calls(x: *mut u32, n: u32) {
    unsafe { *x = sieve(n) }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn deep(x: *mut u32, n: u32) {
    unsafe { *x = descend(n, &mut [1; 6]) }
}
