"""Rows of lists of deployments, executions and instances, from the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, overload

import numpy as np

from phaseline.model.execution.pre_post import OPENING, UNDOING
from phaseline.model.graph.status import LEFT
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.model.resources.resources import REMOVED
from phaseline.model.rows.deployment_summaries import (
    DeploymentSummary,
    LatestExecution,
    ListedFacts,
    is_calm,
    kin_of,
    may_be_refused,
    named,
    status_of,
)
from phaseline.model.rows.instance_rows import InstancePage, PageOfInstances, rows_of, selected_numbers
from phaseline.model.rows.listings import Roster
from phaseline.model.rows.row_queries import (
    DeploymentQuery,
    ExecutionQuery,
    is_deployment_selected,
    is_execution_selected,
)

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import LabelShelf
    from phaseline.model.rows.details import DetailQuery, Details
    from phaseline.model.rows.phase_tables import PhaseTables
    from phaseline.model.rows.row_queries import InstanceQuery
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.model.rows.secrets import SecretShelf
    from phaseline.store.memory.estate.row_checks import RowFacts, RowSources
    from phaseline.store.memory.packages import MemoryPackages
    from phaseline.store.memory.tables import HeldDeployment, MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryListings:
    """Lists for users in a store in memory: the methods of the port ``Listings``."""

    def __init__(
        self, guard: AbstractContextManager[object], held: MemoryTables, living: Callable[[], Sequence[DeploymentRow]],
        labels: LabelShelf, packages: MemoryPackages, secrets: SecretShelf, own: MemoryTenantRows, sources: RowSources,
    ) -> None:  # fmt: skip
        """Read from ``held`` under ``guard``, a context in which no other thread uses the stored data.

        ``living`` returns the deployments that are not deleted, sorted by name. ``sources``: what else checks of
        filters read.
        """
        self._sources = sources
        self._packages, self._secrets = packages, secrets
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
        rows = [row for row in rows if is_execution_selected(row, wanted)]
        if not wanted.checks and not wanted.deployment_checks:
            return rows
        facts, found = self._facts(), self._held.deployments
        return [
            row
            for row in rows
            if facts.has_execution(row, wanted.checks)
            and facts.has_deployment(found[row.deployment].row, wanted.deployment_checks)
        ]

    def _facts(self) -> RowFacts:
        return self._sources.facts(self._labels.of, self._display_name, lambda number: self.summaries([number])[number])

    def _display_name(self, deployment: int) -> str:
        found = self._held.deployments[deployment].topology.blueprint.deployment_settings.get("display_name")
        return found if isinstance(found, str) else ""

    @overload
    def page(self, wanted: DeploymentQuery) -> tuple[Sequence[DeploymentRow], int]: ...

    @overload
    def page(self, wanted: ExecutionQuery) -> tuple[Sequence[ExecutionRow], int]: ...

    def page(
        self, wanted: DeploymentQuery | ExecutionQuery
    ) -> tuple[Sequence[DeploymentRow] | Sequence[ExecutionRow], int]:
        """Return (the rows that a query selects, the number that ``count`` returns)."""
        if isinstance(wanted, DeploymentQuery):
            return self.deployments(wanted), self.count(wanted)
        return self.executions(wanted), self.count(wanted)

    def _chosen(self, wanted: DeploymentQuery) -> list[DeploymentRow]:
        rows = [
            row
            for row in self._living()
            if is_deployment_selected(row, wanted, self._labels.of(row.number) if wanted.labels else ())
            and (not wanted.has_states or self._held.deployments[row.number].state_names)
        ]
        if wanted.checks:
            facts = self._facts()
            rows = [row for row in rows if facts.has_deployment(row, wanted.checks)]
        if not wanted.status:
            return rows
        summaries = self.summaries([row.number for row in rows])
        return [row for row in rows if summaries[row.number].status == wanted.status]

    def instances(self, wanted: InstanceQuery) -> InstancePage:
        """Return the page of instances that a query selects."""
        rows = [row for row in self._living() if wanted.deployment in {None, row.number}]
        rosters = self.rosters([row.number for row in rows])
        page = PageOfInstances(wanted)
        chosen = [(row, selected_numbers(rosters[row.number], wanted)) for row in rows]
        shown = [
            (row, numbers)
            for row, numbers in (reversed(chosen) if wanted.is_last_first else chosen)
            if page.may_have(row.name, len(numbers))
        ]
        found = [
            one
            for row, numbers in shown
            for one in rows_of(rosters[row.number], row.name, page.take(row.name, numbers))
        ]
        return InstancePage(found, page.total)

    def summaries(self, deployments: Sequence[int]) -> Mapping[int, DeploymentSummary]:
        """Return {deployment number: its summary}."""
        with self._guard:
            held, runs = self._held.deployments, self._by_deployment()
            return {
                number: self._summary(held[number], runs.get(number, ()))
                for number in deployments
                if self._own.deployment(number) in held
            }

    def _by_deployment(self) -> dict[int, list[ExecutionRow]]:
        found: dict[int, list[ExecutionRow]] = {}
        for known in self._held.executions.values():
            if self._own.has(known.row.tenant):
                found.setdefault(known.row.deployment, []).append(known.row)
        return found

    def _summary(self, known: HeldDeployment, rows: Sequence[ExecutionRow]) -> DeploymentSummary:
        counts, present = _counts(known)
        acted = next((row for row in reversed(rows) if not self._was_refused(row)), None)
        latest = None if acted is None else LatestExecution(acted.status, acted.request.workflow)
        has_open = any(not row.status.is_ended for row in rows)
        kept = [row for row in rows if not row.status.is_ended or row is rows[-1]]
        if not has_open and known.row.kind != "resources" and not _is_calm(known, rows):
            kept = [row for row in rows if row.status in LEFT or row is rows[-1]]
        status = status_of(known.row.kind, latest, present, has_open=has_open)
        return DeploymentSummary(status, named(counts, known.state_names), kept)

    def _was_refused(self, row: ExecutionRow) -> bool:
        graphs = (self._held.graphs[graph].row.name for graph in self._held.executions[row.number].graphs)
        return may_be_refused(row) and all(name in {OPENING, UNDOING} for name in graphs)

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """Return {deployment number: its instances}."""
        with self._guard:
            return {number: _roster(self._held.deployments[self._own.deployment(number)]) for number in deployments}

    def with_ids(
        self, beginning: str, *, kind: str = "", limit: int | None = None
    ) -> Sequence[tuple[DeploymentRow, Sequence[str]]]:
        """Return the deployments that have instances whose ids begin so, by name, with these ids."""
        return list(self._with_ids(beginning, kind))[:limit]

    def _with_ids(self, beginning: str, kind: str) -> Iterator[tuple[DeploymentRow, Sequence[str]]]:
        for row in self._living():
            if kind in {"", row.kind}:
                ids = [id for id in self._held.deployments[row.number].topology.ids if id.startswith(beginning)]
                if ids:
                    yield row, ids

    def node_names(self, deployment: int | None = None) -> set[str]:
        """Return the names of the nodes of all deployments that are not deleted, or of one."""
        living = [row.number for row in self._living() if deployment in {None, row.number}]
        return {node.name for number in living for node in self._held.deployments[number].topology.nodes}

    def state_names(self, deployment: int | None = None) -> set[str]:
        """Return the names of the states of resources that deployments which are not deleted know, or one of them."""
        living = [row.number for row in self._living() if deployment in {None, row.number}]
        return {name for number in living for name in self._held.deployments[number].state_names}

    def details(self, wanted: DetailQuery) -> Details:
        """Return details of many executions, graphs and deployments."""
        from phaseline.store.memory.details import read_details

        with self._guard:
            return read_details(self._held, wanted, self._own, self._packages.found_in)

    def phase_tables(self) -> PhaseTables:
        """Return what the store has of phases, paused phases, measurements and packages."""
        from phaseline.model.rows.phase_tables import PhaseTables

        held = self._held
        with self._guard:
            rows = [(name, row) for (tenant, name), row in held.paused.items() if self._own.has(tenant)]
            known, paused = dict(held.known_phases), dict(sorted(rows, key=lambda one: (one[0], -one[1].at)))
            keys = frozenset(self._secrets.data_keys())
            return PhaseTables(known, paused, dict(held.measures), self._packages.all(), keys)

    def facts(self, deployments: Sequence[int], *, with_names: bool = False) -> ListedFacts:
        """Return what lists show of deployments besides rows and summaries, and which belong to which of all."""
        with self._guard:
            living = sorted(self._living(), key=lambda row: row.number)
            labels = [(row.number, row.name, row.kind, *one) for row in living for one in self._labels.of(row.number)]
            mine = [number for number in deployments if self._own.deployment(number) in self._held.deployments]
            ids = {number: self._sources.blueprint_id(number) for number in mine}
            names = {number: self._display_name(number) for number in mine} if with_names else {}
            return ListedFacts(
                kin_of(labels),
                self._sources.sites.of(mine),
                frozenset(number for number in mine if not self._held.deployments[number].checks.is_empty),
                {number: id for number, id in ids.items() if id},
                {number: name for number, name in names.items() if name},
            )

    def unsettled(self, deployment: int | None = None) -> Sequence[tuple[ExecutionRow, int]]:
        """Return the executions that may need attention."""
        with self._guard:
            held = self._held.deployments
            found: list[ExecutionRow] = []
            for number, rows in self._by_deployment().items():
                if held[number].deleted_at or deployment not in {None, number}:
                    continue
                if deployment is None and all(row.status.is_ended for row in rows) and _is_calm(held[number], rows):
                    continue
                found += [row for row in rows if not row.status.is_ended or row.status in LEFT or row is rows[-1]]
            return [(row, self._entry_count(row)) for row in sorted(found, key=lambda row: row.number)]

    def _entry_count(self, row: ExecutionRow) -> int:
        return sum(self._held.graphs[graph].row.entry_count for graph in self._held.executions[row.number].graphs)


def _counts(known: HeldDeployment) -> tuple[dict[int, int], Collection[int]]:
    """Return ({state: number of instances}, life-cycle states that some instance has), without removed instances."""
    there = known.topology.is_there
    states = known.states[there]
    values, counts = np.unique(states, return_counts=True)
    found = dict(zip(values.tolist(), counts.tolist(), strict=True))
    found.pop(REMOVED, None)
    if not known.state_names:
        return found, found
    return found, np.unique(as_life_cycle(known.topology, known.states, known.state_names)[there]).tolist()


def _is_calm(known: HeldDeployment, rows: Sequence[ExecutionRow]) -> bool:
    counts, _ = _counts(known)
    return is_calm(
        known.row.kind, rows[-1].status if rows else None, counts, has_failed=any(row.status in LEFT for row in rows)
    )


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
        checks=known.checks.checks,
    )
