"""The path of a store's file, and whether it exists; many commands need this before they open a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.app.app_context import AppContext


def store_file(url: str) -> Path | None:
    """Return the path of a store's file; None if the store is not a file."""
    path = url.removeprefix("sqlite:///")
    return None if path in {url, ""} else Path(path).expanduser().absolute()


def has_store(app: AppContext) -> bool:
    """Return False if the store is a file that does not exist yet."""
    file = store_file(app.settings.store_url)
    return file is None or file.exists()
