"""Definition files of plugins: stored by name and version, so that every machine that uses the store has them (RF9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from phaseline.lang.fast_dataclasses import frozen


@frozen
class StoredDefinition:
    """The definition files of one version of one plugin. ``files`` is {file name: digest of its content}."""

    name: str
    version: str
    files: Mapping[str, str]


class DefinitionShelf(Protocol):
    """The definition files in a store."""

    def all(self) -> Sequence[StoredDefinition]:
        """Return the versions of all plugins, sorted by name and version."""
        ...

    def add(self, new: StoredDefinition, contents: Mapping[str, bytes]) -> None:
        """Store a version; one of the same name and version is replaced as a whole.

        ``contents`` is {digest: content} of all its files.
        """
        ...

    def remove(self, name: str, version: str) -> bool:
        """Remove a version and the contents that only it uses; return False if there was none."""
        ...

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        ...
