"""Machine code for this process: LLVM's just-in-time compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from fatcrate.lto import llvm as wrapper
from fatcrate.lto.cpu.prepare import Host, machine
from fatcrate.lto.engine import EngineError, Module, Target

_llvm: Any = wrapper.binding


#: Features that the psABI's level x86-64-v3 adds (System V ABI for AMD64, table 3.1).
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")


def host(level: int, cpu: str = "") -> Host:
    """This process's machine. ``level`` (0 to 3) is how hard code generation tries.

    ``cpu`` is what code is generated for. By default that is one of few, not the machine's own
    CPU: a fault that shows only with some CPU's instructions shows on all machines.
    """
    _llvm.initialize_native_target()
    _llvm.initialize_native_asmprinter()
    _llvm.initialize_native_asmparser()
    triple = _llvm.get_process_triple()
    target = Target(triple, cpu or _cpu(machine()), "", level)
    return Host(machine(), target, str(_machine(target).target_data))


def _cpu(name: str) -> str:
    if name != "x86_64":
        return "generic"
    found = _llvm.get_host_cpu_features()
    return "x86-64-v3" if all(found.get(feature) for feature in _V3) else "x86-64"


def _machine(target: Target) -> Any:
    return _llvm.Target.from_triple(target.triple).create_target_machine(
        target.cpu, target.features, target.level, reloc="default", codemodel="jitdefault", jit=True
    )


class Code:
    """The code of one module. Lives as long as this object."""

    def __init__(self, module: Module, host: Host, symbols: Mapping[str, int]) -> None:
        """Generates code. ``symbols``: addresses of functions that the module only declares.

        LLVM ends the process when an instruction cannot be selected or a symbol is missing.
        """
        assert isinstance(module, wrapper.LlvmliteModule)
        for library in ("libm.so.6", "libgcc_s.so.1"):  # what generated code may call
            ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
        for name, address in symbols.items():
            _llvm.add_symbol(name, address)
        self._engine = _llvm.create_mcjit_compiler(module.ref, _machine(host.target))
        try:
            self._engine.finalize_object()
        except RuntimeError as error:
            raise EngineError(str(error)) from error

    def function(self, name: str) -> int:
        """The address of a function."""
        return int(self._engine.get_function_address(name))

    def variable(self, name: str) -> int:
        """The address of a global."""
        return int(self._engine.get_global_value_address(name))
