//! What only a GPU can run, beside what any machine can.
#![no_std]
#![feature(
    asm_experimental_arch,
    stdarch_nvptx,
    link_llvm_intrinsics,
    abi_unadjusted
)]
#![allow(internal_features)]

use core::arch::{asm, nvptx};

#[inline(never)]
fn special_register() -> u32 {
    let value: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mov.u32 {}, %smid;", out(reg32) value) };
    value
}

/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn assembly(x: *mut u32) {
    // SAFETY: the caller vouches for `x`.
    unsafe { x.write(special_register()) };
}

/// The same behind a feature that the CPU does not have.
///
/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn guarded(x: *mut u32) {
    let value = if gpu::has(gpu::Feature::CpAsync) {
        special_register()
    } else {
        42
    };
    // SAFETY: the caller vouches for `x`.
    unsafe { x.write(value) };
}

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shuffle(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
}

/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn intrinsic(x: *mut u32) {
    // SAFETY: the caller vouches for `x`.
    unsafe { x.write(shuffle(!0, *x, 1, 31)) };
}

/// # Safety
/// `x` points to one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn prints(x: *mut u32) {
    // SAFETY: the format has no arguments.
    unsafe { x.write(nvptx::vprintf(c"hello\n".as_ptr().cast(), core::ptr::null()) as u32) };
}

/// NVIDIA's own names for what the device library has too: these run.
///
/// # Safety
/// `x` points to an element per thread.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn native_names(x: *mut u32) {
    // SAFETY: each thread has its own element.
    unsafe {
        let tile = gpu::shared!([u32; 64]);
        let i = nvptx::_thread_idx_x() as usize;
        tile.write(i, nvptx::_block_dim_x() * 100 + nvptx::_block_idx_x());
        nvptx::_syncthreads();
        x.add(gpu::global_rank())
            .write(tile.read((i + 1) % nvptx::_block_dim_x() as usize));
        if i == 63 {
            nvptx::trap();
        }
    }
}
