"""The llvmlite engine. The only module of fatcrate that imports llvmlite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fatcrate.lto.engine import EngineError, Module, Target, Tuning, Value
from fatcrate.toolchain import packages

packages.find()
import llvmlite.binding as llvm  # type: ignore[import-untyped]  # noqa: E402

#: For the CPU runner, which generates code in its own process (``cpu/jit.py``).
binding: Any = llvm

_MODULE_PASSES = {
    "globaldce": "add_global_dead_code_eliminate_pass",
    "always-inline": "add_always_inliner_pass",
    "strip-dead-prototypes": "add_strip_dead_prototype_pass",
    "strip": "add_strip_symbols_pass",
    "strip-dead-debug-info": "add_strip_dead_debug_info_pass",
    "ipsccp": "add_ipsccp_pass",
    "globalopt": "add_global_opt_pass",
    "constmerge": "add_constant_merge_pass",
    "verify": "add_verifier",
}
_FUNCTION_PASSES = {
    "sroa": "add_sroa_pass",
    "sccp": "add_sccp_pass",
    "simplifycfg": "add_simplify_cfg_pass",
    "adce": "add_aggressive_dce_pass",
    "instcombine": "add_instruction_combine_pass",
}


def available() -> tuple[int, ...]:
    """The LLVM version inside llvmlite."""
    return tuple(llvm.llvm_version_info)


class LlvmliteValue:
    """A handle on a global value."""

    def __init__(self, ref: Any) -> None:
        self._ref = ref

    @property
    def name(self) -> str:
        return str(self._ref.name)

    @name.setter
    def name(self, name: str) -> None:
        self._ref.name = name

    @property
    def linkage(self) -> str:
        return str(self._ref.linkage.name)

    @linkage.setter
    def linkage(self, linkage: str) -> None:
        self._ref.linkage = linkage

    @property
    def is_declaration(self) -> bool:
        return bool(self._ref.is_declaration)

    @property
    def is_function(self) -> bool:
        return bool(self._ref.is_function)

    def text(self) -> str:
        return str(self._ref)

    def attributes(self) -> list[str]:
        found: list[str] = []
        for item in self._ref.attributes:
            found += str(item.decode() if isinstance(item, bytes) else item).split(" ")
        return found

    def add_attribute(self, name: str) -> None:
        self._ref.add_function_attribute(name)


class LlvmliteModule:
    """A module and the engine that made it."""

    def __init__(self, ref: Any) -> None:
        self.ref = ref

    def functions(self) -> list[Value]:
        return [LlvmliteValue(f) for f in self.ref.functions]

    def variables(self) -> list[Value]:
        return [LlvmliteValue(v) for v in self.ref.global_variables]

    def find(self, name: str) -> Value | None:
        for get in (self.ref.get_function, self.ref.get_global_variable):
            try:
                return LlvmliteValue(get(name))
            except NameError:
                continue
        for variable in self.ref.global_variables:  # internal ones are not found by name
            if variable.name == name:
                return LlvmliteValue(variable)
        return None

    def link_in(self, other: Module) -> None:
        assert isinstance(other, LlvmliteModule)
        try:
            self.ref.link_in(other.ref)
        except RuntimeError as error:
            raise EngineError(str(error)) from error

    def set_target(self, triple: str, data_layout: str) -> None:
        self.ref.triple = triple
        self.ref.data_layout = data_layout

    def struct_size(self, name: str) -> tuple[int, int] | None:
        try:
            found = self.ref.get_struct_type(name)
        except NameError:
            return None
        layout = llvm.create_target_data(self.ref.data_layout)
        return int(layout.get_abi_size(found)), int(layout.get_abi_alignment(found))

    def bitcode(self) -> bytes:
        return bytes(self.ref.as_bitcode())

    def text(self) -> str:
        return str(self.ref)

    def verify(self) -> None:
        try:
            self.ref.verify()
        except RuntimeError as error:
            raise EngineError(str(error)) from error


class LlvmliteEngine:
    """LLVM as llvmlite ships it (with assertions). Make one per process."""

    name = "llvmlite"

    def __init__(self) -> None:
        self.version = available()
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        self._machines: dict[Target, Any] = {}

    def parse_bitcode(self, data: bytes, lazy: bool = False) -> LlvmliteModule:
        try:
            return LlvmliteModule(llvm.parse_bitcode(data))
        except RuntimeError as error:
            raise EngineError(_last_line(error)) from error

    def parse_text(self, text: str) -> LlvmliteModule:
        try:
            return LlvmliteModule(llvm.parse_assembly(text))
        except RuntimeError as error:
            raise EngineError(_last_line(error)) from error

    def _machine(self, target: Target) -> Any:
        if target not in self._machines:
            chosen = llvm.Target.from_triple(target.triple)
            machine = chosen.create_target_machine(
                target.cpu, target.features, target.level, codemodel="default"
            )
            machine.set_asm_verbosity(False)
            self._machines[target] = machine
        return self._machines[target]

    def _builder(self, target: Target | None, tuning: Tuning = Tuning()) -> Any:  # noqa: B008
        chosen = target or Target("nvptx64-nvidia-cuda", "sm_75", "", 0)
        options = llvm.create_pipeline_tuning_options(speed_level=chosen.level)
        options.loop_unrolling = tuning.unroll
        options.loop_vectorization = tuning.vectorise
        options.slp_vectorization = tuning.vectorise
        if tuning.inline_threshold is not None:
            options.inlining_threshold = tuning.inline_threshold
        return llvm.create_pass_builder(self._machine(chosen), options)

    def run_passes(self, module: Module, passes: Sequence[str], target: Target | None) -> None:
        assert isinstance(module, LlvmliteModule)
        manager = llvm.create_new_module_pass_manager()
        for name in passes:
            getattr(manager, _MODULE_PASSES.get(name) or _FUNCTION_PASSES[name])()
        manager.run(module.ref, self._builder(target))

    def run_function_passes(
        self, module: Module, names: Iterable[str], passes: Sequence[str], target: Target
    ) -> None:
        assert isinstance(module, LlvmliteModule)
        builder = self._builder(target)
        for name in names:
            manager = llvm.create_new_function_pass_manager()
            for each in passes:
                getattr(manager, _FUNCTION_PASSES[each])()
            manager.run(module.ref.get_function(name), builder)

    def optimise(self, module: Module, target: Target, tuning: Tuning) -> None:
        assert isinstance(module, LlvmliteModule)
        builder = self._builder(target, tuning)
        builder.getModulePassManager().run(module.ref, builder)

    def set_options(self, options: Sequence[str]) -> None:
        for option in options:
            llvm.set_option("fatcrate", option)

    def emit(self, module: Module, target: Target) -> str:
        assert isinstance(module, LlvmliteModule)
        try:
            return str(self._machine(target).emit_assembly(module.ref))
        except RuntimeError as error:
            raise EngineError(_last_line(error)) from error


def _last_line(error: Exception) -> str:
    """The line of LLVM's text that says what is wrong, without the place in its own buffer."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in lines:
        if "error: " in line:
            return line.split("error: ", 1)[1]
    return lines[-1] if lines else "unknown fault"
