#![no_std]
#![feature(link_llvm_intrinsics)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
    fn setmaxnreg(n: u32);
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn tuned(_x: *mut u32) {
    unsafe { setmaxnreg(240) }
}
