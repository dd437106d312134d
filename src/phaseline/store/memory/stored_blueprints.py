"""Stored blueprints in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import BlueprintUser, StoredBlueprint, StoredFile
from phaseline.store.sql import errors as failures


class MemoryBlueprints:
    """Stored blueprints in a store in memory: the methods of the port ``BlueprintShelf``."""

    def __init__(
        self, changing: Callable[[], AbstractContextManager[object]], living: Callable[[], Mapping[int, str]]
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data.

        ``living`` returns {number: name} of the deployments that are not deleted.
        """
        self._changing = changing
        self._living = living
        self._rows: list[StoredBlueprint] = []
        self._last = 0
        self._files: dict[int, Sequence[StoredFile]] = {}
        self._contents: dict[str, bytes] = {}
        self._imports: dict[int, set[int]] = {}
        self._uses: dict[int, dict[str, int]] = {}

    def all(self, id: str | None = None) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints sorted by id and version; only those of one id if it is given."""
        found = [row for row in self._rows if id in {None, row.id}]
        return sorted(found, key=lambda row: (row.id, row.version))

    def find(self, id: str, version: int = 0) -> StoredBlueprint | None:
        """Return one version of a stored blueprint, or None. Version 0 means the newest one."""
        return next((row for row in reversed(self.all(id)) if version in {0, row.version}), None)

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those of the digests whose content is not stored."""
        return [digest for digest in digests if digest not in self._contents]

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
            self._refuse_gone(imports)
            lacking = [file.digest for file in files if file.digest not in {**self._contents, **contents}]
            if lacking:
                raise LookupError(f"content {lacking[0]} was removed meanwhile")
            self._last += 1
            row = altered(new, number=self._last, version=1 if newest is None else newest.version + 1)
            self._rows.append(row)
            self._contents.update(contents)
            self._files[row.number] = sorted(files, key=lambda file: file.path)
            self._imports[row.number] = set(imports)
            return row

    def files(self, blueprint: int) -> Sequence[StoredFile]:
        """Return the files of a version, sorted by path."""
        return list(self._files.get(blueprint, ()))

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        if digest not in self._contents:
            raise LookupError(f"nothing is stored with the digest {digest}")
        return self._contents[digest]

    def imports(self, blueprint: int) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints that a version imports, as recorded at its upload, sorted by id."""
        wanted = self._imports.get(blueprint, set())
        return [row for row in self.all() if row.number in wanted]

    def users(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Return the users of these versions: deployments that are not deleted, and other stored blueprints."""
        which, living = set(blueprints), self._living()
        needing = [name for number, name in living.items() if which & set(self._uses.get(number, {}).values())]
        importing = [
            str(row) for row in self._rows if row.number not in which and which & self._imports.get(row.number, set())
        ]
        return [
            *(BlueprintUser("deployment", name) for name in sorted(needing)),
            *(BlueprintUser("blueprint", name) for name in sorted(importing)),
        ]

    def users_by_id(self) -> Mapping[str, Sequence[BlueprintUser]]:
        """Return {id: users of any version of this blueprint}."""
        numbers: dict[str, list[int]] = {}
        for row in self._rows:
            numbers.setdefault(row.id, []).append(row.number)
        return {id: users for id, some in numbers.items() if (users := self.users(some))}

    def delete(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Delete these versions and the file contents that only they use.

        If they have users, return these, delete nothing.
        """
        with self._changing():
            users = self.users(blueprints)
            if not users:
                self._rows = [row for row in self._rows if row.number not in blueprints]
                for number in blueprints:
                    self._files.pop(number, None)
                    self._imports.pop(number, None)
                self._uses = {
                    deployment: {name: number for name, number in uses.items() if number not in blueprints}
                    for deployment, uses in self._uses.items()
                }
                kept = {file.digest for files in self._files.values() for file in files}
                self._contents = {digest: body for digest, body in self._contents.items() if digest in kept}
            return users

    def of_deployment(self, deployment: int) -> Mapping[str, StoredBlueprint]:
        """Return {namespace: stored blueprint that a deployment imports under it}.

        The empty namespace is the deployment's own blueprint.
        """
        numbers = {row.number: row for row in self._rows}
        return {name: numbers[number] for name, number in self._uses.get(deployment, {}).items()}

    def refuse_gone(self, uses: Mapping[str, int]) -> None:
        """Raise PL-C054 if a blueprint version that a new deployment needs has been deleted."""
        self._refuse_gone(list(uses.values()))

    def add_uses(self, deployment: int, uses: Mapping[str, int]) -> None:
        """Store which blueprint versions a deployment needs, in place of those stored before."""
        self._uses[deployment] = dict(uses)

    def _refuse_gone(self, numbers: Sequence[int]) -> None:
        if set(numbers) - {row.number for row in self._rows}:
            raise failures.blueprint_gone()
