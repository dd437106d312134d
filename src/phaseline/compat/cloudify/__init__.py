"""Runs Cloudify plugins and scripts unchanged: a package ``cloudify``, its ``ctx``, and the callers of operations.

``shim`` is a folder of packages with Cloudify's own names. It is put on ``sys.path`` and never installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

SHIM = Path(__file__).resolve().parent / "shim"
"""Folder of the packages ``cloudify``, ``cloudify_rest_client`` and ``script_runner``."""


def enable() -> None:
    """Put the folder ``shim`` first on ``sys.path``, before an installed package ``cloudify``. Safe to call twice."""
    folder = str(SHIM)
    if folder not in sys.path:
        sys.path.insert(0, folder)
