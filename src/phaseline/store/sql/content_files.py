"""Contents of stored files, in the caller's transaction.

Each content is stored once, even if blueprints, packages and definitions of several tenants have it. A tenant finds
only contents that a file of its own has.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import TenantRows

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

TEXTS = (".yaml", ".yml")
"""Ends of the paths of files that are read as documents of a package."""
Packed = Mapping[str, tuple[int, bytes]]
"""{digest: (size in bytes, compressed content)}"""
_IS_OWN = """(exists (select 1 from stored_path join stored_blueprint on number = blueprint
        where content = stored_content.digest and tenant = ?)
    or exists (select 1 from package_path join package on number = package where content = stored_content.digest and tenant = ?)
    or exists (select 1 from definition_file where content = stored_content.digest and tenant = ?))"""
"""SQL condition for contents that a file of a tenant has."""


def packed(contents: Mapping[str, bytes]) -> Packed:
    """Compress contents as they are stored. Call this before a transaction begins, because compression is slow."""
    return {digest: (len(body), zlib.compress(body)) for digest, body in contents.items()}


def lacking(db: Connection, digests: Sequence[str], rows: TenantRows) -> list[str]:
    """Return those of the digests whose content the tenant has not."""
    where, values = _which(rows, "digest in (select value from json_each(?))", to_text(digests))
    found = {digest for (digest,) in db.execute(f"select digest from stored_content where {where}", values)}
    return [digest for digest in digests if digest not in found]


def add(db: Connection, needed: Sequence[str], given: Packed, rows: TenantRows) -> None:
    """Store the given contents. Raises: ``LookupError`` if a needed content is neither given nor the tenant's."""
    missing = lacking(db, [digest for digest in needed if digest not in given], rows)
    if missing:
        raise LookupError(f"content {missing[0]} was removed meanwhile")
    db.executemany(
        """insert into stored_content (digest, size_bytes, body) values (?, ?, ?)
        on conflict (digest) do nothing""",
        ((digest, size, body) for digest, (size, body) in given.items()),
    )


def read(db: Connection, digest: str, rows: TenantRows) -> bytes:
    """Return the content with this digest. Raises: LookupError if the tenant has none."""
    where, values = _which(rows, "digest = ?", digest)
    row = db.execute(f"select size_bytes, body from stored_content where {where}", values).fetchone()
    if row is None:
        raise LookupError(f"nothing is stored with the digest {digest}")
    return unpacked(*row)


def _which(rows: TenantRows, condition: str, value: str) -> tuple[str, tuple[str, ...]]:
    """Return the condition for contents with its values, restricted to files of the tenant."""
    if rows.tenant is None:
        return condition, (value,)
    return f"{condition} and {_IS_OWN}", (value, rows.tenant, rows.tenant, rows.tenant)


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
