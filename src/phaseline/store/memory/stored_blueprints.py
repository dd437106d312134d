"""Stored blueprints in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import BlueprintUser, StoredBlueprint, StoredFile
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.store.sql import errors as failures


@dataclass
class BlueprintTables:
    """The stored blueprints of all tenants: rows by number with their tenants, and what belongs to them."""

    rows: dict[int, StoredBlueprint] = field(default_factory=dict)
    tenants: dict[int, str] = field(default_factory=dict)
    last: int = 0
    files: dict[int, Sequence[StoredFile]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    imports: dict[int, set[int]] = field(default_factory=dict)
    uses: dict[int, dict[str, int]] = field(default_factory=dict)


class MemoryBlueprints:
    """Stored blueprints in a store in memory: the methods of the port ``BlueprintShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        living: Callable[[], Mapping[int, str]],
        own: MemoryTenantRows,
        whole: MemoryBlueprints | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants.

        ``living`` returns {number: name} of the deployments that are not deleted.
        """
        self._changing = changing
        self._living = living
        self._own = own
        self.tables: BlueprintTables = BlueprintTables() if whole is None else whole.tables

    def _found(self, tenant: str | None = None) -> list[StoredBlueprint]:
        """Return the rows that may be found, or those of a tenant."""
        owners = self.tables.tenants
        return [
            row
            for number, row in list(self.tables.rows.items())
            if (self._own.has(owners[number]) if tenant is None else owners[number] == tenant)
        ]

    def _is_own(self, blueprint: int) -> bool:
        return blueprint in self.tables.rows and self._own.has(self.tables.tenants[blueprint])

    def all(self, id: str | None = None) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints sorted by id and version; only those of one id if it is given."""
        found = self._found() if id is None else [row for row in self._found(self._own.named) if row.id == id]
        return sorted(found, key=lambda row: (row.id, row.version))

    def find(self, id: str, version: int = 0) -> StoredBlueprint | None:
        """Return one version of a stored blueprint, or None. Version 0 means the newest one."""
        return next((row for row in reversed(self.all(id)) if version in {0, row.version}), None)

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those of the digests whose content is not stored."""
        contents = self._contents()
        return [digest for digest in digests if digest not in contents]

    def _contents(self) -> Mapping[str, bytes]:
        """Return {digest: content} of the files of blueprints that may be found."""
        if self._own.tenant is None:
            return self.tables.contents
        found = {file.digest for row in self._found() for file in self.tables.files[row.number]}
        return {digest: self.tables.contents[digest] for digest in found}

    def add(
        self,
        new: StoredBlueprint,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        imports: Sequence[int] = (),
    ) -> StoredBlueprint | None:
        """Store a blueprint as the next version of its id. Return None if the newest version is equal."""
        with self._changing():
            newest = self.find(new.id)
            if newest is not None and newest.digest == new.digest:
                return None
            self._refuse_gone(self._own.named, imports)
            lacking = [file.digest for file in files if file.digest not in {**self._contents(), **contents}]
            if lacking:
                raise LookupError(f"content {lacking[0]} was removed meanwhile")
            tables = self.tables
            tables.last += 1
            row = altered(new, number=tables.last, version=1 if newest is None else newest.version + 1)
            tables.rows[row.number] = row
            tables.tenants[row.number] = self._own.named
            tables.contents.update(contents)
            tables.files[row.number] = sorted(files, key=lambda file: file.path)
            tables.imports[row.number] = set(imports)
            return row

    def files(self, blueprint: int) -> Sequence[StoredFile]:
        """Return the files of a version, sorted by path."""
        return list(self.tables.files[blueprint]) if self._is_own(blueprint) else []

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        contents = self._contents()
        if digest not in contents:
            raise LookupError(f"nothing is stored with the digest {digest}")
        return contents[digest]

    def imports(self, blueprint: int) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints that a version imports, as recorded at its upload, sorted by id."""
        wanted = self.tables.imports[blueprint] if self._is_own(blueprint) else set()
        return [row for row in self.all() if row.number in wanted]

    def users(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Return the users of these versions: deployments that are not deleted, and other stored blueprints."""
        which, living, tables = set(filter(self._is_own, blueprints)), self._living(), self.tables
        needing = [name for number, name in living.items() if which & set(tables.uses.get(number, {}).values())]
        importing = [
            str(row) for row in self._found() if row.number not in which and which & tables.imports[row.number]
        ]
        return [
            *(BlueprintUser("deployment", name) for name in sorted(needing)),
            *(BlueprintUser("blueprint", name) for name in sorted(importing)),
        ]

    def users_by_id(self) -> Mapping[str, Sequence[BlueprintUser]]:
        """Return {id: users of any version of this blueprint}."""
        numbers: dict[str, list[int]] = {}
        for row in self._found():
            numbers.setdefault(row.id, []).append(row.number)
        return {id: users for id, some in numbers.items() if (users := self.users(some))}

    def delete(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Delete these versions and the file contents that only they use.

        If they have users, return these, delete nothing.
        """
        with self._changing():
            users, tables = self.users(blueprints), self.tables
            going = [] if users else list(filter(self._is_own, blueprints))
            for number in going:
                for table in (tables.rows, tables.tenants, tables.files, tables.imports):
                    table.pop(number)
            for deployment, uses in tables.uses.items():
                tables.uses[deployment] = {name: number for name, number in uses.items() if number not in going}
            kept = {file.digest for files in tables.files.values() for file in files}
            tables.contents = {digest: body for digest, body in tables.contents.items() if digest in kept}
            return users

    def of_deployment(self, deployment: int) -> Mapping[str, StoredBlueprint]:
        """Return {namespace: stored blueprint that a deployment imports under it}.

        The empty namespace is the deployment's own blueprint.
        """
        numbers = {row.number: row for row in self._found()}
        uses = self.tables.uses.get(self._own.deployment(deployment), {})
        return {name: numbers[number] for name, number in uses.items()}

    def refuse_gone(self, tenant: str, uses: Mapping[str, int]) -> None:
        """Raise PL-C054 if a blueprint version that a tenant's new deployment needs has been deleted."""
        self._refuse_gone(tenant, list(uses.values()))

    def add_uses(self, deployment: int, uses: Mapping[str, int]) -> None:
        """Store which blueprint versions a deployment needs, in place of those stored before."""
        self.tables.uses[deployment] = dict(uses)

    def _refuse_gone(self, tenant: str, numbers: Sequence[int]) -> None:
        if set(numbers) - {row.number for row in self._found(tenant)}:
            raise failures.blueprint_gone()
