#![no_std]
extern crate alloc;
use alloc::{collections::BTreeMap, format, rc::Rc, string::String};
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn k(x: *mut u32, n: u32) {
    let mut m = BTreeMap::new();
    for i in 0..n {
        m.insert(i, format!("{i}-{}", i * 2));
    }
    let s: Rc<String> = Rc::new(m.values().cloned().collect());
    unsafe {
        *x = s.len() as u32;
    }
}
