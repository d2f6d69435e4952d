// flags: -Coverflow-checks=on -Cdebug-assertions=on
#![no_std]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, a: u32, b: i32) {
    unsafe {
        *x = a + *x;
        *x -= 1;
        *x = (*x) * a;
        *x = (b << (*x & 31)) as u32;
        *x = *x / a;
        *x = (b % *x as i32) as u32;
        debug_assert!(*x > 2);
    }
}
