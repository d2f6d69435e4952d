#![no_std]
#[unsafe(export_name = "my.kernel")]
pub unsafe extern "gpu-kernel" fn k() {}
#[unsafe(export_name = "9lives")]
pub unsafe extern "gpu-kernel" fn l() {}
