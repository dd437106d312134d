"""Cloudify plugins and scripts run unchanged: the package ``cloudify``, its ``ctx``, and the callers behind them.

``shim`` holds packages under their foreign names. It is a folder for ``sys.path``, never installed at top level.
"""

from __future__ import annotations

import sys
from pathlib import Path

SHIM = Path(__file__).resolve().parent / "shim"
"""The folder that holds ``cloudify``, ``cloudify_rest_client`` and ``script_runner``."""


def enable() -> None:
    """Put the shim first on ``sys.path``, before an installed package of the same name. Safe to call twice."""
    folder = str(SHIM)
    if folder not in sys.path:
        sys.path.insert(0, folder)
