// Runs the kernel saxpy, y = a x + y, from the fat binary that is linked into this program.

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/host/cuda_driver.h"
#include "examples/saxpy/kernels.h"

int main() {
  std::printf("saxpy: a fat binary of %zu bytes is linked in; its kernels:", saxpy_size());
  for (auto name = saxpy_kernels(); *name != nullptr; ++name) std::printf(" %s", *name);
  std::printf("\n");

  cuda::Driver driver;
  std::string reason;
  if (!cuda::load(&driver, &reason)) {
    std::printf("saxpy: nothing was run: %s\n", reason.c_str());
    return 0;
  }

  const unsigned n = 100003;  // no multiple of the block's size
  const float a = 2.5f;
  std::vector<float> x(n), y(n), expected(n);
  for (unsigned i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = 1.0f;
    expected[i] = a * x[i] + y[i];
  }

  cuda::Gpu gpu(driver, saxpy_start);
  cuda::Pointer device_x = gpu.upload(x);
  cuda::Pointer device_y = gpu.upload(y);
  gpu.launch("saxpy", (n + 255) / 256, 256, n, a, device_x, device_y);
  gpu.download(device_y, &y);
  gpu.release(device_x);
  gpu.release(device_y);

  for (unsigned i = 0; i < n; ++i) {
    if (std::fabs(y[i] - expected[i]) > 1e-3f) {
      std::fprintf(stderr, "saxpy: y[%u] is %g, not %g\n", i, y[i], expected[i]);
      return 1;
    }
  }
  std::printf("saxpy: %u elements are right on %s\n", n, gpu.name().c_str());
  return 0;
}
