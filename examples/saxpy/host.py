"""Runs the kernel saxpy, y = a x + y, from a generated Python module.

    fatcrate embed fatcrate-out/saxpy.fatbin --symbol saxpy --python saxpy_kernels.py
    python3 host.py saxpy_kernels.py

Without a GPU it says so and stops. It needs Python and the CUDA driver, nothing else.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from array import array
from types import ModuleType

N = 100_003  # no multiple of the block's size
A = 2.5


def load_kernels(path: str) -> ModuleType:
    """The module that `fatcrate embed --python` wrote."""
    spec = importlib.util.spec_from_file_location("kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Driver:
    """The CUDA driver; a failed call ends the program with the call's name."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self.has_gpu = self._library.cuInit(0) == 0

    def call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            sys.exit(f"saxpy: {name} failed with error {result}")

    def start(self) -> None:
        """Makes the first GPU current."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def function(self, image: bytes, name: str) -> ctypes.c_void_p:
        """A kernel of a fat binary."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def upload(self, data: array[float]) -> ctypes.c_uint64:
        """A copy of ``data`` on the GPU."""
        pointer, size = ctypes.c_uint64(), len(data) * data.itemsize
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        address = ctypes.c_void_p(data.buffer_info()[0])
        self.call("cuMemcpyHtoD_v2", pointer, address, ctypes.c_size_t(size))
        return pointer

    def download(self, pointer: ctypes.c_uint64, data: array[float]) -> None:
        address = ctypes.c_void_p(data.buffer_info()[0])
        size = ctypes.c_size_t(len(data) * data.itemsize)
        self.call("cuMemcpyDtoH_v2", address, pointer, size)


def main(path: str) -> int:
    """Loads, launches, compares; 1 when a result is wrong."""
    kernels = load_kernels(path)
    names = " ".join(kernels.KERNELS)
    print(f"saxpy: a fat binary of {len(kernels.image())} bytes; its kernels: {names}")
    try:
        driver = Driver()
    except OSError:
        print("saxpy: nothing was run: no CUDA driver is installed (libcuda.so.1)")
        return 0
    if not driver.has_gpu:
        print("saxpy: nothing was run: no device")
        return 0
    driver.start()
    function = driver.function(kernels.image(), "saxpy")
    x = array("f", (i % 1000 for i in range(N)))
    y = array("f", [1.0]) * N
    device_x, device_y = driver.upload(x), driver.upload(y)
    values = (ctypes.c_uint32(N), ctypes.c_float(A), device_x, device_y)
    pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
    blocks = (N + 255) // 256
    driver.call("cuLaunchKernel", function, blocks, 1, 1, 256, 1, 1, 0, None, pointers, None)
    driver.call("cuCtxSynchronize")
    result = array("f", bytes(4 * N))
    driver.download(device_y, result)
    wrong = [i for i in range(N) if abs(result[i] - (A * x[i] + 1.0)) > 1e-3]
    if wrong:
        print(f"saxpy: y[{wrong[0]}] is {result[wrong[0]]}", file=sys.stderr)
        return 1
    print(f"saxpy: {N} elements are right")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
