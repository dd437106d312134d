"""The URL of a store in PostgreSQL, as its clients take it; the form that is shown has no password."""

from __future__ import annotations

import re
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from phaseline.store.postgres import errors

HIDDEN = "postgresql://…"
"""Shown instead of a URL of which it is unclear where the password ends."""
PARAMETER = re.compile(r"[?&]([a-z_]+)(?==|&|$)")


def shown(url: str) -> str:
    """Return a URL without its password and its options, for messages. Raises: PL-S001 if it cannot be read."""
    if not url.isprintable():
        raise errors.no_url(HIDDEN, "it has a character that cannot be printed")
    authority, _, path = url.partition("//")[2].partition("?")[0].partition("/")
    if authority.count("@") > 1 or "@" in path:
        raise errors.no_url(HIDDEN, "it has an @ that is not encoded, or another such character before it")
    try:
        told = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise errors.no_url(HIDDEN, _reason(error, url)) from None
    user, host, port, name = (str(told.get(key) or "") for key in ("user", "host", "port", "dbname"))
    if not port.replace(",", "").isdecimal() and port.strip(","):
        raise errors.no_url(HIDDEN, "its port is not a number")
    where = quote(host, safe=",.:[]") + (f":{port}" if port.strip(",") else "")
    name = quote(name, safe="")
    return f"postgresql://{quote(user)}@{where}/{name}" if user else f"postgresql://{where}/{name}"


def schema_in(url: str) -> str:
    """Return the first schema of the search path in the options of a URL, or ``public``.

    >>> schema_in("postgresql://host/db?options=-csearch_path%3Dshop,public")
    'shop'
    """
    found = re.search(r"search_path\s*=\s*\"?(\w+)", str(conninfo_to_dict(url).get("options") or ""))
    return found[1] if found else errors.PUBLIC


def _reason(error: psycopg.Error, url: str) -> str:
    """Return why a URL cannot be read, without what the driver quotes of it except for names of parameters."""
    names = set(PARAMETER.findall(url))
    text = " ".join(str(error).split())
    return re.sub(r'"(.*)"', lambda found: found[0] if found[1] in names else '"…"', text)
