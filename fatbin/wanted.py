"""Which images a command line asks for: by architecture, and by the names of kernels."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable

from fatcrate.fatbin import errors, kernels
from fatcrate.fatbin.model import Image
from fatcrate.toolchain.arch import parse_list, parse_one
from fatcrate.toolchain.diagnostics import fail

#: AMD's target ID with features (LLVM, "User Guide for AMDGPU Backend", "Target ID").
_FEATURES = r"(gfx[^:]+)((?::[a-z]+[+-])+)"


def archs(values: Iterable[str]) -> list[str]:
    """The architectures of options such as ``sm_80,9.0+PTX`` or ``gfx90a:xnack+``.

    Raises FC0210 for what is none, and FC0409 for an option without any, such as the value of
    an unset variable: it would ask for nothing and always be met.
    """
    values = list(values)
    for value in values:
        if not value.replace(",", " ").split():
            fail(
                errors.USAGE,
                repr(value),
                "names no architecture",
                remedy="name some, or leave the option out",
            )
    plain: list[str] = []
    featured: list[str] = []
    for text in [item for value in values for item in value.replace(",", " ").split()]:
        if match := re.fullmatch(_FEATURES, text):
            featured.append(f"{parse_one(match[1])}{match[2]}")
        else:
            plain.append(text)
    return [*map(str, parse_list(plain)), *dict.fromkeys(featured)]


def has_arch(image: Image, wanted: Collection[str]) -> bool:
    """Whether the image is for one of the architectures; ``gfx90a`` stands for all features."""
    return bool(wanted) and (
        str(image.arch) in wanted
        or image.target in wanted
        or image.target.rpartition("--")[2] in wanted
    )


def has_kernel(image: Image, pattern: str) -> bool:
    """Whether a kernel of the image has a name that matches the glob ``pattern``."""
    try:
        return any(fnmatch.fnmatchcase(k.name, pattern) for k in kernels.of_image(image))
    finally:
        image.release()
