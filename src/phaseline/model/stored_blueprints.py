"""Stored blueprints: all files of a blueprint's folder, as they were when it was uploaded."""

from __future__ import annotations

from phaseline.model.frozen import frozen


@frozen
class StoredFile:
    """One file of a stored blueprint: its path with ``/``, relative to the folder, and the digest of what is in it."""

    path: str
    digest: str
    size_bytes: int
    is_executable: bool = False


@frozen
class StoredBlueprint:
    """One version of a stored blueprint. ``digest`` is that of all its files with their paths and of ``main_file``.

    ``number`` is given by the store (0: not stored yet); ``version`` counts the versions of an id from 1. Times in ms.
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
        """How a user names it, such as ``shop@2``."""
        return f"{self.id}@{self.version}"


@frozen
class BlueprintUser:
    """Somebody who needs a version of a stored blueprint: a ``deployment``, or another stored ``blueprint``, by name."""

    kind: str
    name: str
