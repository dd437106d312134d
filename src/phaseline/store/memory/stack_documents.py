"""Stack documents (deployments as JSON) in the store in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.stack_documents import ABANDONED, ABANDONED_KEPT_MS, SNAPSHOT, DocumentKind, DocumentRow
from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.codec.json_documents import to_text

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import PlannerWrites
    from phaseline.store.memory.tables import MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows

Key = tuple[DocumentKind, int, str]


class MemoryDocuments:
    """Stack documents in a store in memory: the methods of the port ``DocumentShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        own: MemoryTenantRows,
        whole: MemoryDocuments | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._own = own
        self.rows: dict[Key, tuple[DocumentRow, str, str]] = {} if whole is None else whole.rows
        """{key: (row, content, tenant)} of all tenants."""

    def all(self, kind: DocumentKind, deployment: int | None = None) -> Sequence[DocumentRow]:
        """Return all documents of a kind, oldest first; only those of one deployment if it is given."""
        with self._changing():
            found = [
                row
                for row, _, tenant in self.rows.values()
                if row.kind == kind and deployment in {None, row.deployment} and self._own.has(tenant)
            ]
        return sorted(found, key=lambda row: (row.at, row.name))

    def body(self, row: DocumentRow) -> Mapping[str, Value]:
        """Return the content of a document. Raises: ``LookupError`` if the document was deleted."""
        found = self.rows.get((row.kind, row.deployment, row.name))
        if found is None or not self._own.has(found[2]):
            raise LookupError(row.name)
        told: dict[str, Any] = json.loads(found[1])
        return told

    def write(self, held: MemoryTables, written: PlannerWrites, at: int) -> None:
        """Write a turn's added, deleted and kept documents, and delete the records of abandoned deployments."""
        for new in written.kept:
            body, execution = to_text(dict(new.body)), held.executions[new.execution].row
            by = execution.created_by
            row = DocumentRow(new.kind, new.name, new.deployment, new.deployment_name, at, by, len(body))
            self.rows[new.kind, new.deployment, new.name] = (row, body, execution.tenant)
        if written.kept:
            late = [
                key for key, (row, *_) in self.rows.items() if key[0] == ABANDONED and row.at < at - ABANDONED_KEPT_MS
            ]
            for key in late:
                del self.rows[key]
        for drop in written.dropped:
            self.rows.pop((drop.kind, drop.deployment, drop.name), None)
        for gone in written.forgotten:
            self.drop_snapshots(gone.deployment)
            held.deployments[gone.deployment].deleted_at = max(1, at)
            for other in held.executions.values():
                is_other = other.row.deployment == gone.deployment and other.row.number != gone.execution
                if is_other and not other.row.status.is_ended:
                    reason = "the deployment was forgotten"
                    other.row = altered(other.row, status=ExecutionStatus.CANCELED, reason=reason, ended_at=at)

    def drop_snapshots(self, deployment: int) -> None:
        """Delete the snapshots of a deployment that is being deleted."""
        for key in [key for key in self.rows if key[:2] == (SNAPSHOT, deployment)]:
            del self.rows[key]
