"""What keeps a short command short: no threads for linear algebra that nobody does, no help texts, no search for garbage.

All of it is measured in docs/benchmarks.md. What a user has set himself stays as it is.
"""

from __future__ import annotations

import gc
import os
import sys
from types import ModuleType

MADE_BETWEEN_LOOKS = 100_000
"""Objects made until Python looks for garbage: importing makes fewer, and what it makes stays."""
OPENBLAS = "OPENBLAS_NUM_THREADS"
THREADS = (OPENBLAS, "OMP_NUM_THREADS", "GOTO_NUM_THREADS")
"""Variables that numpy's linear algebra reads while it is loaded; it starts as many threads as there are processors."""
DOCUMENTATION = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
"""Nothing but the texts of numpy's help: left out, numpy is as Python's option ``-OO`` makes it."""

_lent: list[str] = []


def begin() -> None:
    """As the first thing a command does, before anything loads numpy."""
    gc.set_threshold(MADE_BETWEEN_LOOKS)
    for name in DOCUMENTATION:
        sys.modules.setdefault(name, ModuleType(name))
    if not any(name in os.environ for name in THREADS):
        os.environ[OPENBLAS] = "1"
        _lent.append(OPENBLAS)


def load() -> None:
    """Load numpy and take back what was said in the environment: programs that are started later shall not read it."""
    import numpy as np  # noqa: F401  # loaded here, used elsewhere

    while _lent:
        del os.environ[_lent.pop()]


def end() -> None:
    """As the last thing: the operating system takes everything back, so nobody looks through it."""
    gc.freeze()
