//! Kernels with one fault each.
#![no_std]

use core::ptr;

/// # Safety
/// `x` points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn write_at(x: *mut f32, index: isize) {
    // SAFETY: none; this is the fault.
    unsafe { x.offset(index).write(1.0) };
}

/// Adds 0 out of bounds: the value stays, the write is there.
///
/// # Safety
/// `x` points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn add_at(x: *mut f64, index: isize) {
    // SAFETY: none; this is the fault.
    unsafe { ptr::write_volatile(x.offset(index), ptr::read_volatile(x.offset(index)) + 0.0) };
}

/// # Safety
/// `x` points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn read_at(x: *mut f32, index: isize) {
    // SAFETY: none; this is the fault.
    unsafe { x.write(x.offset(index).read()) };
}

/// # Safety
/// `x` points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn panics(x: *mut f32, n: usize) {
    let i = gpu::global_rank();
    // SAFETY: the caller vouches for `x`; one thread at a time.
    let x = unsafe { core::slice::from_raw_parts_mut(x, n) };
    x[i] = 1.0;
}

#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn traps(thread: u32) {
    if gpu::thread_rank() == thread {
        gpu::trap();
    }
    gpu::barrier();
}

/// Writes behind the tile, or before it.
#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn write_shared(index: isize) {
    let tile = gpu::shared!([u8; 30]);
    if gpu::thread_rank() == 0 {
        // SAFETY: none; this is the fault.
        unsafe { ptr::write_volatile(tile.as_ptr().cast::<u8>().offset(index), 3) };
    }
}

#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn write_dynamic(index: isize) {
    // SAFETY: none; this is the fault.
    unsafe { gpu::dynamic_shared::<u8>().offset(index).write(3) };
}

/// Threads from `n` on return before the barrier.
#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn early_return(n: u32) {
    if gpu::thread_rank() >= n {
        return;
    }
    gpu::barrier();
}

/// Even and odd threads wait at different barriers. The stores keep the branches apart.
///
/// # Safety
/// `x` points to an element per thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn two_barriers(x: *mut u32) {
    let rank = gpu::thread_rank();
    // SAFETY: each thread has its own element.
    let own = unsafe { &mut *x.add(rank as usize) };
    if rank % 2 == 0 {
        *own += 1;
        gpu::barrier();
        *own *= 3;
    } else {
        *own += 5;
        gpu::barrier();
        gpu::fence_block();
        *own *= 7;
    }
}

#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn forever(x: *mut u32) {
    loop {
        // SAFETY: the caller vouches for `x`.
        unsafe { ptr::write_volatile(x, gpu::thread_rank()) };
    }
}

/// Each call needs its frame until the inner one has returned.
#[inline(never)]
fn recurse(outer: &[u32; 64]) -> u32 {
    let mut frame = *outer;
    frame[outer[0] as usize % 64] += 1;
    if frame[1] == u32::MAX {
        0
    } else {
        recurse(&frame) + frame[2]
    }
}

/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn deep(x: *mut u32) {
    // SAFETY: the caller vouches for `x`.
    unsafe { x.write(recurse(&[*x; 64])) };
}

/// Uses more stack than the runner gives by default.
///
/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn large_frame(x: *mut u32) {
    let mut frame = [7u32; 1 << 17];
    // SAFETY: the caller vouches for `x`.
    unsafe {
        ptr::write_volatile(&mut frame[(*x) as usize], 1);
        x.write(ptr::read_volatile(&frame[(*x) as usize + 1]));
    }
}

#[unsafe(no_mangle)]
pub extern "gpu-kernel" fn fine() {}
