"""Contents of stored files, in the caller's transaction.

Each content is stored once, even if several blueprints, packages and definitions have it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.store.codec.json_documents import to_text

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

TEXTS = (".yaml", ".yml")
"""Ends of the paths of files that are read as documents of a package."""
Packed = Mapping[str, tuple[int, bytes]]
"""{digest: (size in bytes, compressed content)}"""


def packed(contents: Mapping[str, bytes]) -> Packed:
    """Compress contents as they are stored. Call this before a transaction begins, because compression is slow."""
    return {digest: (len(body), zlib.compress(body)) for digest, body in contents.items()}


def lacking(db: Connection, digests: Sequence[str]) -> list[str]:
    """Return those of the digests whose content is not stored."""
    rows = db.execute(
        "select digest from stored_content where digest in (select value from json_each(?))", (to_text(digests),)
    )
    found = {digest for (digest,) in rows}
    return [digest for digest in digests if digest not in found]


def add(db: Connection, needed: Sequence[str], given: Packed) -> None:
    """Store the given contents. Raises: ``LookupError`` if a needed content is neither given nor stored."""
    missing = lacking(db, [digest for digest in needed if digest not in given])
    if missing:
        raise LookupError(f"content {missing[0]} was removed meanwhile")
    db.executemany(
        """insert into stored_content (digest, size_bytes, body) values (?, ?, ?)
        on conflict (digest) do nothing""",
        ((digest, size, body) for digest, (size, body) in given.items()),
    )


def read(db: Connection, digest: str) -> bytes:
    """Return the content with this digest. Raises: LookupError if it is not stored."""
    row = db.execute("select size_bytes, body from stored_content where digest = ?", (digest,)).fetchone()
    if row is None:
        raise LookupError(f"nothing is stored with the digest {digest}")
    return unpacked(*row)


def collect(db: Connection) -> None:
    """Delete the contents that no file of a stored blueprint, a package or a plugin's definitions has any more."""
    db.execute(
        """delete from stored_content where digest not in (select content from stored_path)
        and digest not in (select content from package_path)
        and digest not in (select content from definition_file)"""
    )


def unpacked(size: int, body: bytes) -> bytes:
    """Decompress a stored content. Raises ``ValueError`` if it is damaged."""
    try:
        content = zlib.decompress(body)
    except zlib.error as error:
        raise ValueError(f"a stored file cannot be unpacked: {error}") from error
    if len(content) != size:
        raise ValueError(f"a stored file has {len(content)} bytes instead of {size}")
    return content
