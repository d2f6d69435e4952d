// gpu
// opt: 0
#![no_std]
#![feature(link_llvm_intrinsics)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
    fn setmaxnreg(n: u32);
}
fn far() {
    unsafe { setmaxnreg(240) }
}
fn supported() -> bool {
    gpu::has(gpu::Feature::SetMaxNReg)
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    if gpu::has(gpu::Feature::SetMaxNReg) {
        far();
    }
    if supported() {
        far();
    }
    unsafe {
        *x = gpu::arch();
    }
}
