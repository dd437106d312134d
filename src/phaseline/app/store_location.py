"""Where a store is: the path of its file, and whether it exists; many commands need this before they open a store."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.rows.rows import DEFAULT_TENANT

if TYPE_CHECKING:
    from phaseline.app.app_context import AppContext

TENANTS = "tenants"
"""Name of the folder with the copies of tenants other than the default one."""
NAME_LENGTH = 16
"""Number of characters of the name under which copies of files of a store in a database are kept."""


def store_file(url: str) -> Path | None:
    """Return the path of a store's file; None if the store is not a file."""
    path = url.removeprefix("sqlite:///")
    return None if path in {url, ""} else Path(path).expanduser().absolute()


def is_database(url: str) -> bool:
    """Return True if the store is a database of a server."""
    return url.startswith(("postgresql://", "postgres://"))


def shown_url(url: str) -> str:
    """Return the URL of a store without the user, the password and the options of a database.

    >>> shown_url("postgresql://ann:hush@host:5432/shop?password=hush")
    'postgresql://host:5432/shop'
    >>> shown_url("sqlite:///shop.db")
    'sqlite:///shop.db'
    """
    if not is_database(url):
        return url
    from phaseline.lang.masked_urls import masked  # few commands show the URL of a database

    return masked(url).replace("…@", "").removesuffix("?…")


def place_of_copies(url: str) -> Path | None:
    """Return the path with which the names of folders begin that hold copies of stored files; None without a place.

    Copies are beside the file of a store, or in the user's cache folder for a store in a database.
    """
    if not is_database(url):
        return store_file(url)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    name = sha256(url.encode()).hexdigest()[:NAME_LENGTH]
    return Path(base).absolute() / "phaseline" / "stores" / name


def part_of_tenant(folder: Path, tenant: str) -> Path:
    """Return the part of a folder with copies of stored files that is a tenant's; the default tenant has the folder itself.

    Two tenants may store equal files, and each deletes its own copies.
    """
    if tenant == DEFAULT_TENANT:
        return folder
    return folder / TENANTS / sha256(tenant.encode()).hexdigest()[:NAME_LENGTH]


def has_store(app: AppContext) -> bool:
    """Return False if the store is a file that does not exist yet."""
    file = store_file(app.settings.store_url)
    return file is None or file.exists()
