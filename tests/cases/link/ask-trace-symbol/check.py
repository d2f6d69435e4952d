"""What --trace-symbol prints."""

from typing import Any


def check(shop: Any, case: Any) -> None:
    outcome = shop.link("case", "--trace-symbol", "shared", "--trace-symbol", "memcpy")
    assert outcome.stdout == (
        "a: definition of `shared` (strong function)\n"
        "b: reference of `shared` (function)\n"
        "b: reference of `memcpy` (function)\n"
        "compiler_builtins: lazy definition of `memcpy` (weak function)\n"
    )
    outcome = shop.link("case", "--trace-symbol", "nowhere")
    assert outcome.code == 1
    assert "is given with --trace-symbol, but no input has it" in outcome.stderr
