"""The named checks on images: their names, explanations and remedies.

An error means that the file is wrong; a warning that it leaves a device uncovered or carries
dead weight.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fatcrate.toolchain.diagnostics import Kind, Severity


class Check(NamedTuple):
    """One check. ``name`` is what ``--allow`` and ``--deny`` take."""

    name: str
    kind: Kind
    remedy: str


def _check(
    code: str, name: str, title: str, explanation: str, remedy: str, severity: Severity = "error"
) -> Check:
    text = (
        f"{explanation} The check is called `{name}`; a target's `allow: [{name}]`, or `--allow"
        f" {name}` of `fatcrate pack`, turns it off."
    )
    return Check(name, Kind(code, title, text, severity=severity), remedy)


SM_MISMATCH = _check(
    "FC0430", "sm-mismatch", "the cubin is for another SM",
    "A cubin's header states another SM number than the arch that it is packed for; the driver"
    " would refuse it.",
    "pack it under the arch that it was assembled for",
)  # fmt: skip
SUFFIX_MISMATCH = _check(
    "FC0431", "suffix-mismatch", "the cubin has another suffix",
    "Code for sm_90a runs on exactly that chip, code for sm_100f on its family. Only the entry's"
    " flags tell; with the wrong suffix a device gets code that it cannot run, or none.",
    "pack it under the arch that it was assembled for",
)  # fmt: skip
TARGET_MISMATCH = _check(
    "FC0432", "target-mismatch", "the PTX or LTO-IR is for another target",
    "The `.target` directive, or LTO-IR's header, names another architecture than the entry; a"
    " device that picks the entry may fail to compile it.",
    "pack it under the arch that it was generated for",
)  # fmt: skip
PTX_VERSION = _check(
    "FC0433", "ptx-version", "the PTX version does not know its target",
    "PTX ISA versions introduce targets; text of an older version with a newer target is"
    " refused by every compiler.",
    "generate the PTX with a newer ISA version",
)  # fmt: skip
WRONG_KIND = _check(
    "FC0434", "kind-mismatch", "the image is of another kind",
    "`sm_NN` stands for a cubin, `compute_NN` for PTX text, and the file is something else.",
    "write compute_NN=FILE for PTX and sm_NN=FILE for a cubin",
)  # fmt: skip
CUT_OFF = _check(
    "FC0435", "cut-off", "the image is cut off",
    "The image ends before its headers or braces say so.",
    "build or copy the image again",
)  # fmt: skip
DUPLICATE = _check(
    "FC0436", "duplicate", "two images for the same arch",
    "Of two images of one kind and arch a device loads only one; the kernels of the other"
    " cannot be reached.",
    "link the code into one image, or pack it into a second fat binary",
)  # fmt: skip
RELOCATABLE = _check(
    "FC0437", "relocatable", "the cubin is not linked",
    "The cubin is a relocatable object (made with `ptxas -c`); the driver loads linked cubins"
    " only.",
    "link it with nvlink, or assemble without -c",
)  # fmt: skip
MISSING_COMPAT = _check(
    "FC0438", "missing-compat", "the cubin has no .nv.compat section",
    "From SM 100 on, a cubin without `.nv.compat` runs on no later chip of its family.",
    "assemble it with the ptxas of CUDA 13",
    "warning",
)  # fmt: skip
NEVER_CHOSEN = _check(
    "FC0440", "never-chosen", "no device would choose this image",
    "On every device that accepts the image, another image of the file ranks higher; it is"
    " dead weight.",
    "leave the image out",
    "warning",
)  # fmt: skip
PTX_BEATS_CUBIN = _check(
    "FC0441", "ptx-beats-cubin", "PTX would be preferred to a compatible cubin",
    "PTX of a higher SM ranks before a cubin of the same major and lower SM, so the device"
    " compiles at load time although it could run the cubin. NVIDIA's guides describe the"
    " opposite, so nobody should depend on either.",
    "add a cubin of the PTX's SM, or lower the PTX's arch",
    "warning",
)  # fmt: skip
UNCOVERED = _check(
    "FC0442", "uncovered-device", "a device has no usable image",
    "The device lies between those that the images are for, yet none of them runs on it.",
    "add a cubin for the device or PTX of its compute capability or an older one",
    "warning",
)  # fmt: skip

CHECKS: Final[tuple[Check, ...]] = (
    SM_MISMATCH, SUFFIX_MISMATCH, TARGET_MISMATCH, PTX_VERSION, WRONG_KIND, CUT_OFF, DUPLICATE,
    RELOCATABLE, MISSING_COMPAT, NEVER_CHOSEN, PTX_BEATS_CUBIN, UNCOVERED,
)  # fmt: skip
NAMES: Final = {check.name: check for check in CHECKS}
KINDS: Final[tuple[Kind, ...]] = tuple(check.kind for check in CHECKS)
