// Runs the kernel saxpy, y = a x + y, from the fat binary that is linked into this program.

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "cuda_driver.h"
#include "my_kernels.h"

int main() {
  cuda::Driver driver;
  std::string reason;
  if (!cuda::load(&driver, &reason)) {
    std::printf("my_kernels: %zu bytes of kernels are linked in; nothing was run: %s\n",
                my_kernels_size(), reason.c_str());
    return 0;
  }

  const unsigned n = 1000;
  const float a = 2.5f;
  std::vector<float> x(n), y(n, 1.0f);
  for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i);

  cuda::Gpu gpu(driver, my_kernels_start);
  cuda::Pointer device_x = gpu.upload(x);
  cuda::Pointer device_y = gpu.upload(y);
  gpu.launch("saxpy", (n + 127) / 128, 128, n, a, device_x, device_y);
  gpu.download(device_y, &y);
  gpu.release(device_x);
  gpu.release(device_y);

  for (unsigned i = 0; i < n; ++i) {
    if (std::fabs(y[i] - (a * x[i] + 1.0f)) > 1e-3f) {
      std::fprintf(stderr, "my_kernels: y[%u] is %g\n", i, y[i]);
      return 1;
    }
  }
  std::printf("my_kernels: %u elements are right on %s\n", n, gpu.name().c_str());
  return 0;
}
