"""Stored documents of deployments: snapshots, and the documents of abandoned deployments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

DocumentKind = Literal["snapshot", "abandoned"]
SNAPSHOT: DocumentKind = "snapshot"
ABANDONED: DocumentKind = "abandoned"
MOST_SNAPSHOTS = 32
"""Of one deployment; another one is refused (as in source 2's system)."""
ABANDONED_KEPT_MS = 30 * 24 * 3600 * 1000
"""How long the document of an abandoned deployment is kept."""


@frozen
class NewDocument:
    """A document that a turn stores. ``name``: the name of a snapshot within its deployment; of an abandoned deployment the id of the execution."""

    kind: DocumentKind
    name: str
    deployment: int
    deployment_name: str
    execution: int
    body: Mapping[str, Value]


@frozen
class DocumentRow:
    """A kept document without its body. ``at`` in ms; ``created_by``: the user of the execution that wrote it."""

    kind: DocumentKind
    name: str
    deployment: int
    deployment_name: str
    at: int
    created_by: str
    size_bytes: int


@frozen
class Drop:
    """A document that a turn removes."""

    kind: DocumentKind
    name: str
    deployment: int


class DocumentShelf(Protocol):
    """The documents in a store. They are added and removed by turns of the engine, and removed with their deployment."""

    def all(self, kind: DocumentKind, deployment: int | None = None) -> Sequence[DocumentRow]:
        """The oldest first; those of one deployment if it is given."""
        ...

    def body(self, row: DocumentRow) -> Mapping[str, Value]:
        """The content of a document. Raises: ``LookupError`` if it was deleted."""
        ...
