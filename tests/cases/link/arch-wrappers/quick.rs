// gpu
// deps: b_fast
#![no_std]
#![feature(asm_experimental_arch)]
use b_fast::*;
use core::arch::asm;
use gpu::Feature;

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn quick(x: *mut u32, n: u32) {
    unsafe {
        if supported(Feature::Wgmma) {
            asm!("wgmma.fence.sync.aligned;");
        }
        if supported(Feature::CpAsync) {
            asm!("cp.async.commit_group;");
        }
        if supported(Feature::Tcgen05) {
            asm!("tcgen05.wait::ld.sync.aligned;");
        }
        if at_least(900) {
            asm!("griddepcontrol.wait;");
        }
        if at_least(800) {
            asm!("cp.async.wait_all;");
        }
        if level() >= 3 {
            asm!("barrier.cluster.arrive;");
        }
        if let Path::New(v) = path(n) {
            asm!("wgmma.commit_group.sync.aligned;");
            *x = v;
        }
        *x += counted(Feature::CpAsync) + counted(Feature::Tcgen05);
    }
}
