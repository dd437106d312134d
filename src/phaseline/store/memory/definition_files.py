"""Definition files of plugins in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.model.packages.installed import StoredDefinition


class MemoryDefinitions:
    """Definition files in a store in memory: the methods of the port ``DefinitionShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        tenant: str,
        whole: MemoryDefinitions | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of the store."""
        self._changing = changing
        self.tenants: dict[str, dict[tuple[str, str], StoredDefinition]] = {} if whole is None else whole.tenants
        self.bodies: dict[str, dict[str, bytes]] = {} if whole is None else whole.bodies
        self._rows = self.tenants.setdefault(tenant, {})
        self._contents = self.bodies.setdefault(tenant, {})

    def all(self) -> Sequence[StoredDefinition]:
        """Return the versions of all plugins, sorted by name and version."""
        return [row for _, row in sorted(self._rows.items())]

    def add(self, new: StoredDefinition, contents: Mapping[str, bytes]) -> None:
        """Store a version; one of the same name and version is replaced as a whole."""
        with self._changing():
            lacking = [digest for digest in new.files.values() if digest not in {**self._contents, **contents}]
            if lacking:
                raise LookupError(f"content {lacking[0]} was removed meanwhile")
            files = dict(sorted(new.files.items()))
            self._rows[new.name, new.version] = StoredDefinition(new.name, new.version, files)
            self._contents.update(contents)
            self._collect()

    def remove(self, name: str, version: str) -> bool:
        """Remove a version and the contents that only it uses; return False if there was none."""
        with self._changing():
            is_found = self._rows.pop((name, version), None) is not None
            self._collect()
            return is_found

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        if digest not in self._contents:
            raise LookupError(f"nothing is stored with the digest {digest}")
        return self._contents[digest]

    def _collect(self) -> None:
        used = {digest for row in self._rows.values() for digest in row.files.values()}
        for digest in self._contents.keys() - used:
            del self._contents[digest]
