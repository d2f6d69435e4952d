// The few calls of the CUDA driver that the examples need, found at run time: a program that
// uses them is built and started without CUDA.
#ifndef EXAMPLES_HOST_CUDA_DRIVER_H_
#define EXAMPLES_HOST_CUDA_DRIVER_H_

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace cuda {

// Types of cuda.h, as its ABI has them.
using Result = int;
using Device = int;
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using Pointer = unsigned long long;

// Entry points of libcuda.so.1; the suffix _v2 belongs to their names since CUDA 4.
struct Driver {
  Result (*init)(unsigned flags);
  Result (*error_name)(Result, const char**);
  Result (*device_get)(Device*, int ordinal);
  Result (*device_name)(char*, int size, Device);
  Result (*context_retain)(Context*, Device);
  Result (*context_set)(Context);
  Result (*module_load)(Module*, const void* image);
  Result (*module_function)(Function*, Module, const char* name);
  Result (*allocate)(Pointer*, size_t bytes);
  Result (*release)(Pointer);
  Result (*upload)(Pointer, const void*, size_t bytes);
  Result (*download)(void*, Pointer, size_t bytes);
  Result (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                   void** parameters, void** extra);
  Result (*synchronize)();
};

// Sets `function`, a pointer to a function, to the library's; says whether it has that.
template <typename F>
bool find(void* library, F* function, const char* name) {
  void* found = dlsym(library, name);
  static_assert(sizeof found == sizeof *function, "code and data have addresses of one size");
  std::memcpy(function, &found, sizeof found);
  return found != nullptr;
}

// Loads the driver. On failure returns why in `reason`, which is not an error of the program.
inline bool load(Driver* driver, std::string* reason) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    *reason = "no CUDA driver is installed (libcuda.so.1)";
    return false;
  }
  bool complete = true;
  complete &= find(library, &driver->init, "cuInit");
  complete &= find(library, &driver->error_name, "cuGetErrorName");
  complete &= find(library, &driver->device_get, "cuDeviceGet");
  complete &= find(library, &driver->device_name, "cuDeviceGetName");
  complete &= find(library, &driver->context_retain, "cuDevicePrimaryCtxRetain");
  complete &= find(library, &driver->context_set, "cuCtxSetCurrent");
  complete &= find(library, &driver->module_load, "cuModuleLoadData");
  complete &= find(library, &driver->module_function, "cuModuleGetFunction");
  complete &= find(library, &driver->allocate, "cuMemAlloc_v2");
  complete &= find(library, &driver->release, "cuMemFree_v2");
  complete &= find(library, &driver->upload, "cuMemcpyHtoD_v2");
  complete &= find(library, &driver->download, "cuMemcpyDtoH_v2");
  complete &= find(library, &driver->launch, "cuLaunchKernel");
  complete &= find(library, &driver->synchronize, "cuCtxSynchronize");
  if (!complete) {
    *reason = "the CUDA driver is too old";
    return false;
  }
  Device device;
  if (driver->init(0) != 0 || driver->device_get(&device, 0) != 0) {
    *reason = "the CUDA driver finds no GPU";
    return false;
  }
  return true;
}

// One GPU and the module that was loaded on it. Errors end the program: these are examples.
class Gpu {
 public:
  Gpu(const Driver& driver, const unsigned char* fatbin) : driver_(driver) {
    Device device;
    Context context;
    check(driver_.device_get(&device, 0), "cuDeviceGet");
    check(driver_.context_retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(driver_.context_set(context), "cuCtxSetCurrent");
    check(driver_.module_load(&module_, fatbin), "cuModuleLoadData");
    char name[256] = "";
    check(driver_.device_name(name, sizeof name, device), "cuDeviceGetName");
    name_ = name;
  }

  const std::string& name() const { return name_; }

  template <typename T>
  Pointer upload(const std::vector<T>& values) {
    Pointer pointer;
    check(driver_.allocate(&pointer, values.size() * sizeof(T)), "cuMemAlloc");
    check(driver_.upload(pointer, values.data(), values.size() * sizeof(T)), "cuMemcpyHtoD");
    return pointer;
  }

  template <typename T>
  void download(Pointer pointer, std::vector<T>* values) {
    check(driver_.download(values->data(), pointer, values->size() * sizeof(T)), "cuMemcpyDtoH");
  }

  void release(Pointer pointer) { check(driver_.release(pointer), "cuMemFree"); }

  // Runs a kernel on `grid` blocks of `block` threads and waits for its end. `parameters` are
  // the kernel's, in order and of its types.
  template <typename... Parameters>
  void launch(const char* kernel, unsigned grid, unsigned block, Parameters... parameters) {
    Function function;
    check(driver_.module_function(&function, module_, kernel), kernel);
    void* addresses[] = {&parameters...};
    check(driver_.launch(function, grid, 1, 1, block, 1, 1, 0, nullptr, addresses, nullptr),
          kernel);
    check(driver_.synchronize(), kernel);
  }

 private:
  void check(Result result, const char* what) const {
    if (result == 0) return;
    const char* name = nullptr;
    driver_.error_name(result, &name);
    std::fprintf(stderr, "error: %s: %s (%d)\n", what, name ? name : "unknown error", result);
    std::exit(1);
  }

  Driver driver_;
  Module module_ = nullptr;
  std::string name_;
};

}  // namespace cuda

#endif  // EXAMPLES_HOST_CUDA_DRIVER_H_
