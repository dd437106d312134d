"""Plugin packages in SQLite: installed ones, replaced ones that may still be needed, and their users."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.packages.installed import PackageRow, PackageUse, PackageUser
from phaseline.ports.clock import Clock
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import content_files as kept
from phaseline.store.sql import deployments as writes
from phaseline.store.sql.package_uses import TENANT, add_uses, select, uses_of
from phaseline.store.sql.schema import IS_OPEN

_MAY_GO_ON = f"({IS_OPEN} or status in ('failed', 'canceled'))"
"""Condition for executions that are open or may be retried."""

Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]


class SqlitePackages:
    """``PackageShelf`` of a file."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock) -> None:
        """Read and write transactions, whichever process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock

    def all(self) -> Sequence[PackageRow]:
        """The installed packages, sorted by name and then by time of installation."""
        with self._reading() as db:
            return select(db, "removed_at = 0 order by name, number")

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """The digests without stored content."""
        with self._reading() as db:
            return kept.lacking(db, digests)

    def add(
        self,
        new: PackageRow,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        *,
        replaces: int = 0,
        folders: Sequence[str] = (),
    ) -> PackageRow | None:
        """Install it; None if its name and version are there already, or ``replaces`` is not any more."""
        packed = kept.packed(contents)
        with self._writing() as db:
            same = select(db, "removed_at = 0 and name = ? and version = ?", new.name, new.version)
            if any(row.number != replaces for row in same):
                return None
            if replaces and not self._retire(db, replaces):
                return None
            kept.add(db, [file.digest for file in files], packed)
            values = (
                new.name,
                new.version,
                new.format,
                new.digest,
                new.title,
                new.origin,
                new.file_count,
                new.size_bytes,
                new.installed_at,
                new.installed_by,
            )
            added = db.execute(f"insert into package values (null, ?{', ?' * 10}, 0)", (TENANT, *values))
            number = int(added.lastrowid or 0)
            db.executemany(
                "insert into package_path values (?, ?, ?, ?)",
                ((number, file.path, file.digest, int(file.is_executable)) for file in files),
            )
            if replaces:
                moved = "update package_use set package = ?, folders = ? where package = ?"
                db.execute(moved, (number, to_text(folders), replaces))
            return select(db, "number = ?", number)[0]

    def _retire(self, db: sqlite3.Connection, package: int) -> bool:
        """Mark a package as removed; return whether it was installed."""
        gone = "update package set removed_at = ? where number = ? and removed_at = 0"
        return db.execute(gone, (max(1, self._clock.now()), package)).rowcount == 1

    def files(self, package: int) -> Sequence[StoredFile]:
        """The files of a package, by path."""
        with self._reading() as db:
            rows = db.execute(
                """select path, content, size_bytes, is_executable from package_path
                join stored_content on digest = content where package = ? order by path""",
                (package,),
            )
            return [StoredFile(path, digest, size, bool(runs)) for path, digest, size, runs in rows]

    def content(self, digest: str) -> bytes:
        """The content with this digest. Raises: LookupError if it is not stored."""
        with self._reading() as db:
            return kept.read(db, digest)

    def rename(self, package: int, origin: str) -> None:
        """Store another folder as the place of its files."""
        with self._writing() as db:
            db.execute("update package set origin = ? where number = ?", (origin, package))

    def remove(self, package: int) -> Sequence[PackageUser]:
        """Remove it. If it has users, return them and remove nothing."""
        with self._writing() as db:
            users = _users(db, package)
            if not users:
                self._retire(db, package)
            return users

    def users(self, package: int) -> Sequence[PackageUser]:
        """Deployments that use it and are not deleted, by name."""
        with self._reading() as db:
            return _users(db, package)

    def uses(self, deployment: int) -> Sequence[PackageUse]:
        """The packages that a deployment uses, sorted by name."""
        with self._reading() as db:
            return uses_of(db, deployment)

    def use(self, use: PackageUse) -> None:
        """Have a deployment use a package, in the place of another version of its name."""
        with self._writing() as db:
            writes.raise_if_deleted(db, use.deployment)
            writes.raise_if_open(db, use.deployment)
            add_uses(db, use.deployment, [use])

    def leave(self, deployment: int, package: int) -> None:
        """Have a deployment use a package no more."""
        with self._writing() as db:
            writes.raise_if_open(db, deployment)
            db.execute("delete from package_use where deployment = ? and package = ?", (deployment, package))

    def find_again(self, folders: Mapping[str, str]) -> None:
        """Let uses find modules in other folders."""
        with self._writing() as db:
            for deployment, package, text in db.execute(
                "select deployment, package, folders from package_use"
            ).fetchall():
                found = [folders.get(folder, folder) for folder in json.loads(text)]
                moved = "update package_use set folders = ? where deployment = ? and package = ?"
                db.execute(moved, (to_text(found), deployment, package))

    def kept(self) -> Mapping[str, int]:
        """{digest: number} of everything whose files are needed."""
        with self._reading() as db:
            return dict(db.execute("select digest, number from package order by removed_at = 0, number").fetchall())

    def collect(self) -> Sequence[str]:
        """Delete replaced and removed packages that are not needed any more; return the deleted digests."""
        with self._writing() as db:
            gone = db.execute(
                f"""select number, digest from package where removed_at > 0
                and not exists (select 1 from execution where created_at <= removed_at and {_MAY_GO_ON}
                    and deployment in (select number from deployment where deleted_at = 0))"""
            ).fetchall()
            if gone:
                which = to_text([number for number, _ in gone])
                for table, column in (("package_path", "package"), ("package_use", "package"), ("package", "number")):
                    db.execute(f"delete from {table} where {column} in (select value from json_each(?))", (which,))
                kept.collect(db)
            still = {digest for (digest,) in db.execute("select digest from package")}
            return [digest for digest in dict.fromkeys(digest for _, digest in gone) if digest not in still]


def _users(db: sqlite3.Connection, package: int) -> list[PackageUser]:
    rows = db.execute(
        """select name, is_enabled from package_use join deployment on deployment = number
        where package = ? and deleted_at = 0 order by name""",
        (package,),
    )
    return [PackageUser(name, bool(is_enabled)) for name, is_enabled in rows]
