"""A fast check whether any installed distribution has entry points of a group.

Reading entry points with ``importlib.metadata`` costs 10 ms or more. This check costs half a millisecond for fifty
distributions, and makes the reading unnecessary if no distribution has entry points of the group.
"""

from __future__ import annotations

import os
import sys

HOOK_GROUP = "phaseline.hooks"
"""Entry-point group in which distributions announce hook classes."""
HEAT_GROUP = "heat.stack_lifecycle_plugins"
"""Heat's entry-point group of hook classes, read only if the settings ask for it. The classes are
called as Heat does.
"""


def is_announced(*groups: str) -> bool:
    """Return True if the entry points of any distribution on ``sys.path`` mention one of the groups.

    The answer may also be True if a group is mentioned but has no entry point, or if an archive on the path cannot be
    checked quickly.
    """
    wanted = tuple(group.encode() for group in groups)
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 - each cold start pays for it
        except OSError:
            if os.path.isfile(folder):  # noqa: PTH113 - the archive of the standard library is on every path, and rarely there
                return True  # ``importlib.metadata`` reads archives
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and _mentions(f"{folder}/{name}/entry_points.txt", wanted):
                return True
            if name.endswith(".egg"):
                return True
    return False


def _mentions(file: str, wanted: tuple[bytes, ...]) -> bool:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - as above
            content = opened.read()
    except OSError:
        return False
    return any(group in content for group in wanted)
