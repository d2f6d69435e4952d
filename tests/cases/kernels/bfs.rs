//! Breadth-first search in a graph of compressed rows, a launch per level.
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use slices::Ragged;

/// No distance yet.
const FAR: u32 = u32::MAX;

/// Visits the neighbours of the nodes in `queue`; new ones go to `next`.
///
/// # Safety
/// `offsets` points to `nodes + 1` numbers and `edges` to as many as the last says;
/// `distances` and `next` to `nodes` elements; `queue` to `waiting`; `count` to one.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn expand(
    offsets: *const u32,
    nodes: usize,
    edges: *const u32,
    distances: *mut u32,
    queue: *const u32,
    waiting: u32,
    next: *mut u32,
    count: *mut u32,
    level: u32,
) {
    // SAFETY: as the caller says.
    let (graph, distances, queue, count) = unsafe {
        (
            Ragged::new(offsets, nodes, edges),
            core::slice::from_raw_parts(distances.cast::<AtomicU32>(), nodes),
            core::slice::from_raw_parts(queue, waiting as usize),
            AtomicU32::from_ptr(count),
        )
    };
    for i in slices::mine(queue.len()) {
        let Some(neighbours) = graph.row(queue[i] as usize) else {
            continue;
        };
        for &node in neighbours {
            let distance = &distances[node as usize];
            if distance
                .compare_exchange(FAR, level + 1, Relaxed, Relaxed)
                .is_ok()
            {
                let place = count.fetch_add(1, Relaxed) as usize;
                assert!(place < nodes);
                // SAFETY: `place < nodes`, and no other thread got it.
                unsafe { next.add(place).write(node) };
            }
        }
    }
}

/// Lets distances grow shorter along weighted edges until nothing changes; `changed` says so.
///
/// # Safety
/// As for [`expand`]; `weights` points to as many elements as `edges`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn relax(
    offsets: *const u32,
    nodes: usize,
    edges: *const (u32, u32),
    distances: *mut u32,
    changed: *mut u32,
) {
    // SAFETY: as the caller says.
    let (graph, distances, changed) = unsafe {
        (
            Ragged::new(offsets, nodes, edges),
            core::slice::from_raw_parts(distances.cast::<AtomicU32>(), nodes),
            AtomicU32::from_ptr(changed),
        )
    };
    for i in slices::mine(nodes) {
        let here = distances[i].load(Relaxed);
        if here == FAR {
            continue;
        }
        for &(node, weight) in graph.row(i).unwrap_or_default() {
            let there = here.saturating_add(weight);
            if distances[node as usize].fetch_min(there, Relaxed) > there {
                changed.store(1, Relaxed);
            }
        }
    }
}
