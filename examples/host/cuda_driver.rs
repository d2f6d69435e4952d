//! The few calls of the CUDA driver that the examples need, found at run time: a program that
//! uses them is built and started without CUDA.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::transmute_copy;
use std::ptr::{null, null_mut};

/// `CUresult` of cuda.h; 0 is success.
type Status = c_int;
/// `CUdevice`.
type Device = c_int;
/// `CUdeviceptr`.
pub type Pointer = u64;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`.
type Handle = *mut c_void;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

/// `cuLaunchKernel`: function, grid, block, bytes of shared memory, stream, parameters, extra.
type Launch = unsafe extern "C" fn(
    Handle,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    Handle,
    *mut *mut c_void,
    *mut *mut c_void,
) -> Status;

/// A shared library.
struct Library(*mut c_void);

impl Library {
    /// The function called `name`.
    ///
    /// # Safety
    /// `F` is the type of that function.
    unsafe fn function<F>(&self, name: &CStr) -> Result<F, String> {
        // SAFETY: the library is open and never closed; the name ends with NUL.
        let address = unsafe { dlsym(self.0, name.as_ptr()) };
        if address.is_null() {
            return Err(format!("the CUDA driver has no {}", name.to_string_lossy()));
        }
        // SAFETY: a function pointer has the size of its address; the caller vouches for `F`.
        Ok(unsafe { transmute_copy(&address) })
    }
}

/// One GPU, and the module that was loaded on it.
pub struct Gpu {
    library: Library,
    device: Device,
    module: Handle,
}

/// Fails with the name of the call that did.
fn check(status: Status, call: &str) -> Result<(), String> {
    match status {
        0 => Ok(()),
        code => Err(format!("{call} failed with CUDA error {code}")),
    }
}

impl Gpu {
    /// The first GPU. An error says why there is none, which need not be a fault.
    pub fn find() -> Result<Self, String> {
        // SAFETY: loading the driver runs its initialisation and nothing of ours.
        let library = Library(unsafe { dlopen(c"libcuda.so.1".as_ptr(), RTLD_NOW) });
        if library.0.is_null() {
            return Err("no CUDA driver is installed (libcuda.so.1)".into());
        }
        let mut device = 0;
        // SAFETY: the types are those of cuda.h.
        let found = unsafe {
            let init: unsafe extern "C" fn(c_uint) -> Status = library.function(c"cuInit")?;
            let get: unsafe extern "C" fn(*mut Device, c_int) -> Status =
                library.function(c"cuDeviceGet")?;
            init(0) == 0 && get(&mut device, 0) == 0
        };
        if !found {
            return Err("the CUDA driver finds no GPU".into());
        }
        Ok(Gpu {
            library,
            device,
            module: null_mut(),
        })
    }

    /// Loads a fat binary; the driver chooses the image for its GPU.
    pub fn load(&mut self, fatbin: *const u8) -> Result<(), String> {
        let mut context = null_mut();
        // SAFETY: the types are those of cuda.h, and the fat binary is complete.
        unsafe {
            let retain: unsafe extern "C" fn(*mut Handle, Device) -> Status =
                self.library.function(c"cuDevicePrimaryCtxRetain")?;
            let set: unsafe extern "C" fn(Handle) -> Status =
                self.library.function(c"cuCtxSetCurrent")?;
            let load: unsafe extern "C" fn(*mut Handle, *const c_void) -> Status =
                self.library.function(c"cuModuleLoadData")?;
            check(
                retain(&mut context, self.device),
                "cuDevicePrimaryCtxRetain",
            )?;
            check(set(context), "cuCtxSetCurrent")?;
            check(load(&mut self.module, fatbin.cast()), "cuModuleLoadData")
        }
    }

    /// A copy of `values` in the GPU's memory.
    pub fn upload<T: Copy>(&self, values: &[T]) -> Result<Pointer, String> {
        let mut pointer = 0;
        // SAFETY: the types are those of cuda.h; the sizes are those of `values`.
        unsafe {
            let allocate: unsafe extern "C" fn(*mut Pointer, usize) -> Status =
                self.library.function(c"cuMemAlloc_v2")?;
            let copy: unsafe extern "C" fn(Pointer, *const c_void, usize) -> Status =
                self.library.function(c"cuMemcpyHtoD_v2")?;
            check(allocate(&mut pointer, size_of_val(values)), "cuMemAlloc")?;
            check(
                copy(pointer, values.as_ptr().cast(), size_of_val(values)),
                "cuMemcpyHtoD",
            )?;
        }
        Ok(pointer)
    }

    /// Fills `values` from the GPU's memory.
    pub fn download<T: Copy>(&self, pointer: Pointer, values: &mut [T]) -> Result<(), String> {
        // SAFETY: the types are those of cuda.h; the size is that of `values`.
        unsafe {
            let copy: unsafe extern "C" fn(*mut c_void, Pointer, usize) -> Status =
                self.library.function(c"cuMemcpyDtoH_v2")?;
            check(
                copy(values.as_mut_ptr().cast(), pointer, size_of_val(values)),
                "cuMemcpyDtoH",
            )
        }
    }

    /// Runs a kernel on `grid` blocks of `block` threads and waits for its end.
    ///
    /// # Safety
    /// `parameters` point to values of the kernel's parameters, in order and of its types, and
    /// the kernel's own contract is kept.
    pub unsafe fn launch(
        &self,
        kernel: &str,
        grid: u32,
        block: u32,
        parameters: &mut [*mut c_void],
    ) -> Result<(), String> {
        let name = CString::new(kernel).map_err(|error| error.to_string())?;
        let mut function = null_mut();
        // SAFETY: the types are those of cuda.h; the caller vouches for the parameters.
        unsafe {
            let get: unsafe extern "C" fn(*mut Handle, Handle, *const c_char) -> Status =
                self.library.function(c"cuModuleGetFunction")?;
            let launch: Launch = self.library.function(c"cuLaunchKernel")?;
            let wait: unsafe extern "C" fn() -> Status =
                self.library.function(c"cuCtxSynchronize")?;
            check(get(&mut function, self.module, name.as_ptr()), kernel)?;
            check(
                launch(
                    function,
                    grid,
                    1,
                    1,
                    block,
                    1,
                    1,
                    0,
                    null_mut(),
                    parameters.as_mut_ptr(),
                    null::<*mut c_void>().cast_mut(),
                ),
                kernel,
            )?;
            check(wait(), kernel)
        }
    }
}
