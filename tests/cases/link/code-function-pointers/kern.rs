#![no_std]
pub extern "C" fn inc(x: u32) -> u32 {
    x + 1
}
pub extern "C" fn dec(x: u32) -> u32 {
    x - 1
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn choose(table: *mut extern "C" fn(u32) -> u32) {
    unsafe {
        *table = inc;
        *table.add(1) = dec;
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn call(
    table: *const extern "C" fn(u32) -> u32,
    x: *mut u32,
    i: usize,
) {
    unsafe {
        *x = (*table.add(i))(*x);
    }
}
