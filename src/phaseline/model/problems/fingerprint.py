"""Grouping of failures that differ only in names and numbers: five hundred nodes, one quota error (X13)."""

from __future__ import annotations

import re

CHANGING = r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*|\d+"
"""Parts of a message that differ from resource to resource: numbers, addresses, ids."""
KEY_LETTERS = 8


def group_key(operation: str, message: str, name: str) -> str:
    """Return a key that is equal for failures whose messages differ only in names and numbers.

    >>> group_key("P", "no room for n1 on 10.0.0.7", "n1") == group_key("P", "no room for n22 on 10.0.1.9", "n22")
    True
    """
    import hashlib  # 10 ms that a command without failures need not pay

    words = re.sub(CHANGING, "#", message.replace(name, "@") if name else message)
    return hashlib.sha256(f"{operation.lower()}\0{words}".encode("utf-8", "replace")).hexdigest()[:KEY_LETTERS]
