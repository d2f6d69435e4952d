"""Repacks the crate as a thin archive and links that."""

import shutil
import subprocess
from pathlib import Path
from typing import Any


def check(shop: Any, case: Any) -> None:
    folder: Path = shop.folder
    ar = shutil.which("llvm-ar", path="/usr/lib/llvm-22/bin") or shutil.which("ar")
    assert ar
    subprocess.run([ar, "x", "libkern.rlib"], cwd=folder, check=True)
    (member,) = folder.glob("*.rcgu.o")
    made = folder / "sub" / "thin.a"
    made.parent.mkdir()
    subprocess.run([ar, "rcT", made, member], cwd=folder, check=True)
    before = (folder / "case.bc").read_bytes()
    outcome = shop.link("case", crates=[("kern", made)])
    assert outcome.code == 0, outcome.stderr
    assert (folder / "case.bc").read_bytes() == before
    member.unlink()
    outcome = shop.link("case", crates=[("kern", made)])
    assert outcome.code == 1
    assert "error[FC0301]: thin.a: is a thin archive, and its member " in outcome.stderr
    assert f"{member.name} cannot be read: No such file or directory" in outcome.stderr
