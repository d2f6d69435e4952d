#![no_std]
#![allow(improper_gpu_kernel_arg, improper_ctypes_definitions)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    pub a: f64,
    pub b: f64,
    pub c: u32,
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn by_struct(out: *mut f64, pair: Pair) {
    unsafe { *out = pair.a + pair.b + pair.c as f64 };
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn by_slice(out: &mut [f32], n: u32) {
    out[0] = n as f32;
}
