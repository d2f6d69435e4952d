"""NVIDIA's cuobjdump as an oracle: its listings as data."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_RESOURCE = re.compile(r"(\w+)(?:\[(\d+)\])?:(\d+)")


@dataclass
class Usage:
    """One function of ``-res-usage``."""

    name: str
    registers: int
    stack: int
    shared: int
    constants: dict[int, int]


@dataclass
class Listed:
    """One ELF image of ``-res-usage``."""

    arch: str
    global_bytes: int = 0
    constants: dict[int, int] = field(default_factory=dict)
    functions: list[Usage] = field(default_factory=list)


def run(cuobjdump: Path, *args: str | Path) -> str:
    """The tool's standard output; fails when the tool does."""
    done = subprocess.run(
        [cuobjdump, *args], capture_output=True, text=True, errors="backslashreplace", check=True
    )
    return done.stdout


def resource_usage(cuobjdump: Path, file: Path) -> list[Listed]:
    """The ELF images of a file with their functions, in the tool's order."""
    return parse_usage(run(cuobjdump, "-res-usage", file))


def parse_usage(text: str) -> list[Listed]:
    """Parses the output of ``cuobjdump -res-usage``."""
    made: list[Listed] = []
    is_elf = False
    name = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("Fatbin"):
            is_elf = "elf code" in stripped
        elif stripped.startswith("arch = ") and is_elf:
            made.append(Listed(stripped.removeprefix("arch = ")))
        elif stripped.startswith("Resource usage") and not made:
            made.append(Listed(""))  # a bare cubin has no fatbin header
        elif stripped.startswith("GLOBAL:"):
            values = _values(stripped)
            made[-1].global_bytes = values.pop(("GLOBAL", -1))
            made[-1].constants = {bank: n for (_, bank), n in values.items()}
        elif stripped.startswith("Function "):
            name = stripped.removeprefix("Function ").removesuffix(":")
        elif stripped.startswith("REG:"):
            values = _values(stripped)
            constants = {bank: n for (key, bank), n in values.items() if key == "CONSTANT"}
            made[-1].functions.append(
                Usage(
                    name,
                    values["REG", -1],
                    values["STACK", -1],
                    values["SHARED", -1],
                    constants,
                )
            )
    return made


def _values(line: str) -> dict[tuple[str, int], int]:
    return {
        (key, int(bank) if bank else -1): int(number)
        for key, bank, number in _RESOURCE.findall(line)
    }


def listed_files(cuobjdump: Path, file: Path) -> list[str]:
    """``ELF sm_90`` and ``PTX sm_80`` of ``-lelf -lptx``, sorted; suffix as the tool shows it."""
    text = run(cuobjdump, "-lelf", "-lptx", file)
    found = re.findall(r"^(ELF|PTX) file +\d+: .*?\.?(sm_\d+[af]?)\.(?:cubin|ptx)$", text, re.M)
    return sorted(f"{kind} {arch}" for kind, arch in found)
