"""The path of a store's file, and whether it exists: needed by many commands before a store is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.app.app_context import AppContext


def store_file(url: str) -> Path | None:
    """The file of a store, None for one that lives in memory."""
    path = url.removeprefix("sqlite:///")
    return None if path in {url, ""} else Path(path).expanduser().absolute()


def has_store(app: AppContext) -> bool:
    """True unless the store is a file that is not there yet."""
    file = store_file(app.settings.store_url)
    return file is None or file.exists()
