// opt: 0
#![no_std]
fn big(x: u32) -> u32 {
    let mut s = x;
    let mut i = 0;
    while i < x {
        s = s.wrapping_mul(31) ^ (s >> 3) ^ (s << 5);
        s ^= s / 3;
        i += 1;
    }
    s
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = big(*x) + big(*x + 1) + big(*x + 2);
    }
}
