#![no_std]
#![feature(core_float_math)]
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(f: *mut f32, d: *mut f64) {
    unsafe {
        use core::f32::math as m;
        use core::f64::math as n;
        *f = m::floor(*f)
            + m::ceil(*f.add(1))
            + m::trunc(*f.add(2))
            + m::round_ties_even(*f.add(3))
            + (*f.add(4)).abs().copysign(*f)
            + m::sqrt(*f);
        *d = n::floor(*d)
            + n::ceil(*d.add(1))
            + n::trunc(*d.add(2))
            + n::round_ties_even(*d.add(3))
            + n::sqrt(*d.add(4));
        *f.add(7) = m::mul_add(*f, *f.add(1), *f.add(2));
    }
}
