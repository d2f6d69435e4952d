"""Public name of the CPU runner (the code lives in :mod:`fatcrate.lto.cpu`)."""

from fatcrate.lto.cpu import *  # noqa: F403
from fatcrate.lto.cpu import __all__ as __all__
