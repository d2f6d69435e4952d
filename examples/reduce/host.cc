// Runs the reductions `sum` and `max` from the fat binary that is linked into this program.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/host/cuda_driver.h"
#include "examples/reduce/kernels.h"

namespace {

constexpr unsigned kBlocks = 64;
constexpr unsigned kThreads = 256;

// One value per block, as the kernel leaves it.
std::vector<float> reduce(cuda::Gpu* gpu, const char* kernel, const std::vector<float>& x) {
  std::vector<float> out(kBlocks);
  cuda::Pointer device_x = gpu->upload(x);
  cuda::Pointer device_out = gpu->upload(out);
  gpu->launch(kernel, kBlocks, kThreads, device_x, x.size(), device_out, out.size());
  gpu->download(device_out, &out);
  gpu->release(device_x);
  gpu->release(device_out);
  return out;
}

bool near(const char* what, double found, double expected) {
  if (std::fabs(found - expected) <= 1e-4 * std::fabs(expected)) return true;
  std::fprintf(stderr, "reduce: %s is %g, not %g\n", what, found, expected);
  return false;
}

}  // namespace

int main() {
  std::printf("reduce: a fat binary of %zu bytes is linked in; its kernels:", reduce_size());
  for (auto name = reduce_kernels(); *name != nullptr; ++name) std::printf(" %s", *name);
  std::printf("\n");

  cuda::Driver driver;
  std::string reason;
  if (!cuda::load(&driver, &reason)) {
    std::printf("reduce: nothing was run: %s\n", reason.c_str());
    return 0;
  }

  std::vector<float> x(1000003);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1021) - 100.0f;
  double sum = 0;
  for (float value : x) sum += value;
  float largest = *std::max_element(x.begin(), x.end());

  cuda::Gpu gpu(driver, reduce_start);
  double found_sum = 0;
  for (float part : reduce(&gpu, "sum", x)) found_sum += part;
  std::vector<float> parts = reduce(&gpu, "max", x);
  float found_largest = *std::max_element(parts.begin(), parts.end());

  if (!near("sum", found_sum, sum) || !near("max", found_largest, largest)) return 1;
  std::printf("reduce: %zu elements are right on %s\n", x.size(), gpu.name().c_str());
  return 0;
}
