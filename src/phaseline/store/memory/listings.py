"""Rows of lists of deployments and executions, from the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.model.rows.listings import Glance, Roster
from phaseline.model.rows.row_queries import (
    DeploymentQuery,
    ExecutionQuery,
    is_deployment_selected,
    is_execution_selected,
)

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import LabelShelf
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.store.memory.tables import HeldDeployment, MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryListings:
    """Lists for users in a store in memory: the methods of the port ``Listings``."""

    def __init__(
        self, guard: AbstractContextManager[object], held: MemoryTables, living: Callable[[], Sequence[DeploymentRow]],
        labels: LabelShelf, own: MemoryTenantRows,
    ) -> None:  # fmt: skip
        """Read from ``held`` under ``guard``, a context in which no other thread uses the stored data.

        ``living`` returns the deployments that are not deleted, sorted by name.
        """
        self._guard = guard
        self._held = held
        self._living = living
        self._labels = labels
        self._own = own

    def deployments(self, wanted: DeploymentQuery) -> Sequence[DeploymentRow]:
        """Return the deployments that a query selects."""
        rows = [row for row in self._chosen(wanted) if row.name > wanted.after]
        return rows[: wanted.limit]

    def executions(self, wanted: ExecutionQuery) -> Sequence[ExecutionRow]:
        """Return the executions that a query selects."""
        with self._guard:
            rows = self._executions(wanted)
        if wanted.is_latest_first:
            return [row for row in reversed(rows) if not wanted.after or row.number < wanted.after][: wanted.limit]
        return [row for row in rows if row.number > wanted.after][: wanted.limit]

    def count(self, wanted: DeploymentQuery | ExecutionQuery) -> int:
        """Return the number of rows that fulfil the conditions of a query, regardless of its page and limit."""
        if isinstance(wanted, DeploymentQuery):
            return len(self._chosen(wanted))
        with self._guard:
            return len(self._executions(wanted))

    def _executions(self, wanted: ExecutionQuery) -> list[ExecutionRow]:
        rows = [known.row for known in self._held.executions.values() if self._own.has(known.row.tenant)]
        return [row for row in rows if is_execution_selected(row, wanted)]

    def _chosen(self, wanted: DeploymentQuery) -> list[DeploymentRow]:
        return [
            row
            for row in self._living()
            if is_deployment_selected(row, wanted, self._labels.of(row.number) if wanted.labels else ())
        ]

    def glances(self, deployments: Sequence[int]) -> Mapping[int, Glance]:
        """Return {deployment number: its summary for lists}."""
        with self._guard:
            return {
                number: _glance(self._held.deployments[self._own.deployment(number)], self._unsettled({number}))
                for number in deployments
            }

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """Return {deployment number: its instances}."""
        with self._guard:
            return {number: _roster(self._held.deployments[self._own.deployment(number)]) for number in deployments}

    def unsettled(self, deployment: int | None = None) -> Sequence[ExecutionRow]:
        """Return the executions that did not complete, and the latest execution of each deployment."""
        with self._guard:
            living = {row.number for row in self._living()}
            return self._unsettled(living if deployment is None else living & {deployment})

    def _unsettled(self, deployments: Collection[int]) -> Sequence[ExecutionRow]:
        rows = [known.row for known in self._held.executions.values() if known.row.deployment in deployments]
        latest = {row.deployment: row.number for row in rows}
        return [
            row for row in rows if row.status is not ExecutionStatus.COMPLETED or row.number == latest[row.deployment]
        ]


def _glance(known: HeldDeployment, executions: Sequence[ExecutionRow]) -> Glance:
    there = known.topology.is_there
    states, names = known.states.copy(), known.state_names
    life_cycle = as_life_cycle(known.topology, states, names) if names else states
    return Glance(states[there], life_cycle[there], names, executions)


def _roster(known: HeldDeployment) -> Roster:
    topology = known.topology
    return Roster(
        [node.name for node in topology.nodes],
        topology.ids,
        topology.node,
        topology.index,
        topology.container,
        topology.host,
        topology.is_there,
        known.states.copy(),
        known.state_names,
        known.version,
        bool(known.checks.columns),
    )
