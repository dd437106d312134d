"""Stored blueprints in SQLite. The content of a file is stored once, however many blueprints and versions have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.model.blueprint.stored_blueprints import BlueprintUser, StoredBlueprint, StoredFile
    from phaseline.store.database.connection import Connect, Connection

_COLUMNS = """number, id, version, main_file, digest, description, language, file_count, size_bytes, created_at,
    created_by"""

_ADD = f"""insert into stored_blueprint (tenant, {_COLUMNS.removeprefix("number, ")})
    values (?{", ?" * 10}) returning number"""
_DEPLOYMENTS_BY_ID = """select distinct stored_blueprint.id, name from blueprint_use
    join deployment on deployment.number = blueprint_use.deployment join stored_blueprint on stored_blueprint.number = blueprint
    where {0} order by name"""
_IMPORTERS_BY_ID = """select distinct used.id, importer.id || '@' || importer.version as name from stored_import
    join stored_blueprint as importer on importer.number = blueprint join stored_blueprint as used on used.number = imported
    where {0} order by name"""
_BY_ID = (
    ("deployment", _DEPLOYMENTS_BY_ID, "deleted_at = 0"),
    ("blueprint", _IMPORTERS_BY_ID, "importer.id <> used.id"),
)
"""(kind of a user, statement that finds the users of this kind, its condition)"""


class SqliteBlueprints:
    """Stored blueprints in a SQLite file: the methods of the port ``BlueprintShelf``."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def all(self, id: str | None = None) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints sorted by id and version; only those of one id if it is given."""
        with self._reading() as db:
            if id is None:
                return _select(db, self._rows, "true")
            return _select(db, self._rows.of_names(), "id = ?", id)

    def find(self, id: str, version: int = 0) -> StoredBlueprint | None:
        """Return one version of a stored blueprint, or None. Version 0 means the newest one."""
        with self._reading() as db:
            if version:
                return next(iter(_select(db, self._rows.of_names(), "id = ? and version = ?", id, version)), None)
            return self._newest(db, id)

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those of the digests whose content is not stored."""
        from phaseline.store.sql import content_files as kept

        with self._reading() as db:
            return kept.lacking(db, digests, self._rows)

    def add(
        self,
        new: StoredBlueprint,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        imports: Sequence[int] = (),
    ) -> StoredBlueprint | None:
        """Store a blueprint as the next version of its id. Return None if the newest version is equal."""
        from phaseline.store.sql import content_files as kept

        packed = kept.packed(contents)
        with self._writing() as db:
            newest = self._newest(db, new.id)
            if newest is not None and newest.digest == new.digest:
                return None
            _raise_if_gone(db, self._rows.named, imports)
            kept.add(db, [file.digest for file in files], packed, self._rows)
            (number,) = db.execute(
                _ADD,
                (
                    self._rows.named,
                    new.id,
                    1 if newest is None else newest.version + 1,
                    new.main_file,
                    new.digest,
                    new.description,
                    new.language,
                    new.file_count,
                    new.size_bytes,
                    new.created_at,
                    new.created_by,
                ),
            ).fetchone()
            db.executemany(
                "insert into stored_path values (?, ?, ?, ?)",
                ((number, file.path, file.digest, int(file.is_executable)) for file in files),
            )
            db.executemany("insert into stored_import values (?, ?)", ((number, other) for other in set(imports)))
            return _select(db, self._rows, "number = ?", number)[0]

    def _newest(self, db: Connection, id: str) -> StoredBlueprint | None:
        found = _select(db, self._rows.of_names(), "id = ?", id, order="version desc limit 1")
        return found[0] if found else None

    def files(self, blueprint: int) -> Sequence[StoredFile]:
        """Return the files of a version, sorted by path."""
        from phaseline.model.blueprint.stored_blueprints import StoredFile

        with self._reading() as db:
            rows = db.execute(
                """select path, content, size_bytes, is_executable from stored_path
                join stored_content on digest = content where blueprint = ? order by path""",
                (self._rows.own(db, "stored_blueprint", blueprint),),
            )
            return [StoredFile(path, digest, size, bool(runs)) for path, digest, size, runs in rows]

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        from phaseline.store.sql import content_files as kept

        with self._reading() as db:
            return kept.read(db, digest, self._rows)

    def imports(self, blueprint: int) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints that a version imports, as recorded at its upload, sorted by id."""
        with self._reading() as db:
            own = self._rows.own(db, "stored_blueprint", blueprint)
            return _select(db, self._rows, "number in (select imported from stored_import where blueprint = ?)", own)

    def users(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Return the users of these versions: deployments that are not deleted, and other stored blueprints."""
        with self._reading() as db:
            return list(_users(db, to_text(self._rows.own_all(db, "stored_blueprint", blueprints))))

    def users_by_id(self) -> Mapping[str, Sequence[BlueprintUser]]:
        """Return {id: users of any version of this blueprint}."""
        from phaseline.model.blueprint.stored_blueprints import BlueprintUser

        found: dict[str, list[BlueprintUser]] = {}
        with self._reading() as db:
            for kind, statement, condition in _BY_ID:
                table = "deployment" if kind == "deployment" else "importer"
                where, values = self._rows.where(condition, column=f"{table}.tenant")
                for id, name in db.execute(statement.format(where), values):
                    found.setdefault(id, []).append(BlueprintUser(kind, name))
        return found

    def delete(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Delete these versions and the file contents that only they use.

        If they have users, return the users and delete nothing.
        """
        from phaseline.store.sql import content_files as kept

        with self._writing() as db:
            which = to_text(self._rows.own_all(db, "stored_blueprint", blueprints))
            users = list(_users(db, which))
            if not users:
                for table, column in (("stored_path", "blueprint"), ("stored_import", "blueprint")):
                    db.execute(f"delete from {table} where {column} in (select value from json_each(?))", (which,))
                db.execute("delete from blueprint_use where blueprint in (select value from json_each(?))", (which,))
                db.execute(
                    "delete from cause where made = 'blueprint' and number in (select value from json_each(?))",
                    (which,),
                )
                db.execute("delete from stored_blueprint where number in (select value from json_each(?))", (which,))
                kept.collect(db)
            return users

    def of_deployment(self, deployment: int) -> Mapping[str, StoredBlueprint]:
        """Return {namespace: stored blueprint that a deployment imports under it}.

        The empty namespace is the deployment's own blueprint.
        """
        with self._reading() as db:
            own = self._rows.own(db, "deployment", deployment)
            rows = db.execute("select namespace, blueprint from blueprint_use where deployment = ?", (own,)).fetchall()
            return {namespace: _select(db, self._rows, "number = ?", number)[0] for namespace, number in rows}


def add_uses(db: Connection, deployment: int, uses: Mapping[str, int]) -> None:
    """Record the stored blueprints that a new deployment needs. Raises: PL-C054 if one of them was deleted."""
    if uses:
        (tenant,) = db.execute("select tenant from deployment where number = ?", (deployment,)).fetchone()
        _raise_if_gone(db, tenant, list(uses.values()))
    db.executemany(
        "insert into blueprint_use values (?, ?, ?)",
        ((deployment, namespace, blueprint) for namespace, blueprint in uses.items()),
    )


def _raise_if_gone(db: Connection, tenant: str, numbers: Sequence[int]) -> None:
    """Raise PL-C054 if one of these versions is not stored, or is another tenant's."""
    for number in set(numbers):
        if not _select(db, TenantRows(tenant), "number = ?", number):
            raise failures.blueprint_gone()


def _select(
    db: Connection, own: TenantRows, condition: str, *values: object, order: str = "id, version"
) -> list[StoredBlueprint]:
    where, chosen = own.where(condition, *values)
    rows = db.execute(f"select {_COLUMNS} from stored_blueprint where {where} order by {order}", chosen).fetchall()
    if not rows:  # most stores have none
        return []
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint

    return [StoredBlueprint(*row) for row in rows]


def _users(db: Connection, which: str) -> Iterator[BlueprintUser]:
    from phaseline.model.blueprint.stored_blueprints import BlueprintUser

    deployments = db.execute(
        """select distinct name from deployment join blueprint_use on deployment = number where deleted_at = 0
        and blueprint in (select value from json_each(?)) order by name""",
        (which,),
    )
    yield from (BlueprintUser("deployment", name) for (name,) in deployments)
    others = db.execute(
        """select distinct id || '@' || version from stored_import join stored_blueprint on number = blueprint
        where imported in (select value from json_each(?)) and blueprint not in (select value from json_each(?))
        order by 1""",
        (which, which),
    )
    yield from (BlueprintUser("blueprint", name) for (name,) in others)
