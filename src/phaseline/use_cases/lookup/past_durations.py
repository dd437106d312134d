"""Compute durations of a deployment's operations from its last executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.graph.graph import phase_of
from phaseline.model.rows import row_queries
from phaseline.plan.preview.duration_estimate import Took

if TYPE_CHECKING:
    from phaseline.ports.tenant_store import TenantStore

LAST = 5
"""Number of executions that are read."""


def took_before(store: TenantStore, deployment: int) -> dict[str, Took]:
    """Return {operation: its average durations}, computed from calls that have ended."""
    sums: dict[str, list[float]] = {}
    latest = row_queries.ExecutionQuery(deployments=(deployment,), is_latest_first=True, limit=LAST)
    for row in store.listings.executions(latest):
        for batch in store.batches(execution=row.number):
            if not batch.closed_at:
                continue
            found = sums.setdefault(phase_of(batch.phase) or batch.phase, [0.0, 0.0, 0.0])
            found[0] += batch.closed_at - batch.started_at
            found[1] += 1
            found[2] += len(batch.places.positions)
    return {name: Took(total / batches, total / max(members, 1)) for name, (total, batches, members) in sums.items()}
