"""The path of a store's file, and whether it exists: many commands need this before a store is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.app.app_context import AppContext


def store_file(url: str) -> Path | None:
    """The file of a store; None for a store that is not a file."""
    path = url.removeprefix("sqlite:///")
    return None if path in {url, ""} else Path(path).expanduser().absolute()


def has_store(app: AppContext) -> bool:
    """True unless the store is a file that does not exist yet."""
    file = store_file(app.settings.store_url)
    return file is None or file.exists()
