#![no_std]
fn apply<F: Fn(f32) -> f32>(s: &mut [f32], f: F) {
    for v in s.iter_mut() {
        *v = f(*v);
    }
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut f32, n: usize, a: f32) {
    let s = unsafe { core::slice::from_raw_parts_mut(x, n) };
    apply(s, |v| v * a + 1.0);
    s.reverse();
    let t: f32 = s.windows(2).map(|w| w[0] - w[1]).sum();
    let c = s.chunks(4).filter(|c| c.len() == 4).count();
    s[0] = t + c as f32;
}
