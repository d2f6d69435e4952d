#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: u32) {
    let mut s = 0u32;
    let mut i = 0;
    while i < n {
        let mut j = i;
        while j != 1 && j != 0 {
            if j % 2 == 0 {
                j /= 2;
            } else {
                j = j.wrapping_mul(3) + 1;
            }
            s += 1;
            if s > 10000 {
                break;
            }
        }
        i += 1;
        if i == 77 {
            continue;
        }
        s ^= i;
    }
    unsafe {
        *x = s;
    }
}
