"""What --why and --print-gc print."""

import re
from typing import Any


def check(shop: Any, case: Any) -> None:
    outcome = shop.link("case", "--why", "a::deep", "--why", "a::unused")
    assert outcome.code == 0
    text = re.sub(r"\(_R\w+\)", "(…)", outcome.stdout)
    assert text == (
        "`a::deep` (…) is kept:\n"
        "  kernel `k` (crate b)\n"
        "  refers to `a::middle` (…) (crate a)\n"
        "  refers to `a::deep` (…) (crate a)\n"
        "`a::unused` (…) of crate a is dropped: nothing that is kept refers to it\n"
    )
    outcome = shop.link("case", "--print-gc")
    assert re.fullmatch(r"a: dropped `a::unused` \(_R\w+\)\n", outcome.stdout)
    outcome = shop.link("case", "--why", "a::unusd")
    assert outcome.code == 1
    assert outcome.stderr == (
        "error[FC0325]: a::unusd: is given with --why, but no input has it\n"
        "  help: did you mean a::unused?\n"
    )
