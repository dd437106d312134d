"""Stored documents of whole deployments: snapshots, and the documents of abandoned deployments."""

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
"""Most snapshots of one deployment; a further snapshot is refused, as in Heat."""
ABANDONED_KEPT_MS = 30 * 24 * 3600 * 1000
"""Time in ms for which the document of an abandoned deployment is kept."""


@frozen
class NewDocument:
    """A document that a turn stores.

    ``name`` is the snapshot's name, unique in its deployment; for an abandoned deployment it is the execution's id.
    """

    kind: DocumentKind
    name: str
    deployment: int
    deployment_name: str
    execution: int
    body: Mapping[str, Value]


@frozen
class DocumentRow:
    """A stored document without its content. ``at`` is in ms. ``created_by`` is the user of the execution that wrote it."""

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
    """Storage of documents of deployments.

    Turns of the engine add and remove them; deleting a deployment removes its documents.
    """

    def all(self, kind: DocumentKind, deployment: int | None = None) -> Sequence[DocumentRow]:
        """Return the documents of a kind, oldest first; only those of ``deployment`` if it is given."""
        ...

    def body(self, row: DocumentRow) -> Mapping[str, Value]:
        """Return the content of a document. Raises: ``LookupError`` if it was deleted."""
        ...
