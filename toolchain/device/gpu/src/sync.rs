//! Barrier, memory fences, trap and clock.

use crate::primitives::{
    __fc_barrier, __fc_clock, __fc_fence_block, __fc_fence_device, __fc_fence_system, __fc_trap,
};

/// Waits for all threads of the block. What they wrote to shared or global memory before it
/// is seen by all of them after it.
///
/// Every thread of the block must reach the same call, the same number of times: a barrier in
/// a branch that only some threads take, or after some of them have returned, hangs or worse.
/// The CPU runner reports both.
#[inline(always)]
pub fn barrier() {
    __fc_barrier();
}

/// Orders this thread's memory accesses as seen by the threads of its block.
#[inline(always)]
pub fn fence_block() {
    __fc_fence_block();
}

/// Orders this thread's memory accesses as seen by all threads of the device.
#[inline(always)]
pub fn fence_device() {
    __fc_fence_device();
}

/// Orders this thread's memory accesses as seen by the device, the host and other devices.
#[inline(always)]
pub fn fence_system() {
    __fc_fence_system();
}

/// Ends the program on the device with an error that the host sees at its next call. The CPU
/// runner ends the one thread and reports it.
#[inline(always)]
pub fn trap() -> ! {
    __fc_trap()
}

/// A counter of clock cycles, for measuring inside a kernel; only differences mean something.
#[inline(always)]
#[must_use]
pub fn clock() -> u64 {
    __fc_clock()
}
