//! Positions, shared memory, barriers, statics, every class of parameter.
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering};

/// Ten numbers per thread: where it is in the launch.
///
/// # Safety
/// `out` points to 16 elements per thread of the grid.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn positions(out: *mut u32) {
    let (thread, block) = (gpu::thread_idx(), gpu::block_idx());
    let (threads, blocks) = (gpu::block_dim(), gpu::grid_dim());
    let values = [
        thread.x,
        thread.y,
        thread.z,
        block.x,
        block.y,
        block.z,
        threads.x,
        threads.y,
        threads.z,
        blocks.x,
        blocks.y,
        blocks.z,
        gpu::thread_rank(),
        gpu::block_rank() as u32,
        gpu::lane_id(),
        gpu::warp_size(),
    ];
    // SAFETY: each thread has its own 16 elements.
    unsafe {
        out.cast::<[u32; 16]>()
            .add(gpu::global_rank())
            .write(values)
    };
}

/// `axes[i]` counts the threads whose index along an axis is `i`.
///
/// # Safety
/// `axes` points to 3 × 64 zeros.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn count_axes(axes: *mut u32) {
    for (axis, index) in [gpu::global_x(), gpu::global_y(), gpu::global_z()]
        .into_iter()
        .enumerate()
    {
        // SAFETY: the test launches fewer than 64 threads along each axis.
        unsafe { AtomicU32::from_ptr(axes.add(axis * 64 + index)).fetch_add(1, Ordering::Relaxed) };
    }
}

/// One parameter of each class, stored as 64-bit numbers.
///
/// # Safety
/// `out` points to 10 elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn parameters(
    a: i8,
    b: u16,
    c: i32,
    d: u64,
    e: bool,
    f: f32,
    g: f64,
    h: *const u32,
    out: *mut i64,
) {
    let values = [
        i64::from(a),
        i64::from(b),
        i64::from(c),
        d as i64,
        i64::from(e),
        f as i64,
        g as i64,
        i64::from(h.is_null()),
    ];
    // SAFETY: the caller vouches for `out`.
    unsafe { out.cast::<[i64; 8]>().write(values) };
}

/// Reverses each block's elements through dynamic shared memory.
///
/// # Safety
/// `x` points to an element per thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reverse(x: *mut u32) {
    let tile = gpu::dynamic_shared::<u32>();
    let (rank, last) = (gpu::thread_rank() as usize, gpu::block_size() as usize - 1);
    // SAFETY: the launch gives an element of shared memory per thread.
    unsafe {
        let own = x.add(gpu::global_rank());
        tile.add(rank).write(*own);
        gpu::barrier();
        own.write(*tile.add(last - rank));
    }
}

/// Bytes of dynamic shared memory, and what is in static shared memory at the beginning.
///
/// # Safety
/// `out` points to 3 elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn fresh_shared(out: *mut u32) {
    let first = gpu::shared!([u32; 5]);
    let second = gpu::shared!(u64);
    // SAFETY: reading memory that nobody has written is what this kernel is about; on the CPU
    // it is filled.
    unsafe {
        out.write(gpu::dynamic_shared_bytes() as u32);
        out.add(1).write(first.read(4));
        out.add(2).write((*second.as_ptr() >> 32) as u32);
        first.write(4, 1);
        *second.as_ptr() = 1;
    }
}

/// Two tiles, one of them in a function that is called twice.
fn tile_address() -> usize {
    gpu::shared!([f32; 32]).as_ptr() as usize
}

/// # Safety
/// `out` points to 3 elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn addresses(out: *mut usize) {
    let other = gpu::shared!([f32; 32]).as_ptr() as usize;
    // SAFETY: the caller vouches for `out`.
    unsafe {
        out.cast::<[usize; 3]>()
            .write([tile_address(), tile_address(), other])
    };
}

static COUNTER: AtomicU32 = AtomicU32::new(5);

/// Counts threads in a static; every thread writes what it saw.
///
/// # Safety
/// `out` points to an element per thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn count(out: *mut u32) {
    let seen = COUNTER.fetch_add(1, Ordering::Relaxed);
    // SAFETY: each thread has its own element.
    unsafe { out.add(gpu::global_rank()).write(seen) };
}

/// The order in which the threads took their turn.
///
/// # Safety
/// `order` points to an element per thread, `next` to one zero.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn turns(order: *mut u32, next: *mut u32) {
    // SAFETY: each turn has its own element.
    unsafe {
        let turn = AtomicU32::from_ptr(next).fetch_add(1, Ordering::Relaxed);
        order.add(turn as usize).write(gpu::global_rank() as u32);
    }
}

/// Answers of the arch queries on the CPU: 0 and no feature.
///
/// # Safety
/// `out` points to 2 elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn queries(out: *mut u32) {
    let features = [gpu::Feature::F16Arithmetic, gpu::Feature::Wgmma];
    let present = features.into_iter().filter(|f| gpu::has(*f)).count() as u32;
    // SAFETY: the caller vouches for `out`.
    unsafe { out.cast::<[u32; 2]>().write([gpu::arch(), present]) };
}

/// Fences and the clock exist; time does not go backwards.
///
/// # Safety
/// `out` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn clock(out: *mut u64) {
    let begin = gpu::clock();
    gpu::fence_block();
    gpu::fence_device();
    gpu::fence_system();
    // SAFETY: the caller vouches for `out`.
    unsafe { out.write(gpu::clock() - begin) };
}

/// A kernel whose name a C library has too, calling the function of that name.
///
/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn exp(x: *mut f64) {
    // SAFETY: the caller vouches for `x`.
    unsafe { *x = gpu::Float::exp(*x) };
}

/// Wide integers and floats whose operations call library functions.
///
/// # Safety
/// The pointers lead to one element each.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn wide(x: *mut u128, y: *mut f64, z: *mut f32) {
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        *x = *x / 7 + *x % 7;
        *y %= 0.3;
        *z = (*x as f32) % 1000.0;
    }
}
