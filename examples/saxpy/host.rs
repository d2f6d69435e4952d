//! Runs the kernel saxpy, y = a x + y, from the fat binary that is linked into this program.

#[path = "../host/cuda_driver.rs"]
mod cuda_driver;

use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr::from_mut;

use cuda_driver::Gpu;

unsafe extern "C" {
    // Defined by the host object that Bazel or `fatcrate build` makes.
    static saxpy_start: u8;
    static saxpy_end: u8;
}

fn run(gpu: &mut Gpu) -> Result<(), String> {
    let n: u32 = 100_003; // no multiple of the block's size
    let a = 2.5_f32;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let mut y = vec![1.0_f32; n as usize];

    gpu.load(&raw const saxpy_start)?;
    let (mut count, mut factor) = (n, a);
    let (mut device_x, mut device_y) = (gpu.upload(&x)?, gpu.upload(&y)?);
    let mut parameters: [*mut c_void; 4] = [
        from_mut(&mut count).cast(),
        from_mut(&mut factor).cast(),
        from_mut(&mut device_x).cast(),
        from_mut(&mut device_y).cast(),
    ];
    // SAFETY: the kernel's parameters are u32, f32 and two pointers to `n` elements.
    unsafe { gpu.launch("saxpy", n.div_ceil(256), 256, &mut parameters)? };
    gpu.download(device_y, &mut y)?;

    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        if (a * x + 1.0 - y).abs() > 1e-3 {
            return Err(format!("y[{i}] is {y}, not {}", a * x + 1.0));
        }
    }
    println!("saxpy: {n} elements are right");
    Ok(())
}

fn main() -> ExitCode {
    let size = (&raw const saxpy_end).addr() - (&raw const saxpy_start).addr();
    println!("saxpy: a fat binary of {size} bytes is linked in");
    let mut gpu = match Gpu::find() {
        Ok(gpu) => gpu,
        Err(reason) => {
            println!("saxpy: nothing was run: {reason}");
            return ExitCode::SUCCESS;
        }
    };
    match run(&mut gpu) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("saxpy: {fault}");
            ExitCode::FAILURE
        }
    }
}
