"""``fatcrate ir``: the LLVM IR of a module as text, whole or what one kernel reaches.

With ``--kernel`` the functions and variables that the kernel reaches are written, callers
first, each under its name in Rust; debug metadata gives way to comments that name the source
place of each instruction and what it was inlined at (``places.py``).
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fatcrate.lto import engine, errors, inputs, isolate, options, symbols
from fatcrate.lto.places import Places
from fatcrate.toolchain import atomic
from fatcrate.toolchain.diagnostics import fail

_EPILOG = """\
examples:
  fatcrate ir --output linked.ll fatcrate-out/demo/linked.bc
  fatcrate ir --kernel saxpy --output saxpy.ll fatcrate-out/demo/linked.bc
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``fatcrate ir``."""
    p = argparse.ArgumentParser(
        prog="fatcrate ir",
        description="Write the LLVM IR of bitcode, rlibs or textual IR as text.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    p.add_argument("files", nargs="+", metavar="FILE", help="bitcode, an rlib or textual IR")
    p.add_argument("--output", required=True, metavar="LL", help="the text")
    p.add_argument("--kernel", metavar="NAME", help="only what this kernel reaches in the files")
    options.add_engine(p)
    options.add_timeout(p)
    return p


def main(argv: list[str]) -> int:
    """Runs ``fatcrate ir``."""
    args = parser().parse_args(argv)
    texts = _read(args.files, engine.choose(args.engine, ""), args.timeout)
    if args.kernel:
        text = kernel_text(texts, args.kernel)
        if not text:
            fail(errors.LOST_KERNEL, args.kernel, f"is not in {', '.join(args.files)}")
    else:
        text = "\n".join(texts)
    atomic.write_text(args.output, text)
    return 0


def _read(files: list[str], chosen: engine.Choice, timeout: float) -> list[str]:
    """Textual IR of every module in the files; LLVM is not needed for what is text already."""
    found: list[str] = []
    for path in files:
        body = inputs.read_file(path)
        if inputs.looks_like_text(body):
            found.append(bytes(body).decode("utf-8", "replace"))
            continue
        modules = [(m.name, m.data) for m in inputs.load(path, "sysroot", path).members]
        try:
            found += isolate.run(functools.partial(_texts, chosen, modules), timeout=timeout)
        except isolate.Crash as crash:
            fail(errors.ENGINE_CRASH, path, f"LLVM {crash.reason()} while reading it")
    return found


def _texts(chosen: engine.Choice, modules: list[tuple[str, bytes]]) -> list[str]:
    """Textual IR of each module; runs LLVM in this process."""
    started = options.start(chosen)
    found = []
    for name, data in modules:
        try:
            found.append(started.parse_bitcode(data).text())
        except engine.EngineError as error:
            fail(errors.BAD_BITCODE, name, str(error))
    return found


_NAME = r'@("(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)'
_DEFINE = re.compile(rf"^define [^\n]*?{_NAME}\(")
_VARIABLE = re.compile(rf"^{_NAME} = ")
_USE = re.compile(_NAME)
_DEBUG = re.compile(r",? !dbg !\d+")


@dataclass
class _Module:
    """The definitions of one module's text: name -> lines."""

    places: Places
    functions: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> _Module:
        made = cls(Places(text))
        body: list[str] | None = None
        for line in text.splitlines():
            if body is not None:
                body.append(line)
                if line == "}":
                    body = None
            elif match := _DEFINE.match(line):
                body = made.functions[match[1]] = [line]
            elif match := _VARIABLE.match(line):
                made.variables[match[1]] = line
        return made


def kernel_text(texts: list[str], kernel: str) -> str:
    """What a kernel reaches in modules, as ``--kernel`` writes it; "" when none defines it."""
    modules = [_Module.read(text) for text in texts]
    functions = {name: (m, body) for m in modules for name, body in m.functions.items()}
    variables = {name: line for m in modules for name, line in m.variables.items()}
    if kernel not in functions:
        return ""
    order = {kernel: None}
    used: dict[str, None] = {}
    queue = [kernel]
    while queue:
        for line in functions[queue.pop(0)][1]:
            for name in _USE.findall(line):
                if name in variables:
                    used.setdefault(name)
                elif name in functions and name not in order:
                    order[name] = None
                    queue.append(name)
    blocks = ["".join(f"{_DEBUG.sub('', variables[name])}\n" for name in used)] if used else []
    blocks += ["\n".join(_function(name, *functions[name])) + "\n" for name in order]
    return "\n".join(blocks)


def _function(name: str, module: _Module, body: list[str]) -> Iterator[str]:
    """One function, annotated."""
    plain = name.strip('"')
    rust = symbols.demangle(plain)
    if rust != plain:
        yield f"; {rust}"
    where = module.places.declared(body[0])
    yield _DEBUG.sub("", body[0]) + (f"  ; {where}" if where else "")
    for line in body[1:]:
        text = module.places.annotate(line)
        if text is not None:
            yield text
