"""Removes what is in the way in an output folder: outputs that nothing makes any more, and
what killed steps left."""

from __future__ import annotations

import os
import re
import shutil

from fatcrate.rules.ninja.places import Places

#: Every step names its temporary files and folders so.
_TEMPORARY = re.compile(r".+\.\d+\.tmp")


def remove_stale(places: Places, nodes: set[str]) -> None:
    """Removes outputs that nothing makes any more, and the folders that this empties."""
    for node in sorted(nodes):
        if os.path.isabs(node) or node.startswith(".."):
            continue  # the shared sysroot
        path = os.path.join(places.folder, node)
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        folder = os.path.dirname(path)
        while folder != places.folder and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def remove_temporary(places: Places) -> None:
    """Removes what killed steps left."""
    for folder, folders, files in os.walk(places.folder):
        for name in [name for name in folders if _TEMPORARY.fullmatch(name)]:
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
            folders.remove(name)
        for name in files:
            if _TEMPORARY.fullmatch(name):
                os.unlink(os.path.join(folder, name))
