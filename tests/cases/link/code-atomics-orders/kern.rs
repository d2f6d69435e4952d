#![no_std]
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
macro_rules! kernels {
    ($($name:ident $order:ident $failure:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "gpu-kernel" fn $name(x: *mut u32, y: *mut u64) {
            unsafe {
                let y = AtomicU64::from_ptr(y);
                let old = AtomicU32::from_ptr(x).fetch_add(3, Ordering::$order);
                let more = y.swap(u64::from(old), Ordering::$order);
                let _ = y.compare_exchange(more, 8, Ordering::$order, Ordering::$failure);
                *x.add(1) = y.fetch_max(7, Ordering::$order) as u32;
            }
        }
    )* };
}
kernels! { relaxed Relaxed Relaxed }
kernels! { acquire Acquire Acquire }
kernels! { release Release Relaxed }
kernels! { acq_rel AcqRel Acquire }
kernels! { seq_cst SeqCst SeqCst }
