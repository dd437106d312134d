"""Rules for names that users choose, and the folder name for each name (decision 33).

Nearly everything is allowed, except what could be taken for a command-line option or a path. Names that were stored
before this rule existed can still be read; only their folders have another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

MAX_NAME: Final = 255
"""Most characters of a name."""
MEND: Final = f"leave the character out; all other characters are allowed, at most {MAX_NAME} in a name"

_ORDERS: Final = "\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_LONGEST_FILE_NAME: Final = 200
"""Most bytes of a folder's name; file systems allow 255."""


def _is_plain(text: str) -> bool:
    """Return True if certainly nothing in the text is forbidden, which is true for nearly all names and fast to check."""
    return text.isprintable() and "/" not in text


@cache
def _forbidden(more: str = "") -> re.Pattern[str]:
    """Return the pattern of forbidden characters. It is compiled only when needed, because that takes half a millisecond."""
    return re.compile(f"[{_ORDERS}/{re.escape(more)}]")


def why_no_name(name: str) -> str:
    """Return the reason why a name is not allowed, for a message; empty for a good name.

    >>> why_no_name("web server 1"), why_no_name("a/b"), why_no_name("a" * 256)
    ('', "holds '/'", 'has 256 characters')
    """
    found = None if _is_plain(name) else _forbidden().search(name)
    if found is None:
        return "" if len(name) <= MAX_NAME else f"has {len(name)} characters"
    sign = found[0]
    if sign == "/":
        return "holds '/'"
    turns = "\u202a" <= sign <= "\u202e" or "\u2066" <= sign <= "\u2069"
    return (
        f"holds {'a sign that turns the direction of writing' if turns else 'a control character'} (U+{ord(sign):04X})"
    )


def are_names(names: Iterable[str]) -> bool:
    """Return True if ``why_no_name`` allows all names; fast for many names.

    >>> are_names(["web", "db"]), are_names(["web", "../db"])
    (True, False)
    """
    text = "".join(names)
    return (_is_plain(text) or _forbidden().search(text) is None) and max(map(len, names), default=0) <= MAX_NAME


def shown_name(name: str) -> str:
    r"""Return a name as messages show it: without characters that control a terminal, and shortened to a line.

    >>> shown_name("a\x1b[2J")
    'a\\x1b[2J'
    """
    short = name if len(name) <= 60 else f"{name[:60]}…"
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in short)


def folder_name(name: str) -> str:
    """Return the folder name for a name: it is never a path, and different names have different folders.

    >>> folder_name("web_1"), folder_name("../x"), folder_name("..")
    ('web_1', '..%2fx-d6b96a97d147', '%2e%2e-5ec1f7e700f3')
    """
    is_file_name = (_is_plain(name) and "\\" not in name) or _forbidden("\\").search(name) is None
    if name.strip(".") and is_file_name and len(name.encode()) <= _LONGEST_FILE_NAME:
        return name
    from hashlib import sha256  # hardly any name needs it

    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    safe = _forbidden("\\").sub(lambda found: f"%{ord(found[0]):02x}", name)
    if not safe.strip("."):
        safe = safe.replace(".", "%2e")
    return f"{safe.encode()[:_LONGEST_FILE_NAME].decode('utf-8', 'ignore')}-{mark}"
