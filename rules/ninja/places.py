"""Where a project and its outputs lie, and how Ninja names them.

Steps run in the project's root and get paths relative to it. Ninja runs in the output folder
(``ninja -C fatcrate-out``), so its paths are relative to that.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

#: The front end's own folder in the output folder.
OWN = ".fatcrate"


@dataclass(frozen=True)
class Places:
    """``root`` and ``folder`` (of outputs) are absolute, without symbolic links."""

    root: str
    folder: str

    @property
    def out(self) -> str:
        """The output folder as steps see it: relative where it lies below the root."""
        inside = os.path.relpath(self.folder, self.root)
        return self.folder if inside.startswith("..") else inside

    @property
    def base(self) -> str:
        """The root as Ninja sees it from the output folder."""
        return self.root if os.path.isabs(self.out) else os.path.relpath(self.root, self.folder)

    def own(self, name: str) -> str:
        """A file in the front end's own folder, as steps see it."""
        return f"{self.out}/{OWN}/{name}"

    def absolute(self, path: str) -> str:
        """A path that steps see, as an absolute one."""
        return os.path.join(self.root, path)

    def node(self, path: str) -> str:
        """A path that steps see, as Ninja sees it."""
        if path.startswith(self.out + "/"):
            return os.path.normpath(path[len(self.out) + 1 :])
        return os.path.normpath(os.path.join(self.base, path))
