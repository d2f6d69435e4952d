// gpu
// opt: 0
#![no_std]
#![feature(asm_experimental_arch)]
use core::arch::asm;
use gpu::Feature;

macro_rules! apart {
    ($($name:ident $text:literal)*) => { $(
        fn $name() {
            unsafe { asm!(concat!("{{ .reg .b16 %h; .reg .b32 %r; .reg .b64 %d; ", $text, " }}")) }
        }
    )* };
}
apart! {
    packed "mov.b64 %d, 0; add.rn.f32x2 %d, %d, %d;"
    async_copy "mov.b64 %d, 0; cp.async.commit_group;"
    bfloat "mov.b16 %h, 0; fma.rn.bf16 %h, %h, %h, %h;"
    redux "mov.b32 %r, 0; redux.sync.add.u32 %r, %r, 0xffffffff;"
    fp8 "mov.b16 %h, 0; cvt.rn.f16x2.e4m3x2 %r, %h;"
    cluster "barrier.cluster.arrive; barrier.cluster.wait;"
    dependency "griddepcontrol.wait;"
    wgmma "wgmma.fence.sync.aligned;"
    registers "setmaxnreg.inc.sync.aligned.u32 240;"
    tcgen "tcgen05.wait::ld.sync.aligned;"
}

fn supported() -> bool {
    gpu::has(Feature::CpAsync) && gpu::arch() >= 800
}

struct Plan {
    wide: bool,
}

impl Plan {
    fn new() -> Plan {
        Plan {
            wide: gpu::has(Feature::Bf16Arithmetic),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32) {
    let mut found = 0;
    if gpu::has(Feature::PackedF32) {
        packed();
        found |= 1;
    }
    if supported() {
        async_copy();
        found |= 2;
    }
    let plan = Plan::new();
    if plan.wide {
        bfloat();
        found |= 4;
    }
    match (gpu::has(Feature::ReduxSync), gpu::has(Feature::Fp8Convert)) {
        (true, true) => {
            redux();
            fp8();
            found |= 24;
        }
        (true, false) => {
            redux();
            found |= 8;
        }
        (false, true) => fp8(),
        (false, false) => {}
    }
    let (name, run): (u32, fn()) = if gpu::has(Feature::Cluster) {
        (32, cluster)
    } else {
        (0, || {})
    };
    run();
    found |= name;
    for _ in 0..2 {
        if !gpu::has(Feature::GridDependencyControl) {
            break;
        }
        dependency();
        found |= 64;
    }
    let tensor = || {
        if !gpu::has(Feature::Wgmma) {
            return 0;
        }
        wgmma();
        128
    };
    found |= tensor();
    unsafe { *x = found | rest() }
}

fn rest() -> u32 {
    let registers_change = gpu::has(Feature::SetMaxNReg);
    let fifth = gpu::has(Feature::Tcgen05);
    if registers_change && fifth {
        tcgen();
        registers();
        768
    } else if registers_change {
        registers();
        256
    } else if fifth {
        tcgen();
        512
    } else {
        0
    }
}
