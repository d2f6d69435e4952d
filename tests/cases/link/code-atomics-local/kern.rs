#![no_std]
use core::sync::atomic::{AtomicBool, AtomicI16, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};
use core::sync::atomic::{Ordering::*, fence};

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn own(x: *mut u32) {
    let x = unsafe { &mut *x.cast::<[u32; 2]>() };
    let pair = [AtomicU32::new(x[0]), AtomicU32::new(3)];
    let one = &pair[x[1] as usize % 2];
    let found = [
        one.fetch_add(x[1], Relaxed),
        one.fetch_sub(7, AcqRel),
        one.fetch_and(0xffff_0ff0, Acquire),
        one.fetch_or(5, Release),
        one.fetch_xor(9, SeqCst),
        one.fetch_nand(x[0], SeqCst),
        one.fetch_max(77, SeqCst),
        one.fetch_min(x[1], SeqCst),
        one.swap(x[0], SeqCst),
        one.load(Acquire),
    ];
    one.store(8, SeqCst);
    fence(SeqCst);
    x[0] = found.iter().fold(0, |h, v| h * 31 ^ v);
    x[1] = pair[0].load(Relaxed) ^ pair[1].load(SeqCst) << 3;
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn exchanged(x: *mut u32) {
    let x = unsafe { &mut *x.cast::<[u32; 2]>() };
    let wide = [AtomicU64::new(x[0].into()), AtomicU64::new(x[1].into())];
    let one = &wide[x[1] as usize % 2];
    let first = one.compare_exchange(x[0].into(), 5, SeqCst, Relaxed);
    let second = one.compare_exchange_weak(5, 6, AcqRel, Acquire);
    x[0] = first.map_or_else(|v| v as u32 ^ 1, |v| v as u32) ^ second.is_ok() as u32;
    x[1] = wide[1].load(Relaxed) as u32;
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn narrow(x: *mut u32) {
    let x = unsafe { &mut *x.cast::<[u32; 2]>() };
    let bytes = [AtomicU8::new(x[0] as u8), AtomicU8::new(9)];
    let flags = [AtomicBool::new(x[1] % 2 == 0), AtomicBool::new(true)];
    let short = [AtomicI16::new(x[1] as i16), AtomicI16::new(-5)];
    let i = x[1] as usize % 2;
    let byte = bytes[i]
        .compare_exchange(9, x[1] as u8, SeqCst, SeqCst)
        .unwrap_or(1);
    let most = short[i].fetch_max(x[0] as i16, AcqRel) as u32;
    let flag = flags[i].fetch_not(Relaxed) as u32
        + flags[i]
            .compare_exchange(true, false, Acquire, Relaxed)
            .is_ok() as u32;
    let mut target = [x[0], x[1]];
    let pointer = AtomicPtr::new(&raw mut target[i]);
    let old = pointer.swap(&raw mut target[1 - i], AcqRel);
    let same = pointer
        .compare_exchange(old, &raw mut target[0], SeqCst, Relaxed)
        .is_ok() as u32;
    let held = unsafe { *pointer.load(Acquire) };
    x[0] = byte as u32 ^ most << 8 ^ flag << 4 ^ same << 6;
    x[1] = held ^ short[i].swap(3, SeqCst) as u32;
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn either(x: *mut u32) {
    let local = AtomicU32::new(4);
    unsafe {
        let global = AtomicU32::from_ptr(x);
        let one = if *x.add(1) % 3 == 0 { &local } else { global };
        let old = one.fetch_add(2, SeqCst);
        let _ = one.compare_exchange(old + 2, 1, SeqCst, Relaxed);
        one.store(one.load(Acquire) + 1, Release);
        *x.add(1) = local.load(Relaxed) ^ old;
    }
}

#[inline(never)]
fn apart(a: &AtomicU32, v: u32) -> u32 {
    let old = a.fetch_max(v, AcqRel);
    a.compare_exchange(old, v ^ 1, SeqCst, Acquire).unwrap_or(3) ^ a.load(SeqCst)
}

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn through(x: *mut u32) {
    let local = AtomicU32::new(unsafe { *x });
    unsafe {
        *x = apart(&local, 40);
        *x.add(1) = apart(AtomicU32::from_ptr(x.add(1)), 50) ^ local.into_inner();
    }
}

static COUNT: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn elsewhere(x: *mut u32) {
    unsafe {
        AtomicU32::from_ptr(x.add(1)).fetch_add(1, Relaxed);
        COUNT.fetch_max(AtomicU32::from_ptr(x).fetch_xor(9, Relaxed), Relaxed);
    }
}
