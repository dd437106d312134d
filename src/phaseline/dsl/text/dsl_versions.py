"""The versions of the blueprint language (B3)."""

from __future__ import annotations

import re

LATEST = 5
"""Minor version of the newest ``cloudify_dsl_1_…``."""
PHASELINE = 100
"""Minor version that represents our own language, ``phaseline_dsl_1_0``, which contains all others (decision 15)."""
OWN = "phaseline_dsl_1_0"
_PREFIX = "cloudify_dsl_"
_OWN_PREFIX = "phaseline_dsl_"


def version_name(minor: int) -> str:
    """Return the name of a version of the language, as a blueprint writes it.

    >>> version_name(4), version_name(PHASELINE)
    ('cloudify_dsl_1_4', 'phaseline_dsl_1_0')
    """
    return OWN if minor >= PHASELINE else f"{_PREFIX}1_{minor}"


def read_version(value: object) -> int | tuple[str, int]:
    """Return the minor version that ``value`` names, or (what is wrong with it, Cloudify's error number)."""
    if value is None or value == "":
        return ("the version is empty", 71)
    if not isinstance(value, str):
        return (f"the version is not text but {value!r}", 72)
    if value == OWN:
        return PHASELINE
    if value.startswith(_OWN_PREFIX):
        return (f"the version '{value}' is unknown; the version of Phaseline's own language is {OWN}", 29)
    if not value.startswith(_PREFIX) or not 2 <= len(parts := value.removeprefix(_PREFIX).split("_")) <= 3:
        return (f"the version '{value}' has not the form cloudify_dsl_1_N", 73)
    for part, name, number in zip(parts, ("major", "minor", "micro"), (74, 75, 76), strict=False):
        if not re.fullmatch(r"[0-9]+", part):
            return (f"the {name} part of the version '{value}' is not a number", number)
    if len(parts) == 2 and len(parts[1]) == 1 and parts[0] == "1" and int(parts[1]) <= LATEST:
        return int(parts[1])
    return (f"the version '{value}' is unknown", 29)
