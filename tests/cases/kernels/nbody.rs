//! Gravity between all pairs of bodies.
#![no_std]

use gpu::{Float, Shared};
use vectors::Vector;

/// A place and a mass.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Body {
    place: Vector<f32, 3>,
    mass: f32,
}

/// Bodies per tile.
const TILE: usize = 64;

/// What a body pulls at a place.
#[inline]
fn pull(at: Vector<f32, 3>, body: &Body, softening: f32) -> Vector<f32, 3> {
    let way = body.place - at;
    let inverse = (way.dot(way) + softening).rsqrt();
    way * (body.mass * inverse * inverse * inverse)
}

/// The acceleration of every body, tile by tile through shared memory.
///
/// # Safety
/// `bodies` and `out` point to `n` elements; a block has at most 64 threads.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn accelerations(
    bodies: *const Body,
    out: *mut Vector<f32, 3>,
    n: usize,
    softening: f32,
) {
    let tile: Shared<[Body; TILE]> = gpu::shared!([Body; TILE]);
    let size = gpu::block_size() as usize;
    assert!(size <= TILE);
    let (i, rank) = (gpu::global_rank(), gpu::thread_rank() as usize);
    // SAFETY: `i < n` where it counts; all threads reach the barriers.
    unsafe {
        let at = (i < n).then(|| (*bodies.add(i)).place);
        let mut sum = Vector::ZERO;
        for start in (0..n).step_by(size) {
            let there = size.min(n - start);
            if rank < there {
                tile.write(rank, bodies.add(start + rank).read());
            }
            gpu::barrier();
            if let Some(at) = at {
                let others = &(&*tile.as_ptr())[..there];
                for body in others {
                    sum += pull(at, body, softening);
                }
            }
            gpu::barrier();
        }
        if i < n {
            out.add(i).write(sum);
        }
    }
}

/// The same without tiles, through slices and iterators.
///
/// # Safety
/// `bodies` and `out` point to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn accelerations_plain(
    bodies: *const Body,
    out: *mut Vector<f32, 3>,
    n: usize,
    softening: f32,
) {
    // SAFETY: the caller vouches for the buffers.
    let bodies = unsafe { core::slice::from_raw_parts(bodies, n) };
    for i in slices::mine(n) {
        let sum = bodies
            .iter()
            .map(|body| pull(bodies[i].place, body, softening))
            .sum();
        // SAFETY: `i < n`.
        unsafe { out.add(i).write(sum) };
    }
}

/// Moves bodies.
///
/// # Safety
/// The pointers lead to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn step(
    bodies: *mut Body,
    speeds: *mut Vector<f32, 3>,
    pulls: *const Vector<f32, 3>,
    n: usize,
    time: f32,
) {
    for i in slices::mine(n) {
        // SAFETY: `i < n`, and each thread has its own elements.
        unsafe {
            *speeds.add(i) += *pulls.add(i) * time;
            (*bodies.add(i)).place += *speeds.add(i) * time;
        }
    }
}
