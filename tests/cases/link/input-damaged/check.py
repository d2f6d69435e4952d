"""Damaged inputs are told by name and place; outputs of before stay."""

from pathlib import Path
from typing import Any


def check(shop: Any, case: Any) -> None:
    folder: Path = shop.folder
    before = (folder / "case.bc").read_bytes()
    whole = (folder / "libkern.rlib").read_bytes()
    at = whole.index(b"BC\xc0\xde")
    wanted = [
        (whole[:40], "ends in the middle of a member header"),
        (whole[: at + 100], "goes past its end"),
        (whole[at : at + 600], "is damaged or truncated bitcode"),
        (b"", "is neither bitcode nor an object with embedded bitcode"),
        (b"\xff" * 300, "is neither bitcode nor an object with embedded bitcode"),
        (b"!<arch>\nrubbish" * 20, "has no member header where one must be"),
        (b"\0asm" + bytes(200), "holds WebAssembly, not GPU bitcode"),
        (b"MZ" + bytes(200), "holds a Windows program, not GPU bitcode"),
        (b"\x7fELF" + bytes(10), "holds an ELF object that is not 64-bit little endian"),
        (b"\x7fELF\2\1" + b"\xff" * 70, "is a damaged ELF object"),
        (b"// PTX\n.version 8.0\n", "is neither bitcode nor an object"),
        (b"BC\xc0\xde" + bytes(400), "is damaged or truncated bitcode"),
    ]
    for content, message in wanted:
        (folder / "bad.rlib").write_bytes(content)
        outcome = shop.link("case", crates=[("kern", folder / "bad.rlib")])
        assert outcome.code == 1, message
        assert message in outcome.stderr, outcome.stderr
        assert "Traceback" not in outcome.stderr
    assert (folder / "case.bc").read_bytes() == before
