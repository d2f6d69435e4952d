"""Wraps the crate's bitcode into the section .llvmbc of an object."""

import shutil
import subprocess
from pathlib import Path
from typing import Any


def check(shop: Any, case: Any) -> None:
    folder: Path = shop.folder
    ar, objcopy = shutil.which("ar"), shutil.which("objcopy")
    assert ar and objcopy
    subprocess.run([ar, "x", "libkern.rlib"], cwd=folder, check=True)
    (member,) = folder.glob("*.rcgu.o")
    (folder / "empty.c").write_text("")
    cc = shop.tools.host_linker
    subprocess.run([cc, "-c", "empty.c", "-o", "empty.o"], cwd=folder, check=True)
    command = [objcopy, f"--add-section=.llvmbc={member.name}", "empty.o", "kern.o"]
    subprocess.run(command, cwd=folder, check=True)
    before = (folder / "case.bc").read_bytes()
    outcome = shop.link("case", crates=[("kern", folder / "kern.o")])
    assert outcome.code == 0, outcome.stderr
    assert (folder / "case.bc").read_bytes() == before
    outcome = shop.link("case", crates=[("kern", folder / "empty.o")])
    assert outcome.code == 1
    assert "kern: empty.o holds machine code for" in outcome.stderr
