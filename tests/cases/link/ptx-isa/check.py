"""--min-driver raises the version of PTX that the driver compiles, or refuses."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    assert shop.codegen("case", "compute_75", "3", "--min-driver", "535").code == 0
    version = shop.text("case.compute_75.ptx").split(".version ", 1)[1].split()[0]
    assert version == "8.2"
    outcome = shop.codegen("case", "compute_120", "3", "--min-driver", "535")
    assert outcome.code == 1
    assert "compute_120" in outcome.stderr
