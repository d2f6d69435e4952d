"""Registration with the CUDA runtime at start-up, as objects made by nvcc do it.

nvcc's objects hold a wrapper record and a constructor that calls ``__cudaRegisterFatBinary``,
``__cudaRegisterFunction`` per kernel and ``__cudaRegisterFatBinaryEnd``, and hands
``__cudaUnregisterFatBinary`` to ``atexit``. The machine code here does the same in a loop
over a table of {host handle, kernel name}; it was written as the assembly in ``CODE_TEXT``,
which a test assembles and compares with the bytes.
"""

from __future__ import annotations
