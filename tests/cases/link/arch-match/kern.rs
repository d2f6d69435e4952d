// gpu
// opt: 0
#![no_std]
#![feature(link_llvm_intrinsics)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
    fn setmaxnreg(n: u32);
}
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    unsafe {
        *x = match gpu::arch() {
            750 => 11,
            800..=890 => 22,
            900 => {
                if gpu::has(gpu::Feature::SetMaxNReg) {
                    setmaxnreg(240)
                }
                33
            }
            _ => 44,
        };
    }
}
