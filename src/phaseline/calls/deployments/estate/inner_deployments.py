"""Which deployments the Components of other deployments have made, and so go down with them (CO3, DP7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.rows.row_queries import ExecutionQuery

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from phaseline.ports.tenant_store import StoreRows


def makers_of(store: StoreRows, deployments: Iterable[int]) -> Mapping[int, int]:
    """Return {number: number of the deployment whose Component has made it} of those that one has made."""
    caused = [row for row in store.causes.of_deployments(list(deployments)) if row.cause.kind == "component"]
    if not caused:
        return {}
    rows = store.listings.executions(ExecutionQuery(numbers={row.cause.number for row in caused}))
    outer = {row.number: row.deployment for row in rows}
    return {row.number: outer[row.cause.number] for row in caused if row.cause.number in outer}


def made_below(store: StoreRows, deployments: Collection[int], tops: Collection[int]) -> set[int]:
    """Return those of the deployments that Components of one of ``tops`` have made, directly or through others."""
    found: set[int] = set()
    ahead = {number: number for number in deployments}
    """{deployment: one above it that is to be looked at}."""
    while ahead:
        makers = makers_of(store, set(ahead.values()))
        ahead = {number: makers[above] for number, above in ahead.items() if above in makers}
        reached = {number for number, above in ahead.items() if above in tops}
        found |= reached
        ahead = {number: above for number, above in ahead.items() if number not in reached}
    return found


def outer_of_execution(store: StoreRows, execution: int) -> int:
    """Return the number of the deployment whose Component has started an execution; 0 if none has."""
    for row in store.causes.of_executions([execution]):
        if row.cause.kind == "component":
            for outer in store.listings.executions(ExecutionQuery(numbers=(row.cause.number,))):
                return outer.deployment
    return 0
