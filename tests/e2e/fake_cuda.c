// A CUDA driver for tests of the host programs: its GPU is this machine, and it knows one
// kernel, saxpy. What a program does wrong with the driver ends it.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;

static int initialised, retained, current, loaded;

static void demand(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fake CUDA driver: %s\n", what);
  abort();
}

Result cuInit(unsigned flags) {
  initialised = flags == 0;
  return getenv("FAKE_CUDA_NO_GPU") ? 100 : 0;
}

Result cuGetErrorName(Result result, const char **name) {
  *name = result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_UNKNOWN";
  return 0;
}

Result cuDeviceGet(int *device, int ordinal) {
  demand(initialised, "cuInit was not called");
  *device = ordinal;
  return 0;
}

Result cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  snprintf(name, size, "Fake GPU");
  return 0;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  retained = 1;
  *context = &retained;
  return 0;
}

Result cuCtxSetCurrent(void *context) {
  demand(context == &retained, "the context is none");
  current = 1;
  return 0;
}

Result cuModuleLoadData(void **module, const void *image) {
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  demand(current, "no context is current");
  demand(magic == 0xBA55ED50u, "the image is no fat binary");
  loaded = 1;
  *module = &loaded;
  return 0;
}

Result cuModuleGetFunction(void **function, void *module, const char *name) {
  demand(module == &loaded, "the module is none");
  if (strcmp(name, "saxpy") != 0) return 500;
  *function = &loaded;
  return 0;
}

Result cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  *pointer = (uint64_t)(uintptr_t)malloc(bytes);
  return 0;
}

Result cuMemFree_v2(uint64_t pointer) {
  free((void *)(uintptr_t)pointer);
  return 0;
}

Result cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}

Result cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return 0;
}

Result cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                      void *stream, void **parameters, void **extra) {
  (void)stream;
  demand(function == &loaded && extra == NULL, "the launch is malformed");
  demand(grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 && shared == 0,
         "the launch has odd dimensions");
  if (getenv("FAKE_CUDA_FAULT")) return 700;
  unsigned n = *(unsigned *)parameters[0];
  float a = *(float *)parameters[1];
  const float *x = (const float *)(uintptr_t) * (uint64_t *)parameters[2];
  float *y = (float *)(uintptr_t) * (uint64_t *)parameters[3];
  float wrong = getenv("FAKE_CUDA_WRONG") ? 1.0f : 0.0f;
  for (unsigned i = 0; i < n && i < grid_x * block_x; ++i) y[i] = a * x[i] + y[i] + wrong;
  return 0;
}

Result cuCtxSynchronize(void) { return 0; }
