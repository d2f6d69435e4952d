#![no_std]
#![feature(f16)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(
    a: *mut f64,
    b: bool,
    c: char,
    d: i8,
    e: u16,
    f: i32,
    g: u64,
    h: i128,
    i: f16,
    j: f32,
    k: f64,
    l: usize,
    m: &'static u32,
    n: Option<&'static u32>,
    o: *const [u32; 4],
) {
    unsafe {
        *a = b as u8 as f64
            + c as u32 as f64
            + d as f64
            + e as f64
            + f as f64
            + g as f64
            + h as f64
            + i as f64
            + j as f64
            + k
            + l as f64
            + *m as f64
            + n.copied().unwrap_or(0) as f64
            + (*o)[1] as f64;
    }
}
