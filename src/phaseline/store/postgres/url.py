"""The URL of a store in PostgreSQL, as its clients take it; the form that is shown has no password."""

from __future__ import annotations

from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from phaseline.store.postgres import errors


def shown(url: str) -> str:
    """Return a URL without its password and its options, for messages. Raises: PL-S001 if it cannot be read."""
    try:
        told = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        secret = url.rpartition("@")[0]
        text = " ".join(str(error).split())
        raise errors.no_url("postgresql://…", text.replace(secret, "…") if secret else text) from None
    user, host, port, name = (str(told.get(key) or "") for key in ("user", "host", "port", "dbname"))
    where = quote(host, safe=",.:[]") + (f":{port}" if port.strip(",") else "")
    return f"postgresql://{quote(user)}@{where}/{name}" if user else f"postgresql://{where}/{name}"
