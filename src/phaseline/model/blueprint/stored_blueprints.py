"""Stored blueprints: copies of all files in a blueprint's folder, made when a user uploads the blueprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from phaseline.lang.fast_dataclasses import frozen


@frozen
class StoredFile:
    """One file of a stored blueprint or package: its path relative to the folder, with ``/``, and a digest of its content.

    A path that ends with ``/`` is a folder without files.
    """

    path: str
    digest: str
    size_bytes: int
    is_executable: bool = False

    @property
    def is_folder(self) -> bool:
        """True for a folder without files."""
        return self.path.endswith("/")


@frozen
class StoredBlueprint:
    """One version of a stored blueprint. ``digest`` covers all its files with their paths, and ``main_file``.

    ``number`` is given by the store (0: not stored yet). ``version`` counts the versions of an id from 1. Times are in
    ms.
    """

    number: int
    id: str
    version: int
    main_file: str
    digest: str
    description: str
    language: str
    file_count: int
    size_bytes: int
    created_at: int
    created_by: str

    def __str__(self) -> str:
        """Return the name by which users refer to this version, such as ``shop@2``."""
        return f"{self.id}@{self.version}"


@frozen
class BlueprintUser:
    """A user of a stored blueprint: the name of a ``deployment``, or of another stored ``blueprint`` that imports it."""

    kind: str
    name: str


class BlueprintShelf(Protocol):
    """Storage of blueprints with all their files. Any process may write; every method is one transaction."""

    def all(self, id: str | None = None) -> Sequence[StoredBlueprint]:
        """Return the stored blueprints, sorted by id and version; only the versions of ``id`` if it is given."""
        ...

    def find(self, id: str, version: int = 0) -> StoredBlueprint | None:
        """Return a version of a stored blueprint (0: the newest), or None if it does not exist."""
        ...

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those digests whose content the store does not have."""
        ...

    def add(
        self,
        new: StoredBlueprint,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        imports: Sequence[int] = (),
    ) -> StoredBlueprint | None:
        """Store a blueprint as the next version of its id. Return None if the newest version has the same digest.

        ``contents`` is {digest: bytes}, with at least the contents that the store does not have (otherwise
        ``LookupError``). ``imports`` are numbers of versions that the blueprint imports. Raises: PL-C054 if one of
        these was deleted.
        """
        ...

    def files(self, blueprint: int) -> Sequence[StoredFile]:
        """Return the files of a version, by path."""
        ...

    def content(self, digest: str) -> bytes:
        """Return the content of a file with this digest. Raises: ``LookupError`` if there is none."""
        ...

    def imports(self, blueprint: int) -> Sequence[StoredBlueprint]:
        """Return the stored versions that a version imports, sorted by id."""
        ...

    def users(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Return users of these versions: deployments that are not deleted, and other stored blueprints."""
        ...

    def users_by_id(self) -> Mapping[str, Sequence[BlueprintUser]]:
        """Return {id: users of any of its versions} as ``users`` finds them; ids without users are left out."""
        ...

    def delete(self, blueprints: Sequence[int]) -> Sequence[BlueprintUser]:
        """Delete these versions and the content that only they use.

        If they have users, delete nothing and return the users.
        """
        ...

    def of_deployment(self, deployment: int) -> Mapping[str, StoredBlueprint]:
        """Return {namespace: version that the deployment imports under it}; the deployment's own blueprint has an empty namespace."""
        ...
