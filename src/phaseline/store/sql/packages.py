"""Plugin packages in SQLite: installed ones, replaced ones that may still be needed, and the users of both."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.packages.installed import PackageRow, PackageUse, PackageUser
from phaseline.ports.clock import Clock
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.schema import IS_OPEN
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import content_files as kept
from phaseline.store.sql import deployments as writes
from phaseline.store.sql.package_uses import add_uses, all_uses, select, uses_of

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

_MAY_GO_ON = f"({IS_OPEN} or status in ('failed', 'canceled'))"
"""SQL condition for executions that are open or may be retried."""
_TENANT_OF_USE = "(select package.tenant from package where package.number = package_use.package)"


_ADD = f"""insert into package (tenant, name, version, format, digest, title, origin, file_count, size_bytes, installed_at,
    installed_by, removed_at) values (?{", ?" * 10}, 0) returning number"""


class SqlitePackages:
    """Packages in a SQLite file: the methods of the port ``PackageShelf``."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock
        self._rows = rows

    def all(self) -> Sequence[PackageRow]:
        """Return the installed packages, sorted by name and then by time of installation."""
        with self._reading() as db:
            return select(db, self._rows, "removed_at = 0", order="name, number")

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those of the digests whose content is not stored."""
        with self._reading() as db:
            return kept.lacking(db, digests, self._rows)

    def add(
        self,
        new: PackageRow,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        *,
        replaces: int = 0,
        folders: Sequence[str] = (),
    ) -> PackageRow | None:
        """Install a package.

        If ``replaces`` is given, remove the package with this number and move its uses to the new one. Return None if
        the name and version are already installed, or if the package ``replaces`` is not installed any more.
        """
        packed = kept.packed(contents)
        with self._writing() as db:
            same = select(
                db, self._rows.of_names(), "removed_at = 0 and name = ? and version = ?", new.name, new.version
            )
            if any(row.number != replaces for row in same):
                return None
            if replaces and not self._retire(db, replaces):
                return None
            kept.add(db, [file.digest for file in files], packed, self._rows)
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
            (number,) = db.execute(_ADD, (self._rows.named, *values)).fetchone()
            db.executemany(
                "insert into package_path values (?, ?, ?, ?)",
                ((number, file.path, file.digest, int(file.is_executable)) for file in files),
            )
            if replaces:
                moved = "update package_use set package = ?, folders = ? where package = ?"
                db.execute(moved, (number, to_text(folders), replaces))
            return select(db, self._rows, "number = ?", number)[0]

    def _retire(self, db: Connection, package: int) -> bool:
        """Mark a package as removed. Return False if it was not installed."""
        where, values = self._rows.where("number = ? and removed_at = 0", package)
        now = max(1, self._clock.now())
        return db.execute(f"update package set removed_at = ? where {where}", (now, *values)).rowcount == 1

    def files(self, package: int) -> Sequence[StoredFile]:
        """Return the files of a package, sorted by path."""
        with self._reading() as db:
            rows = db.execute(
                """select path, content, size_bytes, is_executable from package_path
                join stored_content on digest = content where package = ? order by path""",
                (self._rows.own(db, "package", package),),
            )
            return [StoredFile(path, digest, size, bool(runs)) for path, digest, size, runs in rows]

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        with self._reading() as db:
            return kept.read(db, digest, self._rows)

    def documents(self, packages: Collection[int]) -> Mapping[int, Mapping[str, bytes]]:
        """Return {package: {path: content}} of all files of packages, where only YAML files have their content."""
        with self._reading() as db:
            rows = db.execute(
                """select package, path, size_bytes,
                case when path like '%.yaml' or path like '%.yml' then body else null end
                from package_path join stored_content on digest = content
                where package in (select value from json_each(?)) order by path""",
                (to_text(self._rows.own_all(db, "package", sorted(packages))),),
            )
            found: dict[int, dict[str, bytes]] = {number: {} for number in packages}
            for package, path, size, body in rows:
                found[package][path] = kept.unpacked(size, body) if path.endswith(kept.TEXTS) and size else b""
            return found

    def rename(self, package: int, origin: str) -> None:
        """Record ``origin`` as the folder that a package's files came from."""
        with self._writing() as db:
            where, values = self._rows.where("number = ?", package)
            db.execute(f"update package set origin = ? where {where}", (origin, *values))

    def remove(self, package: int) -> Sequence[PackageUser]:
        """Remove a package. If deployments use it, return these users and remove nothing."""
        with self._writing() as db:
            users = _users(db, self._rows.own(db, "package", package))
            if not users:
                self._retire(db, package)
            return users

    def users(self, package: int) -> Sequence[PackageUser]:
        """Return the deployments that use a package and are not deleted, sorted by name."""
        with self._reading() as db:
            return _users(db, self._rows.own(db, "package", package))

    def uses(self, deployment: int) -> Sequence[PackageUse]:
        """Return the packages that a deployment uses, sorted by name."""
        with self._reading() as db:
            return uses_of(db, self._rows.own(db, "deployment", deployment))

    def all_users(self) -> Mapping[int, Sequence[PackageUser]]:
        """Return {package: its users, sorted by name}, without packages that have none."""
        found: dict[int, list[PackageUser]] = {}
        with self._reading() as db:
            where, values = self._rows.where("deleted_at = 0")
            for package, name, is_enabled in db.execute(
                f"""select package, name, is_enabled from package_use join deployment on deployment = number
                where {where} order by name""",
                values,
            ):
                found.setdefault(package, []).append(PackageUser(name, bool(is_enabled)))
        return found

    def all_uses(self) -> Sequence[PackageUse]:
        """Return the uses of packages by deployments that are not deleted, by deployment and name of the package."""
        with self._reading() as db:
            return all_uses(db, self._rows)

    def use(self, use: PackageUse) -> None:
        """Make a deployment use a package; another version of the package that it uses is replaced."""
        with self._writing() as db:
            self._rows.require(db, "deployment", use.deployment)
            writes.raise_if_deleted(db, use.deployment)
            writes.raise_if_open(db, use.deployment)
            add_uses(db, use.deployment, [use])

    def leave(self, deployment: int, package: int) -> None:
        """Make a deployment stop using a package."""
        with self._writing() as db:
            own = self._rows.own(db, "deployment", deployment)
            writes.raise_if_open(db, own)
            db.execute("delete from package_use where deployment = ? and package = ?", (own, package))

    def find_again(self, folders: Mapping[str, str]) -> None:
        """Replace the folders in which deployments find modules of their packages, {former folder: new folder}."""
        with self._writing() as db:
            where, values = self._rows.where("true", column=_TENANT_OF_USE)
            for deployment, package, text in db.execute(
                f"select deployment, package, folders from package_use where {where}", values
            ).fetchall():
                found = [folders.get(folder, folder) for folder in json.loads(text)]
                moved = "update package_use set folders = ? where deployment = ? and package = ?"
                db.execute(moved, (to_text(found), deployment, package))

    def kept(self) -> Mapping[str, int]:
        """Return {digest: package number} of all packages whose files are still needed."""
        with self._reading() as db:
            where, values = self._rows.where("true")
            found = db.execute(
                f"select digest, number from package where {where} order by removed_at = 0, number", values
            )
            return dict(found.fetchall())

    def collect(self) -> Sequence[str]:
        """Delete replaced and removed packages that nothing needs any more; return their digests."""
        with self._writing() as db:
            where, values = self._rows.where("removed_at > 0", column="package.tenant")
            gone = db.execute(
                f"""select number, digest from package where {where}
                and not exists (select 1 from execution where created_at <= removed_at and {_MAY_GO_ON}
                    and execution.tenant = package.tenant
                    and deployment in (select number from deployment where deleted_at = 0))""",
                values,
            ).fetchall()
            if gone:
                which = to_text([number for number, _ in gone])
                for table, column in (("package_path", "package"), ("package_use", "package"), ("package", "number")):
                    db.execute(f"delete from {table} where {column} in (select value from json_each(?))", (which,))
                kept.collect(db)
            where, values = self._rows.where("true")
            still = {digest for (digest,) in db.execute(f"select digest from package where {where}", values)}
            return [digest for digest in dict.fromkeys(digest for _, digest in gone) if digest not in still]


def _users(db: Connection, package: int) -> list[PackageUser]:
    rows = db.execute(
        """select name, is_enabled from package_use join deployment on deployment = number
        where package = ? and deleted_at = 0 order by name""",
        (package,),
    )
    return [PackageUser(name, bool(is_enabled)) for name, is_enabled in rows]
