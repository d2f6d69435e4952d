"""The libLLVM engine: the Rust toolchain's own LLVM, through its stable C API and ctypes.

No version skew with rustc, no assertions in the library, and library modules are loaded
lazily. Declarations follow ``llvm-c/*.h`` of LLVM 22; a library of another major version is
refused, since the C API may differ.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Sequence
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from fatcrate.lto.engine import EngineError, Module, Target, Tuning, Value

MAJOR = 22

#: ``LLVMLinkage`` of llvm-c/Core.h, with the names that LLVM's assembly uses.
_LINKAGES = [
    "external",
    "available_externally",
    "linkonce_any",
    "linkonce_odr",
    "linkonce_odr_autohide",
    "weak_any",
    "weak_odr",
    "appending",
    "internal",
    "private",
    "dllimport",
    "dllexport",
    "external_weak",
    "ghost",
    "common",
    "linker_private",
    "linker_private_weak",
]

_P = ctypes.POINTER
_OUT = _P(c_void_p)
#: name -> (result, arguments). Strings that the library hands out are c_void_p, to be freed.
_API: dict[str, tuple[Any, list[Any]]] = {
    "LLVMGetVersion": (None, [_P(c_uint), _P(c_uint), _P(c_uint)]),
    "LLVMContextCreate": (c_void_p, []),
    "LLVMContextSetDiagnosticHandler": (None, [c_void_p, c_void_p, c_void_p]),
    "LLVMGetDiagInfoDescription": (c_void_p, [c_void_p]),
    "LLVMGetDiagInfoSeverity": (c_int, [c_void_p]),
    "LLVMDisposeMessage": (None, [c_void_p]),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (c_void_p, [c_char_p, c_size_t, c_char_p]),
    "LLVMDisposeMemoryBuffer": (None, [c_void_p]),
    "LLVMGetBufferStart": (c_void_p, [c_void_p]),
    "LLVMGetBufferSize": (c_size_t, [c_void_p]),
    "LLVMParseBitcodeInContext2": (c_int, [c_void_p, c_void_p, _OUT]),
    "LLVMGetBitcodeModuleInContext2": (c_int, [c_void_p, c_void_p, _OUT]),
    "LLVMParseIRInContext": (c_int, [c_void_p, c_void_p, _OUT, _OUT]),
    "LLVMWriteBitcodeToMemoryBuffer": (c_void_p, [c_void_p]),
    "LLVMLinkModules2": (c_int, [c_void_p, c_void_p]),
    "LLVMVerifyModule": (c_int, [c_void_p, c_int, _OUT]),
    "LLVMSetTarget": (None, [c_void_p, c_char_p]),
    "LLVMSetDataLayout": (None, [c_void_p, c_char_p]),
    "LLVMPrintModuleToString": (c_void_p, [c_void_p]),
    "LLVMPrintValueToString": (c_void_p, [c_void_p]),
    "LLVMGetModuleContext": (c_void_p, [c_void_p]),
    "LLVMGetFirstFunction": (c_void_p, [c_void_p]),
    "LLVMGetNextFunction": (c_void_p, [c_void_p]),
    "LLVMGetFirstGlobal": (c_void_p, [c_void_p]),
    "LLVMGetNextGlobal": (c_void_p, [c_void_p]),
    "LLVMGetNamedFunction": (c_void_p, [c_void_p, c_char_p]),
    "LLVMGetNamedGlobal": (c_void_p, [c_void_p, c_char_p]),
    "LLVMGetValueName2": (c_void_p, [c_void_p, _P(c_size_t)]),
    "LLVMSetValueName2": (None, [c_void_p, c_char_p, c_size_t]),
    "LLVMGetLinkage": (c_int, [c_void_p]),
    "LLVMSetLinkage": (None, [c_void_p, c_int]),
    "LLVMGetGlobalParent": (c_void_p, [c_void_p]),
    "LLVMIsDeclaration": (c_int, [c_void_p]),
    "LLVMGetEnumAttributeKindForName": (c_uint, [c_char_p, c_size_t]),
    "LLVMCreateEnumAttribute": (c_void_p, [c_void_p, c_uint, c_uint64]),
    "LLVMAddAttributeAtIndex": (None, [c_void_p, c_uint, c_void_p]),
    "LLVMGetAttributeCountAtIndex": (c_uint, [c_void_p, c_uint]),
    "LLVMGetAttributesAtIndex": (None, [c_void_p, c_uint, _OUT]),
    "LLVMIsStringAttribute": (c_int, [c_void_p]),
    "LLVMGetStringAttributeKind": (c_void_p, [c_void_p, _P(c_uint)]),
    "LLVMGetStringAttributeValue": (c_void_p, [c_void_p, _P(c_uint)]),
    "LLVMGetTypeByName2": (c_void_p, [c_void_p, c_char_p]),
    "LLVMGetModuleDataLayout": (c_void_p, [c_void_p]),
    "LLVMABISizeOfType": (c_uint64, [c_void_p, c_void_p]),
    "LLVMABIAlignmentOfType": (c_uint, [c_void_p, c_void_p]),
    "LLVMGetTargetFromTriple": (c_int, [c_char_p, _OUT, _OUT]),
    "LLVMCreateTargetMachine": (
        c_void_p,
        [c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_int, c_int],
    ),
    "LLVMSetTargetMachineAsmVerbosity": (None, [c_void_p, c_int]),
    "LLVMTargetMachineEmitToMemoryBuffer": (c_int, [c_void_p, c_void_p, c_int, _OUT, _OUT]),
    "LLVMCreatePassBuilderOptions": (c_void_p, []),
    "LLVMDisposePassBuilderOptions": (None, [c_void_p]),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, [c_void_p, c_bool]),
    "LLVMPassBuilderOptionsSetLoopVectorization": (None, [c_void_p, c_bool]),
    "LLVMPassBuilderOptionsSetSLPVectorization": (None, [c_void_p, c_bool]),
    "LLVMPassBuilderOptionsSetInlinerThreshold": (None, [c_void_p, c_int]),
    "LLVMRunPasses": (c_void_p, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "LLVMRunPassesOnFunction": (c_void_p, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "LLVMGetErrorMessage": (c_void_p, [c_void_p]),
    "LLVMDisposeErrorMessage": (None, [c_void_p]),
    "LLVMParseCommandLineOptions": (None, [c_int, _P(c_char_p), c_char_p]),
}
_FUNCTION_INDEX = 0xFFFFFFFF
_RETURN_STATUS = 2  # LLVMReturnStatusAction
_ASSEMBLY = 0  # LLVMAssemblyFile
_ERROR, _REMARK = 0, 2  # LLVMDiagnosticSeverity
_HANDLER = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Library:
    """The C functions, typed. Raises :class:`EngineError` for a library that lacks one."""

    def __init__(self, path: str) -> None:
        try:
            self.dll = ctypes.CDLL(path)
            for name, (result, arguments) in _API.items():
                function = getattr(self.dll, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise EngineError(str(error)) from error
        parts = [c_uint(), c_uint(), c_uint()]
        self.dll.LLVMGetVersion(*(ctypes.byref(p) for p in parts))
        self.version = tuple(int(p.value) for p in parts)
        if self.version[0] != MAJOR:
            raise EngineError(f"{path} is LLVM {self.version[0]}, this engine is for {MAJOR}")

    def take(self, pointer: int | None, dispose: str = "LLVMDisposeMessage") -> str:
        """The text behind a pointer that the library allocated, which is freed."""
        if not pointer:
            return ""
        text = ctypes.string_at(pointer).decode("utf-8", "replace")
        getattr(self.dll, dispose)(pointer)
        return text

    def take_buffer(self, buffer: int) -> bytes:
        """The bytes of a memory buffer, which is freed."""
        size = self.dll.LLVMGetBufferSize(buffer)
        data = ctypes.string_at(self.dll.LLVMGetBufferStart(buffer), size)
        self.dll.LLVMDisposeMemoryBuffer(buffer)
        return data


class LibValue:
    """A handle on a global value."""

    def __init__(self, library: Library, pointer: int, is_function: bool) -> None:
        self._library, self._dll = library, library.dll
        self.pointer, self._is_function = pointer, is_function

    @property
    def name(self) -> str:
        size = c_size_t()
        start = self._dll.LLVMGetValueName2(self.pointer, ctypes.byref(size))
        text: bytes = ctypes.string_at(start, size.value)
        return text.decode("utf-8", "replace")

    @name.setter
    def name(self, name: str) -> None:
        raw = name.encode("utf-8")
        self._dll.LLVMSetValueName2(self.pointer, raw, len(raw))

    @property
    def linkage(self) -> str:
        return _LINKAGES[int(self._dll.LLVMGetLinkage(self.pointer))]

    @linkage.setter
    def linkage(self, linkage: str) -> None:
        self._dll.LLVMSetLinkage(self.pointer, _LINKAGES.index(linkage))

    @property
    def is_declaration(self) -> bool:
        return bool(self._dll.LLVMIsDeclaration(self.pointer))

    @property
    def is_function(self) -> bool:
        return self._is_function

    def text(self) -> str:
        return self._library.take(self._dll.LLVMPrintValueToString(self.pointer))

    def attributes(self) -> list[str]:
        count = self._dll.LLVMGetAttributeCountAtIndex(self.pointer, _FUNCTION_INDEX)
        found = (c_void_p * count)()
        self._dll.LLVMGetAttributesAtIndex(self.pointer, _FUNCTION_INDEX, found)
        return [
            f'"{self._string(a, "Kind")}"="{self._string(a, "Value")}"'
            for a in found
            if self._dll.LLVMIsStringAttribute(a)
        ]

    def _string(self, attribute: int, part: str) -> str:
        size = c_uint()
        get = getattr(self._dll, f"LLVMGetStringAttribute{part}")
        text: bytes = ctypes.string_at(get(attribute, ctypes.byref(size)), size.value)
        return text.decode("utf-8", "replace")

    def add_attribute(self, name: str) -> None:
        kind = self._dll.LLVMGetEnumAttributeKindForName(name.encode(), len(name))
        module = self._dll.LLVMGetGlobalParent(self.pointer)
        context = self._dll.LLVMGetModuleContext(module)
        attribute = self._dll.LLVMCreateEnumAttribute(context, kind, 0)
        self._dll.LLVMAddAttributeAtIndex(self.pointer, _FUNCTION_INDEX, attribute)


class LibModule:
    """A module; disposed of with the process."""

    def __init__(self, engine: LibllvmEngine, pointer: int) -> None:
        self._engine, self._library = engine, engine.library
        self._dll, self.pointer = engine.library.dll, pointer

    def _all(self, kind: str) -> list[Value]:
        step = getattr(self._dll, f"LLVMGetNext{kind}")
        pointer = getattr(self._dll, f"LLVMGetFirst{kind}")(self.pointer)
        found: list[Value] = []
        while pointer:
            found.append(LibValue(self._library, pointer, kind == "Function"))
            pointer = step(pointer)
        return found

    def functions(self) -> list[Value]:
        return self._all("Function")

    def variables(self) -> list[Value]:
        return self._all("Global")

    def find(self, name: str) -> Value | None:
        raw = name.encode("utf-8")
        if pointer := self._dll.LLVMGetNamedFunction(self.pointer, raw):
            return LibValue(self._library, pointer, True)
        if pointer := self._dll.LLVMGetNamedGlobal(self.pointer, raw):
            return LibValue(self._library, pointer, False)
        return None

    def link_in(self, other: Module) -> None:
        assert isinstance(other, LibModule)
        if self._dll.LLVMLinkModules2(self.pointer, other.pointer):
            raise EngineError(self._engine.complaint())

    def set_target(self, triple: str, data_layout: str) -> None:
        self._dll.LLVMSetTarget(self.pointer, triple.encode())
        self._dll.LLVMSetDataLayout(self.pointer, data_layout.encode())

    def struct_size(self, name: str) -> tuple[int, int] | None:
        context = self._dll.LLVMGetModuleContext(self.pointer)
        found = self._dll.LLVMGetTypeByName2(context, name.encode("utf-8"))
        if not found:
            return None
        layout = self._dll.LLVMGetModuleDataLayout(self.pointer)
        size = self._dll.LLVMABISizeOfType(layout, found)
        return int(size), int(self._dll.LLVMABIAlignmentOfType(layout, found))

    def bitcode(self) -> bytes:
        return self._library.take_buffer(self._dll.LLVMWriteBitcodeToMemoryBuffer(self.pointer))

    def text(self) -> str:
        return self._library.take(self._dll.LLVMPrintModuleToString(self.pointer))

    def verify(self) -> None:
        message = c_void_p()
        if self._dll.LLVMVerifyModule(self.pointer, _RETURN_STATUS, ctypes.byref(message)):
            raise EngineError(self._library.take(message.value).strip())
        self._library.take(message.value)


class LibllvmEngine:
    """LLVM as the Rust toolchain ships it. Make one per process."""

    name = "libllvm"

    def __init__(self, path: str) -> None:
        self.library = Library(path)
        self.version = self.library.version
        self._dll = self.library.dll
        for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
            getattr(self._dll, f"LLVMInitializeNVPTX{part}")()
        self._context = self._dll.LLVMContextCreate()
        self._complaints: list[str] = []
        self._remarks = False
        self._handler = _HANDLER(self._note)  # kept alive: the library holds its address
        self._dll.LLVMContextSetDiagnosticHandler(self._context, self._handler, None)
        self._machines: dict[Target, int] = {}

    def _note(self, diagnostic: int, _: int) -> None:
        severity = self._dll.LLVMGetDiagInfoSeverity(diagnostic)
        if severity != _ERROR and not (severity == _REMARK and self._remarks):
            return  # a handler of the C API gets every remark, asked for or not
        text = self.library.take(self._dll.LLVMGetDiagInfoDescription(diagnostic))
        if severity == _ERROR:
            self._complaints.append(text)
        else:
            os.write(2, f"remark: {text}\n".encode())

    def complaint(self) -> str:
        """What LLVM said last, and forgets it."""
        said, self._complaints = self._complaints, []
        return re.sub(r"\s+", " ", "; ".join(said)) or "unknown fault"

    def _buffer(self, data: bytes) -> int:
        pointer: int = self._dll.LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"m")
        return pointer

    def parse_bitcode(self, data: bytes, lazy: bool = False) -> LibModule:
        name = "LLVMGetBitcodeModuleInContext2" if lazy else "LLVMParseBitcodeInContext2"
        module = c_void_p()
        buffer = self._buffer(data)
        if getattr(self._dll, name)(self._context, buffer, ctypes.byref(module)):
            raise EngineError(self.complaint())
        return LibModule(self, module.value or 0)

    def parse_text(self, text: str) -> LibModule:
        module, message = c_void_p(), c_void_p()
        buffer = self._buffer(text.encode("utf-8"))
        if self._dll.LLVMParseIRInContext(
            self._context, buffer, ctypes.byref(module), ctypes.byref(message)
        ):
            said = self.library.take(message.value)
            raise EngineError(said.split("error: ", 1)[-1].splitlines()[0] if said else "unknown")
        return LibModule(self, module.value or 0)

    def _machine(self, target: Target) -> int:
        if target not in self._machines:
            chosen, message = c_void_p(), c_void_p()
            triple = target.triple.encode()
            if self._dll.LLVMGetTargetFromTriple(
                triple, ctypes.byref(chosen), ctypes.byref(message)
            ):
                raise EngineError(self.library.take(message.value))
            machine = self._dll.LLVMCreateTargetMachine(
                chosen, triple, target.cpu.encode(), target.features.encode(), target.level, 0, 0
            )
            self._dll.LLVMSetTargetMachineAsmVerbosity(machine, 0)
            self._machines[target] = machine
        return self._machines[target]

    def _options(self, tuning: Tuning) -> int:
        options: int = self._dll.LLVMCreatePassBuilderOptions()
        self._dll.LLVMPassBuilderOptionsSetLoopUnrolling(options, tuning.unroll)
        self._dll.LLVMPassBuilderOptionsSetLoopVectorization(options, tuning.vectorise)
        self._dll.LLVMPassBuilderOptionsSetSLPVectorization(options, tuning.vectorise)
        if tuning.inline_threshold is not None:
            self._dll.LLVMPassBuilderOptionsSetInlinerThreshold(options, tuning.inline_threshold)
        return options

    def _check(self, error: int | None) -> None:
        if error:
            text = self._dll.LLVMGetErrorMessage(error)
            raise EngineError(self.library.take(text, "LLVMDisposeErrorMessage"))

    def _run(self, module: LibModule, passes: str, target: Target | None, tuning: Tuning) -> None:
        machine = self._machine(target) if target else None
        options = self._options(tuning)
        self._check(self._dll.LLVMRunPasses(module.pointer, passes.encode(), machine, options))
        self._dll.LLVMDisposePassBuilderOptions(options)

    def run_passes(self, module: Module, passes: Sequence[str], target: Target | None) -> None:
        assert isinstance(module, LibModule)
        self._run(module, ",".join(passes), target, Tuning())

    def run_function_passes(
        self, module: Module, names: Iterable[str], passes: Sequence[str], target: Target
    ) -> None:
        assert isinstance(module, LibModule)
        text, machine = ",".join(passes).encode(), self._machine(target)
        options = self._options(Tuning())
        for name in names:
            function = self._dll.LLVMGetNamedFunction(module.pointer, name.encode("utf-8"))
            if function:
                self._check(self._dll.LLVMRunPassesOnFunction(function, text, machine, options))
        self._dll.LLVMDisposePassBuilderOptions(options)

    def optimise(self, module: Module, target: Target, tuning: Tuning) -> None:
        assert isinstance(module, LibModule)
        self._run(module, f"default<O{target.level}>", target, tuning)

    def set_options(self, options: Sequence[str]) -> None:
        self._remarks |= any(option.startswith("-pass-remarks") for option in options)
        words = [b"fatcrate", *(option.encode() for option in options)]
        array = (c_char_p * len(words))(*words)
        self._dll.LLVMParseCommandLineOptions(len(words), array, None)

    def emit(self, module: Module, target: Target) -> str:
        assert isinstance(module, LibModule)
        message, buffer = c_void_p(), c_void_p()
        if self._dll.LLVMTargetMachineEmitToMemoryBuffer(
            self._machine(target),
            module.pointer,
            _ASSEMBLY,
            ctypes.byref(message),
            ctypes.byref(buffer),
        ):
            raise EngineError(self.library.take(message.value))
        return self.library.take_buffer(buffer.value or 0).decode("utf-8")
