"""Starts one step from a bare interpreter: no site-packages, nothing installed.

usage: python -I -S -B step.py PACKAGES STEP [ARGUMENT...]

PACKAGES is the folder that holds the third-party packages of the steps. fatcrate itself is
imported from the checkout that this file lies in, without resolving links, so that a step in
a sandbox sees the declared sources and no others.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location


def _install(root: str) -> None:
    """Makes ``fatcrate`` importable: its packages are folders of the checkout's root."""
    home = os.path.join(root, "python", "fatcrate")
    spec = spec_from_file_location(
        "fatcrate",
        os.path.join(home, "__init__.py"),
        submodule_search_locations=[home, root],
    )
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["fatcrate"] = module
    spec.loader.exec_module(module)


def main() -> int:
    """Runs the step named on the command line; returns its exit code."""
    if len(sys.argv) < 3:
        print("usage: step.py PACKAGES STEP [ARGUMENT...]", file=sys.stderr)
        return 2
    sys.path.append(os.path.abspath(sys.argv[1]))
    _install(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from fatcrate.rules.cli import main as run
    from fatcrate.toolchain.guard import leave

    leave(run(sys.argv[2:]))


if __name__ == "__main__":
    raise SystemExit(main())
