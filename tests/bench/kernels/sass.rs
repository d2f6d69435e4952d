//! Twelve kernels, written like those of `sass.cu`: raw pointers, the same loops and types.
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering};

#[inline(always)]
fn index() -> u32 {
    gpu::block_idx_x() * gpu::block_dim_x() + gpu::thread_idx_x()
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    let i = index();
    if i < n {
        unsafe { *y.add(i as usize) = a * *x.add(i as usize) + *y.add(i as usize) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn dot(n: u32, x: *const f32, y: *const f32, out: *mut f32) {
    let mut s = 0.0f32;
    let mut i = index();
    let stride = gpu::grid_dim_x() * gpu::block_dim_x();
    while i < n {
        s += unsafe { *x.add(i as usize) * *y.add(i as usize) };
        i += stride;
    }
    unsafe { *out.add(index() as usize) = s };
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn stencil(n: u32, x: *const f64, y: *mut f64) {
    let i = index();
    if i > 0 && i + 1 < n {
        let p = unsafe { x.add(i as usize) };
        unsafe { *y.add(i as usize) = 0.25 * *p.sub(1) + 0.5 * *p + 0.25 * *p.add(1) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn gather(n: u32, at: *const u32, x: *const f32, y: *mut f32) {
    let i = index();
    if i < n {
        unsafe { *y.add(i as usize) = *x.add(*at.add(i as usize) as usize) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn histogram(n: u32, x: *const u8, bins: *mut u32) {
    let i = index();
    if i < n {
        let bin = unsafe { bins.add(*x.add(i as usize) as usize) };
        unsafe { AtomicU32::from_ptr(bin) }.fetch_add(1, Ordering::Relaxed);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reduce(x: *const f32, out: *mut f32) {
    let shared = gpu::shared!([f32; 256]).as_ptr().cast::<f32>();
    let t = gpu::thread_idx_x();
    unsafe { *shared.add(t as usize) = *x.add(index() as usize) };
    gpu::barrier();
    let mut half = gpu::block_dim_x() / 2;
    while half > 0 {
        if t < half {
            unsafe { *shared.add(t as usize) += *shared.add((t + half) as usize) };
        }
        gpu::barrier();
        half /= 2;
    }
    if t == 0 {
        unsafe { *out.add(gpu::block_idx_x() as usize) = *shared };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn transpose(width: u32, height: u32, x: *const f32, y: *mut f32) {
    let tile = gpu::shared!([f32; 1056]).as_ptr().cast::<f32>();
    let (tx, ty) = (gpu::thread_idx_x(), gpu::thread_idx_y());
    let (bx, by) = (gpu::block_idx_x() * 32, gpu::block_idx_y() * 32);
    if bx + tx < width && by + ty < height {
        let from = (by + ty) * width + bx + tx;
        unsafe { *tile.add((ty * 33 + tx) as usize) = *x.add(from as usize) };
    }
    gpu::barrier();
    if by + tx < height && bx + ty < width {
        let to = (bx + ty) * height + by + tx;
        unsafe { *y.add(to as usize) = *tile.add((tx * 33 + ty) as usize) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn matmul(n: u32, a: *const f32, b: *const f32, c: *mut f32) {
    let row = gpu::block_idx_y() * gpu::block_dim_y() + gpu::thread_idx_y();
    let column = index();
    if row < n && column < n {
        let mut s = 0.0f32;
        let mut k = 0;
        while k < n {
            s += unsafe { *a.add((row * n + k) as usize) * *b.add((k * n + column) as usize) };
            k += 1;
        }
        unsafe { *c.add((row * n + column) as usize) = s };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn nbody(n: u32, p: *const f32, f: *mut f32) {
    let i = index();
    let me = unsafe { p.add(i as usize * 4) };
    let (x, y, z) = unsafe { (*me, *me.add(1), *me.add(2)) };
    let (mut fx, mut fy, mut fz) = (0.0f32, 0.0f32, 0.0f32);
    let mut j = 0;
    while j < n {
        let other = unsafe { p.add(j as usize * 4) };
        let (dx, dy, dz) = unsafe { (*other - x, *other.add(1) - y, *other.add(2) - z) };
        let r = dx * dx + dy * dy + dz * dz + 0.01;
        let w = unsafe { *other.add(3) } / (r * r);
        fx += w * dx;
        fy += w * dy;
        fz += w * dz;
        j += 1;
    }
    let out = unsafe { f.add(i as usize * 3) };
    unsafe {
        *out = fx;
        *out.add(1) = fy;
        *out.add(2) = fz;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn mandelbrot(width: u32, limit: u32, scale: f32, out: *mut u32) {
    let (px, py) = (
        index(),
        gpu::block_idx_y() * gpu::block_dim_y() + gpu::thread_idx_y(),
    );
    let (cx, cy) = (px as f32 * scale - 2.0, py as f32 * scale - 1.5);
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut count = 0;
    while count < limit && x * x + y * y < 4.0 {
        let next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        count += 1;
    }
    unsafe { *out.add((py * width + px) as usize) = count };
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn collatz(n: u32, out: *mut u32) {
    let i = index();
    if i >= n {
        return;
    }
    let mut value = i as u64 + 1;
    let mut steps = 0;
    while value != 1 {
        value = if value & 1 == 0 {
            value / 2
        } else {
            value * 3 + 1
        };
        steps += 1;
    }
    unsafe { *out.add(i as usize) = steps };
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn polynomial(n: u32, degree: u32, c: *const f64, x: *mut f64) {
    let i = index();
    if i < n {
        let value = unsafe { *x.add(i as usize) };
        let mut s = 0.0f64;
        let mut k = 0;
        while k < degree {
            s = s * value + unsafe { *c.add(k as usize) };
            k += 1;
        }
        unsafe { *x.add(i as usize) = s };
    }
}
