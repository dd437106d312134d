"""Rows of lists of deployments and instances, read from columns, so that no list parses a blueprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, overload

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.health.checks import Checks

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.rows.deployment_summaries import DeploymentSummary, ListedFacts
    from phaseline.model.rows.details import DetailQuery, Details
    from phaseline.model.rows.instance_rows import InstancePage
    from phaseline.model.rows.phase_tables import PhaseTables
    from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery, InstanceQuery
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow

NO_CHECKS = Checks()


@frozen
class Roster:
    """The instances of one deployment as lists show them; columns as in ``Topology``.

    ``nodes`` are names by node number, ``states`` uint8 by instance number, ``state_names`` names of states of
    resources. ``version`` is how often the deployment's shape, blueprint or inputs have changed. ``checks`` are the
    results of status and drift checks, ``check_flaw`` is why they could not be read. ``flaw`` is why the deployment
    could not be read; then it has no instances here.
    """

    nodes: Sequence[str]
    ids: Sequence[str]
    node: np.ndarray
    index: np.ndarray
    container: np.ndarray
    host: np.ndarray
    is_there: np.ndarray
    states: np.ndarray
    state_names: tuple[str, ...]
    version: int
    flaw: str = ""
    checks: Checks = NO_CHECKS
    check_flaw: str = ""


class Listings(Protocol):
    """Queries of a store for lists. Each method is one transaction with a fixed number of statements."""

    def deployments(self, wanted: DeploymentQuery) -> Sequence[DeploymentRow]:
        """Return the rows of deployments that a query selects."""
        ...

    def executions(self, wanted: ExecutionQuery) -> Sequence[ExecutionRow]:
        """Return the rows of executions that a query selects."""
        ...

    @overload
    def page(self, wanted: DeploymentQuery) -> tuple[Sequence[DeploymentRow], int]: ...

    @overload
    def page(self, wanted: ExecutionQuery) -> tuple[Sequence[ExecutionRow], int]: ...

    def page(
        self, wanted: DeploymentQuery | ExecutionQuery
    ) -> tuple[Sequence[DeploymentRow] | Sequence[ExecutionRow], int]:
        """Return (the rows that a query selects, the number that ``count`` returns)."""
        ...

    def instances(self, wanted: InstanceQuery) -> InstancePage:
        """Return the page of instances that a query selects."""
        ...

    def count(self, wanted: DeploymentQuery | ExecutionQuery) -> int:
        """Return the number of rows that fulfil the conditions, without regard to the page and limit of the query."""
        ...

    def summaries(self, deployments: Sequence[int]) -> Mapping[int, DeploymentSummary]:
        """Return {deployment: its summary}."""
        ...

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """Return {deployment: its instances}."""
        ...

    def with_ids(
        self, beginning: str, *, kind: str = "", limit: int | None = None
    ) -> Sequence[tuple[DeploymentRow, Sequence[str]]]:
        """Return the deployments that have instances whose ids begin so, by name, with these ids.

        The ids of removed instances count, too. ``kind``: only deployments of this kind. ``limit``: that many.
        """
        ...

    def node_names(self, deployment: int | None = None) -> set[str]:
        """Return the names of the nodes of all deployments that are not deleted, or of one."""
        ...

    def state_names(self, deployment: int | None = None) -> set[str]:
        """Return the names of the states of resources that deployments which are not deleted know, or one of them."""
        ...

    def details(self, wanted: DetailQuery) -> Details:
        """Return details of many executions, graphs and deployments, read by one statement."""
        ...

    def phase_tables(self) -> PhaseTables:
        """Return what the store has of phases, paused phases, measurements and packages."""
        ...

    def facts(self, deployments: Sequence[int], *, with_names: bool = False) -> ListedFacts:
        """Return what lists show of deployments besides rows and summaries, and which belong to which of all.

        ``with_names``: with the names that blueprints give for display, which takes longer.
        """
        ...

    def unsettled(self, deployment: int | None = None) -> Sequence[tuple[ExecutionRow, int]]:
        """Return the executions that may need attention, of all deployments that are not deleted, or of one.

        Each is with the number of entries of its graphs.

        These are the open ones and, of each deployment that has some or that may be left half way, also the failed and
        canceled ones and the latest; oldest first. A deployment at rest may be left half way if its latest execution
        has failed or was canceled, if instances are half way, or if it has resources and any execution has failed.
        Deployments whose summaries are out of date count as left half way.
        """
        ...
