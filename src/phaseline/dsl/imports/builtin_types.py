"""Find the built-in types file that an import means, in every public spelling, and recognise basic types (B6a, B7)."""

from __future__ import annotations

import re

from phaseline.dsl.text.document import Document

BASIC_ROOT = "cloudify.nodes.Root"

_URL = r"https?://(?:www\.)?(?:getcloudify\.org|cloudify\.co)/spec/cloudify/(?P<version>[^/]+)/types(?P<suffix>_1_[0-9])?\.yaml"
_NAME = re.compile(r"(?:/)?cloudify/types/types(?P<suffix>_1_[0-9]|_3_[234])?\.yaml")
_RELEASE = r"(\d+)\.(\d+)"
_BY_MINOR = ("types_3_2.yaml", "types_3_2.yaml", "types_3_3.yaml", "types_1_3.yaml", "types_1_4.yaml", "types.yaml")
"""Built-in types files for main blueprints in cloudify_dsl_1_0, 1_1 and so on, by minor version."""


def bundled_name(spelling: str, minor: int) -> str | None:
    """Return the built-in types file that an import means in a blueprint of ``cloudify_dsl_1_<minor>``, or None.

    >>> bundled_name("http://www.getcloudify.org/spec/cloudify/3.4/types.yaml", 3)
    'types_3_4.yaml'
    >>> bundled_name("cloudify/types/types.yaml", 4)
    'types_1_4.yaml'
    >>> bundled_name("parts/network.yaml", 4) is None
    True
    """
    named = _NAME.fullmatch(spelling)
    if named is None:
        linked = re.fullmatch(_URL, spelling)
        if linked is None:
            return None
        older = _older(linked["version"])
        if older is not None:
            return older
        named = linked
    if named["suffix"] is None:
        return _BY_MINOR[min(minor, len(_BY_MINOR) - 1)]
    return f"types{named['suffix']}.yaml"


def _older(version: str) -> str | None:
    """Return the types file of a Cloudify release before 5.0, or None for a newer one.

    The files of newer releases differ only by the version of the language.
    """
    release = re.match(_RELEASE, version)
    if release is None:
        return None
    number = (int(release[1]), int(release[2]))
    if number >= (5, 0):
        return None
    if number >= (3, 4):
        return "types_3_4.yaml"
    return "types_3_3.yaml" if number == (3, 3) else "types_3_2.yaml"


def is_basic(document: Document) -> bool:
    """Return True for a built-in types file, or for a file that defines the root of all node types."""
    root = document.root
    types = root.get("node_types") if isinstance(root, dict) else None
    return document.is_bundled or (isinstance(types, dict) and BASIC_ROOT in types)
