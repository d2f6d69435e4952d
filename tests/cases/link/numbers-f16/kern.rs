#![no_std]
#![feature(f16)]
#![feature(core_intrinsics)]
#![allow(internal_features)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(h: *mut f16, f: *mut f32) {
    unsafe {
        let (a, b) = (*h, *h.add(1));
        *h.add(2) = a + b;
        *h.add(3) = a * b - a / b;
        *h.add(4) = a % b;
        *f = a as f32;
        *h.add(5) = *f.add(1) as f16;
        *h.add(6) = *f.add(2) as f64 as f16;
        *f.add(3) = (a as i32 + b as u8 as i32) as f32;
        *h.add(7) = core::intrinsics::sinf16(a);
        *h.add(8) = core::intrinsics::sqrtf16(a);
        *h.add(9) = core::intrinsics::powf16(a, b);
        *h.add(10) = core::intrinsics::powif16(a, 3);
        *h.add(11) = core::intrinsics::fmaf16(a, b, a);
        *h.add(12) = if a < b { -a } else { b };
    }
}
