"""The stores, in an SQLite file, in a PostgreSQL database or in memory: every change is stored before the engine acts on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.ports.clock import Clock
    from phaseline.ports.store import Store

FILE_PREFIX = "sqlite:///"
DATABASE_PREFIXES = ("postgresql://", "postgres://")
MEMORY = "memory:"


def open_store(url: str, clock: Clock, *, makes: bool = True) -> Store:
    """Open the store that a URL names: ``sqlite:///`` with a path, ``postgresql://`` with a database, or ``memory:``.

    The path is relative to the working folder unless it begins with a slash (``sqlite:////var/lib/store.db``); ``~`` is
    the home folder. ``makes``: create a missing file; if False, a missing file raises PL-S007.
    Raises: PL-S001 for another URL, and any problem of opening the store.
    """
    if url == MEMORY:
        from phaseline.store.memory.store import MemoryStore

        return MemoryStore(clock)
    if url.startswith(DATABASE_PREFIXES):
        return _open_database(url, clock, makes=makes)
    from phaseline.store.sqlite.store import SqliteStore

    return SqliteStore.open(file_of(url), clock, makes=makes)


def file_of(url: str) -> Path:
    """Return the path of the file that a URL names. Raises: PL-S001 for another URL."""
    path = url.removeprefix(FILE_PREFIX)
    if path == url or not path:
        from phaseline.lang.masked_urls import masked

        raise problem_error(
            "PL-S001",
            f"the store cannot be opened: {masked(url)!r} names no store",
            "write sqlite:/// and the path of a file, such as sqlite:///phaseline.db, the postgresql:// URL of a database, "
            "or memory: for none",
        )
    return Path(path).expanduser()


def require_driver() -> None:
    """Raise PL-S039 if the package that connects to PostgreSQL is missing."""
    try:
        import psycopg  # noqa: F401  # whether it can be imported is the question
    except ImportError as error:
        if error.name not in {None, "psycopg", "psycopg_binary", "psycopg_c"}:
            raise
        text = f"the package psycopg, which connects to PostgreSQL, is missing: {' '.join(str(error).split())}"
        raise problem_error("PL-S039", text, "install it: pip install 'phaseline[postgres]'") from error


def _open_database(url: str, clock: Clock, *, makes: bool) -> Store:
    require_driver()
    from phaseline.store.postgres.store import PostgresStore

    return PostgresStore.open(url, clock, makes=makes)
