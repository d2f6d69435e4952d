// gpu
#![no_std]
use gpu::Feature;

pub enum Path {
    Old,
    New(u32),
}

pub fn supported(feature: Feature) -> bool {
    inner(feature, 3) && gpu::arch() > 1
}

fn inner(feature: Feature, _: u8) -> bool {
    gpu::has(feature)
}

pub fn at_least(arch: u32) -> bool {
    gpu::arch() >= arch
}

pub fn level() -> u8 {
    match gpu::arch() {
        0..800 => 1,
        800..900 => 2,
        900..1000 => 3,
        _ => 4,
    }
}

pub fn path(n: u32) -> Path {
    if gpu::has(Feature::Wgmma) {
        Path::New(n)
    } else {
        Path::Old
    }
}

#[inline(never)]
pub fn counted(feature: Feature) -> u32 {
    gpu::has(feature) as u32
}
