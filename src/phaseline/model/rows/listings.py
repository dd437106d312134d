"""Rows of lists of deployments and instances, read from columns, so that no list parses a blueprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow


@frozen
class Glance:
    """One deployment as lists show it.

    ``states`` (uint8) are the stored states of the instances that were not removed. ``life_cycle`` are the same with
    states of paths converted to life-cycle states (``path_nodes.as_life_cycle``). ``state_names`` are names of states
    of resources. ``executions`` are those that did not complete, and the latest one, oldest first. ``flaw`` is why
    nothing else could be read.
    """

    states: np.ndarray
    life_cycle: np.ndarray
    state_names: tuple[str, ...]
    executions: Sequence[ExecutionRow]
    flaw: str = ""


@frozen
class Roster:
    """The instances of one deployment as lists show them; columns as in ``Topology``.

    ``nodes`` are names by node number, ``states`` uint8 by instance number, ``state_names`` names of states of
    resources. ``version`` is how often the deployment's shape, blueprint or inputs have changed. ``is_checked``:
    results of checks are stored. ``flaw`` is why the deployment could not be read; then it has no instances here.
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
    is_checked: bool
    flaw: str = ""


class Listings(Protocol):
    """Queries of a store for lists. Each method is one transaction with a fixed number of statements."""

    def deployments(self, wanted: DeploymentQuery) -> Sequence[DeploymentRow]:
        """Return the rows of deployments that a query selects."""
        ...

    def executions(self, wanted: ExecutionQuery) -> Sequence[ExecutionRow]:
        """Return the rows of executions that a query selects."""
        ...

    def count(self, wanted: DeploymentQuery | ExecutionQuery) -> int:
        """Return the number of rows that fulfil the conditions, without regard to the page and limit of the query."""
        ...

    def glances(self, deployments: Sequence[int]) -> Mapping[int, Glance]:
        """Return {deployment: its summary}."""
        ...

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """Return {deployment: its instances}."""
        ...

    def unsettled(self, deployment: int | None = None) -> Sequence[ExecutionRow]:
        """Return executions that did not complete, and the latest of each deployment; oldest first.

        Without ``deployment`` return those of all deployments that are not deleted.
        """
        ...
