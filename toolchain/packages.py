"""Makes installed packages importable in a step that was started without them.

``rules/ninja/client.py`` starts Python with ``-S``: looking for packages takes as long as a
short step's own work, and most steps of a build need none.
"""

from __future__ import annotations

import sys

_found = not sys.flags.no_site


def find() -> None:
    """Does what Python does at its start, unless it was done."""
    global _found
    if not _found:
        import site

        site.main()
        _found = True
