// Twelve kernels, written like those of sass.rs.
#define KERNEL extern "C" __global__ void
__device__ __forceinline__ unsigned index() { return blockIdx.x * blockDim.x + threadIdx.x; }

KERNEL saxpy(unsigned n, float a, const float *x, float *y) {
  unsigned i = index();
  if (i < n) y[i] = a * x[i] + y[i];
}
KERNEL dot(unsigned n, const float *x, const float *y, float *out) {
  float s = 0.0f;
  unsigned stride = gridDim.x * blockDim.x;
#pragma unroll 1
  for (unsigned i = index(); i < n; i += stride) s += x[i] * y[i];
  out[index()] = s;
}
KERNEL stencil(unsigned n, const double *x, double *y) {
  unsigned i = index();
  if (i > 0 && i + 1 < n) {
    const double *p = x + i;
    y[i] = 0.25 * p[-1] + 0.5 * p[0] + 0.25 * p[1];
  }
}
KERNEL gather(unsigned n, const unsigned *at, const float *x, float *y) {
  unsigned i = index();
  if (i < n) y[i] = x[at[i]];
}
KERNEL histogram(unsigned n, const unsigned char *x, unsigned *bins) {
  unsigned i = index();
  if (i < n) atomicAdd(bins + x[i], 1u);
}
KERNEL reduce(const float *x, float *out) {
  __shared__ float shared[256];
  unsigned t = threadIdx.x;
  shared[t] = x[index()];
  __syncthreads();
#pragma unroll 1
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = shared[0];
}
KERNEL transpose(unsigned width, unsigned height, const float *x, float *y) {
  __shared__ float tile[1056];
  unsigned tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  if (bx + tx < width && by + ty < height) tile[ty * 33 + tx] = x[(by + ty) * width + bx + tx];
  __syncthreads();
  if (by + tx < height && bx + ty < width) y[(bx + ty) * height + by + tx] = tile[tx * 33 + ty];
}
KERNEL matmul(unsigned n, const float *a, const float *b, float *c) {
  unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = index();
  if (row < n && column < n) {
    float s = 0.0f;
#pragma unroll 1
    for (unsigned k = 0; k < n; k++) s += a[row * n + k] * b[k * n + column];
    c[row * n + column] = s;
  }
}
KERNEL nbody(unsigned n, const float *p, float *f) {
  unsigned i = index();
  const float *me = p + (size_t)i * 4;
  float x = me[0], y = me[1], z = me[2], fx = 0.0f, fy = 0.0f, fz = 0.0f;
#pragma unroll 1
  for (unsigned j = 0; j < n; j++) {
    const float *other = p + (size_t)j * 4;
    float dx = other[0] - x, dy = other[1] - y, dz = other[2] - z;
    float r = dx * dx + dy * dy + dz * dz + 0.01f;
    float w = other[3] / (r * r);
    fx += w * dx;
    fy += w * dy;
    fz += w * dz;
  }
  float *out = f + (size_t)i * 3;
  out[0] = fx;
  out[1] = fy;
  out[2] = fz;
}
KERNEL mandelbrot(unsigned width, unsigned limit, float scale, unsigned *out) {
  unsigned px = index(), py = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = px * scale - 2.0f, cy = py * scale - 1.5f, x = 0.0f, y = 0.0f;
  unsigned count = 0;
#pragma unroll 1
  while (count < limit && x * x + y * y < 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    count++;
  }
  out[py * width + px] = count;
}
KERNEL collatz(unsigned n, unsigned *out) {
  unsigned i = index();
  if (i >= n) return;
  unsigned long long value = (unsigned long long)i + 1;
  unsigned steps = 0;
#pragma unroll 1
  while (value != 1) {
    value = (value & 1) == 0 ? value / 2 : value * 3 + 1;
    steps++;
  }
  out[i] = steps;
}
KERNEL polynomial(unsigned n, unsigned degree, const double *c, double *x) {
  unsigned i = index();
  if (i < n) {
    double value = x[i], s = 0.0;
#pragma unroll 1
    for (unsigned k = 0; k < degree; k++) s = s * value + c[k];
    x[i] = s;
  }
}
