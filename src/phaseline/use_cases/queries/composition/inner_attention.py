"""Which executions that an execution waits for need an operator's decision (CO9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.row_queries import ExecutionQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore


def asking(store: TenantStore, row: ExecutionRow) -> Sequence[str]:
    """Return a sentence for each execution in attention that this one waits for, directly or through others."""
    awaited: dict[int, list[int]] = {}
    for one in store.causes.awaiting():
        awaited.setdefault(one.execution, []).append(one.awaited)
    seen, ahead = {row.number}, [row.number]
    while ahead:
        new = [number for number in awaited.get(ahead.pop(), ()) if number not in seen]
        seen.update(new)
        ahead += new
    inner = store.listings.executions(ExecutionQuery(numbers=seen - {row.number})) if len(seen) > 1 else ()
    return [_sentence(one) for one in inner if one.status is ExecutionStatus.ATTENTION]


def _sentence(row: ExecutionRow) -> str:
    return (
        f"attention: the inner {row.id} of '{row.deployment_name}' asks for a decision about its unsure calls: phaseline "
        f"executions retry {row.id}, or phaseline executions complete {row.id} --reason TEXT"
    )
