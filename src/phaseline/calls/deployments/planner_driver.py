"""Calling the planner of a workflow for the next step of an execution, with the history of its rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.threads.memory_release import LARGE_ENTRIES, return_freed
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import Planned
from phaseline.model.execution.execution import TOLERATED, WATCHED_WORKFLOWS, GoOn, History, Reshape, Round, Verdict
from phaseline.model.graph.graph import Bound, Graph, bears, without_entries
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import NOTHING_WRITTEN, ForgottenDeployment, PlannerWrites, Reshaped

if TYPE_CHECKING:
    from types import TracebackType

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.planner_source import PlannerSource
    from phaseline.calls.deployments.round_outcomes import RoundOutcomes
    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Changes, ExecutionChanged
    from phaseline.model.execution.execution import Request, StatePathIndex
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.plan.rounds.round_preview import PreviewedRounds

Declare = Callable[["Operation"], "Declaration"]
"""Function that returns the declaration of an operation without running its code."""
WORDS = tuple(status.word for status in EntryStatus)
FAILED, TOLERANT = int(EntryStatus.FAILED), int(Mark.TOLERANT)
Bounded = tuple[Sequence[Bound], np.ndarray, np.ndarray]
"""The bounds of a graph, and the group and the subject of each entry."""
UNBOUNDED: Bounded = ((), np.empty(0, np.int32), np.empty(0, np.int32))
Planner = Callable[["Topology", "Request", History, Declare], "Graph | Reshape | GoOn | Verdict"]
"""A workflow: a pure function that returns the next graph, or another answer, from topology, request and history."""


NOT_READ = (ProblemsError, ValueError, TypeError, LookupError, AttributeError)
"""Exceptions that reading stored data or planning with it raises if the data is damaged."""
TURNS_UNTIL_FREED = 2
"""Turns until the memory of a large graph can be returned: the turn that stores the graph holds it until its end."""
ENDED_ROWS_KEPT = 256
"""The most rows of ended executions kept in memory; older ones are read from the store."""
GONE = "the deployment was forgotten before this could begin"


class Planning:
    """Calls the planners of this engine, and keeps the rounds of each execution."""

    def __init__(
        self,
        source: PlannerSource,
        deployments: DeploymentCache,
        first_graph: int,
        now: Callable[[], int],
    ) -> None:
        """Start without executions. The first new graph gets the number ``first_graph``."""
        self._now = now
        self._deployments = deployments
        deployments.leads_to = self.leads_to
        self._source = source
        self._next_graph = first_graph
        self.turns_until_freed = 0
        """Turns until a large graph is stored and its memory can be returned; 0 if there is no large graph."""
        self._rows: dict[int, ExecutionRow] = {}
        self._ended_rows: dict[int, ExecutionRow] = {}
        self._rounds: dict[int, dict[int, Round]] = {}
        self._histories: dict[int, History] = {}
        self._reshaped: dict[int, Reshaped] = {}
        self._written: dict[int, PlannerWrites] = {}
        self._forgets: dict[int, bool] = {}
        self._gone: set[int] = set()
        self._unreadable: dict[int, Problem] = {}
        self.paths_of: Callable[[int], StatePathIndex | None] = lambda _: None
        """Function that returns the state paths of a deployment whose nodes are resources, or None."""

    def begin(self, row: ExecutionRow) -> None:
        """Add an execution that begins or is resumed."""
        self._rows[row.number] = row
        self._rounds.setdefault(row.number, {})
        if row.request.flaw:
            from phaseline.calls.deployments.unreadable_execution import unreadable

            self.set_aside(row, unreadable(row, row.request.flaw))
        else:
            self._deployments.begin(row)

    def set_aside(self, row: ExecutionRow, why: Problem) -> None:
        """Mark an execution whose stored data cannot be read: its next planning fails it with this problem."""
        self._rows[row.number] = row
        self._rounds.setdefault(row.number, {})
        self._unreadable[row.number] = why

    def alone(self, row: ExecutionRow) -> Alone:
        """Return a context manager: errors inside it from unreadable data of this execution end only this execution."""
        return Alone(self, row)

    def is_set_aside(self, execution: int) -> bool:
        """Return True if data of the execution could not be read, so that it is about to fail."""
        return execution in self._unreadable

    def row(self, execution: int) -> ExecutionRow:
        """Return the row of an execution as it was when it began or was resumed.

        Raises ``KeyError`` if the store has no such execution.
        """
        found = self._rows.get(execution) or self._ended_rows.get(execution)
        return self._deployments.row(execution) if found is None else found

    def settled(
        self, execution: int, graph: int, name: str, attempt: int, *, status: np.ndarray, marks: np.ndarray,
        bounded: Bounded = UNBOUNDED,
    ) -> None:  # fmt: skip
        """Record a round: a graph has settled, with these statuses. It replaces an earlier record of that graph.

        Tolerated failures are counted apart from the failures. ``bounded`` has the bounds of the graph.
        """
        counts = {WORDS[number]: count for number, count in enumerate(np.bincount(status).tolist()) if count}
        tolerated = int(np.count_nonzero(marks[status == FAILED] & TOLERANT)) if "failed" in counts else 0
        if tolerated:
            counts[TOLERATED] = tolerated
            counts["failed"] -= tolerated
        rounds = self._rounds[execution]
        rounds.pop(graph, None)
        rounds[graph] = Round(name, attempt, counts, bears(*bounded, (status == FAILED) & ((marks & TOLERANT) == 0)))

    def ask(
        self, execution: int, endings: Callable[[], RoundOutcomes], *, is_canceled: bool, attempt: int, is_afresh: bool = False,
        is_timed_out: bool = False,
    ) -> Planned:  # fmt: skip
        """Return the planner's answer as an event. If the planner raises problems, the answer fails the execution.

        ``is_afresh`` means that the planner starts again instead of continuing an earlier attempt.
        """
        row = self._rows[execution]
        name = row.request.workflow
        if row.deployment in self._gone:
            return Planned(execution, Verdict(ExecutionStatus.CANCELED, GONE))
        if execution in self._unreadable:
            if not self._deployments.exists(row.deployment):  # deleted, and dropped from memory since
                return Planned(execution, Verdict(ExecutionStatus.CANCELED, GONE))
            return Planned(execution, Verdict(ExecutionStatus.FAILED, str(self._unreadable[execution])))
        try:
            deployment = self._deployments.loaded(row.deployment)
            planner = self._planner(row, deployment)
            if planner is None:
                return Planned(execution, Verdict(ExecutionStatus.FAILED, f"unknown workflow {name!r}"))
            paths = self.paths_of(row.deployment) if deployment.blueprint.on_path else None
            rounds = tuple(self._rounds[execution].values())

            def called(name: str) -> np.ndarray | None:
                graph = self._graph(execution, name)
                return None if graph is None else endings().called(graph, len(deployment.topology))

            def said(name: str) -> Sequence[tuple[str, str]]:
                return [told for graph in self._graphs(execution, name) for told in endings().said(graph)]

            history = History(
                deployment.states.copy(), rounds, is_canceled, attempt, paths, row.id, deployment.checks.checks,
                lambda: self._deployments.aim_of(row), called, said, is_afresh, lambda name: self._named(deployment, name),
                is_timed_out,
            )  # fmt: skip
            if row.request.is_surrounded:
                self._histories[execution] = history
            code = deployment.view.code
            if not rounds and not row.request.despite and self._is_watched(row.request.workflow, deployment):
                self._deployments.refuse_if_read(row, lambda: self.leads_to(execution))
            answer = planner(
                deployment.topology, row.request, history, lambda operation: self._source.declare(operation, code)
            )
        except ProblemsError as problems:
            return Planned(execution, Verdict(ExecutionStatus.FAILED, str(problems)))
        except NOT_READ as error:
            if not self._deployments.exists(row.deployment):  # deleted, and dropped from memory since
                return Planned(execution, Verdict(ExecutionStatus.CANCELED, GONE))
            from phaseline.calls.deployments.unreadable_execution import reason_of, unreadable

            return Planned(execution, Verdict(ExecutionStatus.FAILED, str(unreadable(row, reason_of(error)))))
        if isinstance(answer, Verdict):
            if is_timed_out and answer.status is ExecutionStatus.CANCELED:
                answer = altered(answer, reason=timed_out(row.request, answer.reason))
            self._forgets[execution] = answer.forgets
            return Planned(execution, answer)
        if isinstance(answer, Reshape):
            return self._reshape(execution, row.deployment, answer)
        if isinstance(answer, GoOn):
            return Planned(execution, answer, self._graph(execution, answer.name) or 0)
        return Planned(execution, answer, self.number(answer), deployment.functions)

    @staticmethod
    def _is_watched(workflow: str, deployment: LoadedDeployment) -> bool:
        """Return True if a workflow is refused while another deployment reads what it touches (DP8)."""
        mapped = deployment.blueprint.workflows.get(workflow)
        return (workflow if mapped is None else mapped.built_in) in WATCHED_WORKFLOWS

    def leads_to(self, execution: int) -> PreviewedRounds | None:
        """Return the rounds of an execution with hooks as if every call completed; None for an unknown workflow."""
        from phaseline.plan.rounds.round_preview import foresee

        row = self._rows[execution]
        deployment = self._deployments.loaded(row.deployment)
        planner, history = self._planner(row, deployment), self._histories.get(execution)
        if planner is None:
            return None
        if history is None:  # the engine before this one has asked
            rounds = tuple(self._rounds[execution].values())
            paths = self.paths_of(row.deployment) if deployment.blueprint.on_path else None
            history = History(
                deployment.states.copy(), rounds, False, row.attempt, paths, row.id, deployment.checks.checks,
                lambda: self._deployments.aim_of(row), planner=lambda name: self._named(deployment, name),
            )  # fmt: skip
        code = deployment.view.code
        return foresee(
            planner, deployment.topology, row.request, history, lambda operation: self._source.declare(operation, code)
        )

    def _named(self, deployment: LoadedDeployment, name: str) -> Planner | None:
        """Return the planner of a workflow for a deployment, or None. Raises: ``ProblemsError`` if it cannot run."""
        return self._source.planner(name, deployment.blueprint, deployment.view.code)

    def _planner(self, row: ExecutionRow, deployment: LoadedDeployment) -> Planner | None:
        """Return the planner of the execution's workflow, including its hooks; None if the workflow is unknown."""
        found = self._named(deployment, row.request.workflow)
        if found is None or not row.request.is_surrounded:
            return found
        from phaseline.plan.rounds.pre_post_rounds import surrounded

        return surrounded(found, self._deployments.execution(row.number, row.deployment).around)

    def _graph(self, execution: int, name: str) -> int | None:
        """Return the last settled graph with this name, or None."""
        wanted = self._graphs(execution, name)
        return wanted[-1] if wanted else None

    def _graphs(self, execution: int, name: str) -> Sequence[int]:
        """Return the settled graphs with this name from the last attempt with such a graph.

        There may be several after a cancel.
        """
        wanted = [(graph, done.attempt) for graph, done in self._rounds[execution].items() if done.name == name]
        return [graph for graph, attempt in wanted if attempt == wanted[-1][1]]

    def _reshape(self, execution: int, deployment: int, answer: Reshape) -> Planned:
        """Apply a planner's new topology at once, so that its next answer builds on it. The round has no entries."""
        graph = without_entries(answer.name)
        number = self.number(graph)
        topology, before = answer.topology, self._deployments.loaded(deployment).topology
        written = self._deployments.written_down(self._rows[execution], answer, self._now)
        if written is not None:
            self._written[number] = written
        if topology is before:
            return Planned(execution, graph, number)
        blueprint = None if topology.blueprint is before.blueprint else topology.blueprint
        row = Reshaped(deployment, topology, blueprint, answer.inputs, answer.code, answer.uses)
        self._reshaped[number] = row
        self._deployments.reshape(row)
        return Planned(execution, graph, number)

    def written(self, changes: Changes) -> tuple[tuple[Reshaped, ...], PlannerWrites]:
        """Return what a turn stores besides its graphs: topologies, documents, and deployments to delete.

        A deployment is deleted when an execution ends whose planner asked for that (``Verdict.forgets``).
        """
        if not (changes.graphs or changes.executions or self._deployments.provider_uses):
            return (), NOTHING_WRITTEN
        graphs = [one.graph_id for one in changes.graphs]
        shapes = tuple(self._reshaped.pop(graph) for graph in graphs if graph in self._reshaped)
        found = [self._written.pop(graph) for graph in graphs if graph in self._written]
        ended = [self._rows[one.execution] for one in changes.executions if one.status.is_ended and self._is_last(one)]
        self._gone |= {row.deployment for row in ended}
        over = [row for one in changes.executions if one.status.is_ended and (row := self._rows.get(one.execution))]
        records, warnings = self._deployments.records(shapes, over, self._now)
        return shapes, PlannerWrites(
            tuple(document for one in found for document in one.kept),
            tuple(document for one in found for document in one.dropped),
            tuple(ForgottenDeployment(row.deployment, row.number, row.created_by) for row in ended),
            tuple(made for one in found for made in one.checks),
            tuple(change for one in found for change in one.labels),
            records,
            warnings,
        )

    def _is_last(self, ended: ExecutionChanged) -> bool:
        """Return True if the deployment of an ended execution is to be deleted with it."""
        return self._forgets.pop(ended.execution, False)

    def number(self, graph: Graph) -> int:
        """Give a number to a newly planned graph and return it."""
        if len(graph) >= LARGE_ENTRIES:
            return_freed()
            self.turns_until_freed = TURNS_UNTIL_FREED
        number = self._next_graph
        self._next_graph += 1
        self._deployments.add_graph(number, graph)
        return number

    def knows(self, execution: int, graph: int) -> bool:
        """Return True if a graph was recorded as a settled round of the execution."""
        return graph in self._rounds[execution]

    def replace_request(self, execution: int, request: Request) -> None:
        """Plan with another request of the execution from now on, such as a retry that cleans up first."""
        self._rows[execution] = altered(self._rows[execution], request=request)

    def forget(self, execution: int) -> None:
        """Forget the rounds of an execution that has ended."""
        self._rounds.pop(execution, None)
        self._histories.pop(execution, None)
        self._unreadable.pop(execution, None)

    def drop(self, execution: int) -> None:
        """Remove an ended execution from the open ones; its row stays cached, because late answers of calls need it.

        The cache has the rows of the latest ``ENDED_ROWS_KEPT`` ended executions.
        """
        row = self._rows.pop(execution, None)
        if row is not None:
            self._ended_rows[execution] = row
            while len(self._ended_rows) > ENDED_ROWS_KEPT:
                del self._ended_rows[next(iter(self._ended_rows))]

    def drop_graph(self, graph: int) -> None:
        """Forget the topology and rows of a graph that was dropped or never began."""
        self._reshaped.pop(graph, None)
        self._written.pop(graph, None)

    def forget_deployment(self, deployment: int) -> None:
        """Drop the note that a deployment was deleted; called when the deployment is dropped from memory."""
        self._gone.discard(deployment)


class Alone:
    """Context manager of ``Planning.alone``. It imports the code that examines errors only after an error."""

    __slots__ = ("_planning", "_row")

    def __init__(self, planning: Planning, row: ExecutionRow) -> None:
        self._planning, self._row = planning, row

    def __enter__(self) -> None:
        """Begin reading data of this execution."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Suppress an error that concerns only this execution: mark the execution as unreadable and return True."""
        if not isinstance(error, NOT_READ):
            return False
        from phaseline.calls.deployments.unreadable_execution import is_alone, reason_of, unreadable

        if is_alone(error):
            self._planning.set_aside(self._row, unreadable(self._row, reason_of(error)))
            return True
        return False


def timed_out(request: Request, reason: str) -> str:
    """Return the reason of a cancel with the exceeded time limit in front of it.

    >>> from phaseline.model.execution.execution import Request
    >>> timed_out(Request("install", timeout_s=90), "3 steps were canceled")
    'timed out after 90 s: 3 steps were canceled'
    """
    told = f"timed out after {request.timeout_s:g} s"
    return f"{told}: {reason}" if reason else told
