"""Checks of rows in the store in memory (LB3, LB4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.deployment_summaries import installation_status
from phaseline.model.rows.row_queries import RowCheck, RowTest, verdict_of

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import Label
    from phaseline.model.rows.deployment_summaries import DeploymentSummary
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.store.memory.estate.sites import MemorySites
    from phaseline.store.memory.stored_blueprints import MemoryBlueprints

_OF_DEPLOYMENTS: Mapping[str, Callable[[DeploymentRow], str]] = {
    "id": lambda row: row.name,
    "name": lambda row: row.name,
    "blueprint_file": lambda row: row.blueprint_file,
    "description": lambda row: row.description,
    "kind": lambda row: row.kind,
    "created_by": lambda row: row.created_by,
    "tenant_name": lambda row: row.tenant,
}
_OF_EXECUTIONS: Mapping[str, Callable[[ExecutionRow], str]] = {
    "id": lambda row: row.id,
    "workflow": lambda row: row.request.workflow,
    "status": lambda row: row.status.value,
    "deployment": lambda row: row.deployment_name,
    "created_by": lambda row: row.created_by,
    "reason": lambda row: row.reason,
    "tenant_name": lambda row: row.tenant,
}


@frozen
class RowFacts:
    """Where the values of rows are found besides the rows: functions of the number of a deployment."""

    labels: Callable[[int], Sequence[Label]]
    site: Callable[[int], str]
    blueprint_id: Callable[[int], str]
    display_name: Callable[[int], str]
    summary: Callable[[int], DeploymentSummary]

    def has_deployment(self, row: DeploymentRow, checks: Collection[RowCheck]) -> bool:
        """Return whether all checks are true for a deployment."""
        return all(verdict_of(check, lambda test: self._of_deployment(row, test)) for check in checks)

    def has_execution(self, row: ExecutionRow, checks: Collection[RowCheck]) -> bool:
        """Return whether all checks are true for an execution."""
        return all(verdict_of(check, lambda test: self._of_execution(row, test)) for check in checks)

    def _of_deployment(self, row: DeploymentRow, test: RowTest) -> Sequence[str]:
        if test.is_label:
            return self._of_label(row.number, test.name)
        if test.name in _OF_DEPLOYMENTS:
            return (_OF_DEPLOYMENTS[test.name](row),)
        if test.name in {"site_name", "blueprint_id"}:
            found = self.site(row.number) if test.name == "site_name" else self.blueprint_id(row.number)
            return (found,) if found else ()
        if test.name == "display_name":
            return (self.display_name(row.number) or row.name,)
        summary = self.summary(row.number)
        if summary.flaw:
            return ()
        return (summary.status if test.name == "status" else installation_status(row.kind, summary),)

    def _of_execution(self, row: ExecutionRow, test: RowTest) -> Sequence[str]:
        return self._of_label(row.deployment, test.name) if test.is_label else (_OF_EXECUTIONS[test.name](row),)

    def _of_label(self, deployment: int, key: str) -> Sequence[str]:
        return [label.value for label in self.labels(deployment) if label.key == key]


@frozen
class RowSources:
    """The shelves with values of deployments that are not in their rows."""

    sites: MemorySites
    blueprints: MemoryBlueprints

    def facts(
        self,
        labels: Callable[[int], Sequence[Label]],
        display_name: Callable[[int], str],
        summary: Callable[[int], DeploymentSummary],
    ) -> RowFacts:
        """Return where the values of rows are found."""
        return RowFacts(labels, self._site, self.blueprint_id, display_name, summary)

    def _site(self, deployment: int) -> str:
        return self.sites.of([deployment]).get(deployment, "")

    def blueprint_id(self, deployment: int) -> str:
        """Return the id of the stored blueprint of a deployment, "" if it was made from a file."""
        found = self.blueprints.of_deployment(deployment).get("")
        return "" if found is None else found.id
