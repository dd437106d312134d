"""Which versions of the program may use a store: an upgrade of a store leaves it usable for the version before (UP1).

A change of the tables is spread over two minor versions. The first one adds what is new, and the version before still
reads and writes. The second one removes what is old. So machines that share a store can be upgraded one after another.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from phaseline.store.database.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

FOUND = "select version, min_reader, min_writer from store_schema"


class Access(IntEnum):
    """What a version of the program may do with a store."""

    NONE = 0
    READING = 1
    ALL = 2


def access(version: int, min_reader: int, min_writer: int, known: int = SCHEMA_VERSION) -> Access:
    """Return what a program that knows the tables of version ``known`` may do with a store of version ``version``.

    ``min_reader`` and ``min_writer``: the oldest versions that may read and write the store, as stored in it.
    """
    if known >= version or known >= min_writer:
        return Access.ALL
    return Access.READING if known >= min_reader else Access.NONE


def access_to(db: Connection) -> tuple[int, Access]:
    """Return (version of the tables of a newer store, what this program may do with it)."""
    version, min_reader, min_writer = db.execute(FOUND).fetchone()
    return int(version), access(version, min_reader, min_writer)
