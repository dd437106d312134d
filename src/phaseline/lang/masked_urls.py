"""URLs without the passwords in them, for messages, logs and lists."""

from __future__ import annotations

import re

_HEAD = re.compile(r"((?:--?[\w-]+=)?[\w+.-]+:/*)(.*)", re.DOTALL)


def masked(text: str) -> str:
    """Return a URL, also a mistyped one, without its user, its password and the values of its parameters.

    A password may hold any character, so everything before the last ``@`` is left out. The name of an option before the
    URL stays.

    >>> masked("postgresql://ann:hush@host:5432/shop?password=hush")
    'postgresql://…@host:5432/shop?…'
    >>> masked("--store=postgres:/ann:h/u@sh@host/shop")
    '--store=postgres:/…@host/shop'
    >>> masked("https://host/shop.zip")
    'https://host/shop.zip'
    """
    found = _HEAD.fullmatch(text)
    head, rest = found.groups() if found else ("", text)
    _, has_user, after = rest.rpartition("@")
    path, has_values, _ = after.partition("?")
    return f"{head}{'…@' if has_user else ''}{path}{'?…' if has_values else ''}"
