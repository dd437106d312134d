"""What queries read of executions and deployments: from the store, or from what was read ahead for a whole list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import (
        BatchRow,
        DeploymentRow,
        EntryStatuses,
        EventRow,
        ExecutionRow,
        GraphRow,
        NoteRow,
        Owner,
        PausedRow,
        RequestRow,
    )


class ExecutionReads(Protocol):
    """Reads of executions and their deployments. Each sees committed data."""

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None if there is no owner."""
        ...

    def deployment(self, name: str) -> DeploymentRow | None:
        """Return the deployment of this name that is not deleted, or None."""
        ...

    def topology(self, deployment: int) -> Topology:
        """Return the instances and relationship instances of a deployment. Adding resources makes a new topology."""
        ...

    def states(self, deployment: int) -> np.ndarray:
        """Return the states of all instances as uint8, by instance number."""
        ...

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """Return the names of the resource states that a deployment uses; the first has number ``FIRST_NAMED``.

        The constant is in ``state_graph_names``: lower numbers are the states of node instances.
        """
        ...

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return {instance number: runtime properties} without instances that have none. None selects all instances."""
        ...

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Return executions sorted by number, oldest first: of one deployment or all.

        ``only_open`` leaves out ended ones.
        """
        ...

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """Return the rows of an execution's graphs in the order of its rounds, without their entries."""
        ...

    def graph(self, graph: int) -> Graph:
        """Return one graph with its entries and edges."""
        ...

    def statuses(self, graph: int) -> np.ndarray:
        """Return the stored statuses of a graph's entries, as uint8 by position.

        An entry that was never written is blocked. The start of a call is not written, so a running entry has the
        status from before its call.
        """
        ...

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Return the statuses of a graph's entries by position, including running ones.

        ``calls``: open batches with members of the graph, if the caller has already read them. With None they are read,
        unless the execution of the graph has ended.
        """
        ...

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """Return the notes of a graph sorted by position; if ``among`` is given, only those at these positions."""
        ...

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """Return {position: (due time in ms, message)} of all notes.

        Faster than ``notes`` for very many entries, because errors and results are not read.
        """
        ...

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Return batches sorted by id: all, or those with members of one execution.

        Their other members are included too.
        """
        ...

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Return at most ``limit`` events of an execution with sequence numbers above ``after``, in their order."""
        ...

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """Return all requests about an execution, answered or not, oldest first."""
        ...

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """Return {name of a paused phase in lower case: its pause}."""
        ...
