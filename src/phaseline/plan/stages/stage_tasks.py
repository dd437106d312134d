"""Build the graphs of packages' stage tasks: before and after the body of a workflow (Fuel document, source 4).

Example: an install with two tasks, ``net#1`` (``post_deployment/100``, role ``web``) and ``db/tune`` (from
``deployment_tasks.yaml``, requires ``deploy_start``). ``before`` finds no task to run. When the body has completed,
``after`` builds a graph: ``db/tune`` on the instances of its role, then the points ``deploy_end`` to
``post_deployment_end``, then ``net#1`` on the instances of ``web``. An instance runs one task at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.execution.execution import Reshape, Verdict
from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, SubjectKind
from phaseline.model.graph.status import ExecutionStatus, Mark
from phaseline.model.packages.package import POST, PRE
from phaseline.model.packages.stage_tasks import GROUP, NO_STAGES, OPERATION, REBOOT, SYNC, own_phases
from phaseline.model.packages.task_inputs import REBOOT_OPERATION
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.graph.call_policies import Policies, PolicyOverrides, lane
from phaseline.plan.graph.dependency_order import circles
from phaseline.plan.stages.fault_tolerance import STRICT, FaultTolerance
from phaseline.plan.stages.pre_or_post import depths_by_needs, segments, sided, ties_of
from phaseline.plan.stages.role_masks import RoleMasks
from phaseline.plan.stages.rolling_strategy import take_turns
from phaseline.plan.stages.task_dependencies import (
    DEPLOY_START,
    NO_TIES,
    POINTS,
    POST_END,
    PRE_END,
    Tying,
    Vertices,
    circle,
)
from phaseline.plan.stages.task_graph import MILESTONE, TaskGraph, build_task_graph, chained
from phaseline.plan.transforms.pipeline import Asked
from phaseline.plan.workflows import heal

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.execution.execution import GoOn
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.packages.stage_tasks import ExecutionTask, Stages, Ties
    from phaseline.plan.stages.task_graph import Block

RESHAPING = ("scale", "update")
"""Workflows that change the topology; their stage tasks run on the new and changed instances."""
CHANGED = ("changed", "updated")
"""Keys of an update's stored data that hold the numbers of the instances it changes."""
HEAL, CHECK_STATUS = "heal", "check_status"
"""Name of the workflow that changes only the instances found by a check, and of the graph with this check."""
EVERY_DEPLOYMENT = "deployment.id"
"""Batch key of lanes with a limit of calls at once; it makes the limit hold for each deployment separately."""


def before(asked: Asked, around: PrePost, body: Callable[[], object] | None = None) -> Graph | None:
    """Return the graph of the tasks before the body; None if no task is due, or if new instances must be added first.

    ``body`` returns the workflow's next answer. A heal runs its checks before the tasks, because the checks decide
    which instances are healed.
    """
    if asked.request.workflow == HEAL and body is not None:
        following = body()
        if not isinstance(following, Graph) or following.name == CHECK_STATUS:
            return None
    started = asked.topology.started
    if asked.request.workflow in RESHAPING and (started is None or started.execution != asked.history.execution):
        return None
    return _build_side(lambda side: side.graph(), asked, around.stages or NO_STAGES, PRE)


def after(asked: Asked, around: PrePost, answer: Graph | Reshape | GoOn | Verdict) -> Graph | None:
    """Return the graph of the tasks after the body; None unless the body's ``answer`` would complete the workflow.

    The tasks run just before that answer takes effect, because the new instances are still known then.
    """
    if isinstance(answer, Reshape):
        is_due = asked.topology.started is not None and answer.topology.started is None
    else:
        is_due = isinstance(answer, Verdict) and answer.status is ExecutionStatus.COMPLETED
        is_due = is_due and asked.request.workflow not in RESHAPING
    return _build_side(lambda side: side.graph(), asked, around.stages or NO_STAGES, POST) if is_due else None


def fresh(asked: Asked) -> np.ndarray:
    """Return the instances that this execution may change, bool by instance number.

    Stage tasks run only on these instances, except tasks that run again on all instances.
    """
    topology = asked.topology
    found = topology.is_there.copy()
    if asked.request.workflow in RESHAPING and topology.started is not None:
        started = topology.started
        found[:] = False
        found[started.added] = True
        for name in CHANGED:
            found[numbers_of(started.kept.get(name, []))] = True
        found &= topology.is_there
        return found
    from phaseline.plan.workflows import PLANNERS, built_in

    if asked.request.workflow == HEAL:
        found &= heal.concerned(asked)
        return found
    claims = built_in(asked.request.workflow).claims if asked.request.workflow in PLANNERS else None
    chosen = claims(topology, asked.request) if claims else None
    return found if chosen is None else found & chosen


def rows_of(asked: Asked, stages: Stages, stage: str, new: np.ndarray) -> list[tuple[ExecutionTask, int]]:
    """Return (task, number of instances that run it), in the order of the graph of ``before`` or ``after``.

    ``new`` marks the instances on which tasks run, bool by instance number. Raises: PL-F015 if tasks wait in a circle.
    """
    return _build_side(lambda side: side.rows(), asked, stages, stage, new)


Told = TypeVar("Told")


def _build_side(
    ask: Callable[[_Side], Told], asked: Asked, stages: Stages, stage: str, new: np.ndarray | None = None
) -> Told:
    """Return what ``ask`` returns for the tasks on one side of the body: before it, or after it.

    Normally an instance of a group with a strategy runs all its tasks in one turn. Dependencies of tasks may then make
    instances wait for one another in a circle. In this case the groups take turns for each task separately.
    """
    try:
        return ask(_Side(asked, stages, stage, new))
    except _HeldUpError:
        return ask(_Side(asked, stages, stage, new, by_task=True))


class _HeldUpError(Exception):
    """The turns of a group and the dependencies of its tasks form a circle."""


class _Side:
    """The tasks on one side of the body, before it or after it, from which the graph is built.

    With ``by_task``, the strategies of groups limit the instances of each task separately.
    """

    def __init__(
        self, asked: Asked, stages: Stages, stage: str, new: np.ndarray | None = None, *, by_task: bool = False
    ) -> None:
        self._asked, self._stage, self._by_task = asked, stage, by_task
        self._fresh = fresh(asked) if new is None else new
        self._masks = RoleMasks(asked.topology, stages.split)
        self._in_turn = [task for task in stages if task.stage == stage and not task.skipped]
        granular = [task for task in stages if task.ties is not None]
        self._ties = ties_of(granular)
        wanted = sided(self._ties)[stage] if granular else frozenset()
        self._tied = [task for task in granular if task.type != GROUP and task.id in wanted]
        groups = [task for task in granular if task.type == GROUP]
        self._in_turns = [group for group in groups if group.at_once]
        self._groups: dict[str, list[ExecutionTask]] = {}
        for group in groups:
            for id in group.ties.tasks if group.ties else ():
                self._groups.setdefault(id, []).append(group)
        self._bearing = FaultTolerance.of(groups, self._masks, len(asked.topology))
        self._graph = TaskGraph(Policies(asked.declare, asked.request.retries))
        self._rows: list[tuple[Block, ...]] = []
        self._row_ids: list[str] = []
        self._turns: list[Vertices] = []
        self._names: dict[int, str] = {}
        self._subjects: dict[object, np.ndarray] = {}

    def graph(self) -> Graph | None:
        """Return the graph; None if no task is called."""
        known = self._laid()
        if not any(row and len(row[0]) for row in self._rows):
            return None
        depth = self._tied_up(known)
        behind = chained(self._graph, self._rows, depth, len(self._in_turn))
        bounds = self._bearing.bounds if self._tied else ()
        return build_task_graph(self._graph, f"stage {self._stage}", depth, behind, bounds)

    def rows(self) -> list[tuple[ExecutionTask, int]]:
        """Return (task, number of instances that run it), in the order of the graph: by depth, then as in the files.

        A task without instances comes after the tasks that it needs.
        """
        known = self._laid()
        depth = self._tied_up(known)
        deep = {
            id: int(depth[np.concatenate([one.head.positions for one in same])].min())
            for id, same in known.items()
            if any(len(one.head) for one in same)
        }
        deep = depths_by_needs(self._ties, deep)
        told = [(task, self._count(task, known[task.id][self._place_of(task)])) for task in self._tied]
        told.sort(key=lambda row: deep[row[0].id])
        return told + [(task, len(one.head)) for task, one in zip(self._in_turn, self._turns, strict=True)]

    def _place_of(self, task: ExecutionTask) -> int:
        """Return the index of the task among the tasks with its id."""
        return [one for one in self._tied if one.id == task.id].index(task)

    def _laid(self) -> dict[str, list[Vertices]]:
        """Add the vertices of all tasks, without edges. Return {id: vertices} of the granular tasks."""
        self._turns = [self._vertices(task) for task in self._in_turn]
        known: dict[str, list[Vertices]] = {}
        for task in self._tied:
            known.setdefault(task.id, []).append(self._vertices(task))
        return known

    def _tied_up(self, known: dict[str, list[Vertices]]) -> np.ndarray:
        """Add all edges of tasks and groups, and return the depth of each vertex.

        Raises: PL-F015 if tasks wait for one another in a circle.
        """
        if self._tied:
            self._points(known)
            Tying(self._graph, known, self._masks, self._bearing.bears).tie()
        self._row_of_stages(self._turns, known)
        depth = self._graph.depths()
        if (depth < 0).any():
            raise ProblemsError([circle(self._circle(depth))])
        return self._taking_turns() if self._tied and self._in_turns and not self._by_task else depth

    def _taking_turns(self) -> np.ndarray:
        """Make instances wait for their turns, and return the new depth of each vertex."""
        found = segments(self._ties)
        of_rows = [found.get(id, -1) for id in self._row_ids]
        for group in self._in_turns:
            take_turns(self._graph, self._rows, of_rows, self._masks.of(group.roles), group.at_once)
        depth = self._graph.depths()
        if (depth < 0).any():
            raise _HeldUpError
        return depth

    def _points(self, known: dict[str, list[Vertices]]) -> None:
        """Add the points between stages on this side of the body, in order.

        A point that a package defines itself is not replaced.
        """
        cut = POINTS.index(DEPLOY_START) + 1
        last: Vertices | None = None
        for name in POINTS[:cut] if self._stage == PRE else POINTS[cut:]:
            for point in known.setdefault(name, []) or [self._point(name, NO_TIES)]:
                if point not in known[name]:
                    known[name].append(point)
                if last is not None:
                    self._graph.tie(last.tail.positions, point.head.positions)
            last = known[name][-1]

    def _row_of_stages(self, in_turn: Sequence[Vertices], known: Mapping[str, Sequence[Vertices]]) -> None:
        """Add edges so that the tasks of ``tasks.yaml`` run one after the other.

        Each task waits for all calls of the task before it; the first task waits for the end point of its stage. Before
        the body, the point ``deploy_start`` waits for the last task.
        """
        first, last = (PRE_END, DEPLOY_START) if self._stage == PRE else (POST_END, "")
        ready = np.empty(0, np.int64)
        for point in known.get(first, ()):
            ready = point.tail.positions
        for vertices in in_turn:
            if len(vertices.head):
                self._graph.tie(ready, vertices.head.positions)
                ready = vertices.tail.positions
                if vertices is not in_turn[-1]:
                    ready = self._milestone(ready)
        for point in known.get(last, ()):
            self._graph.tie(ready, point.head.positions)

    def _milestone(self, sources: np.ndarray) -> np.ndarray:
        found = self._graph.add(MILESTONE, SubjectKind.NONE, np.array([-1])).positions
        self._graph.tie(sources, found)
        return found

    # -- a task on its instances ---------------------------------------------------------------------------------------

    def _vertices(self, task: ExecutionTask) -> Vertices:
        if task.type == SYNC:
            return self._point(task.id, self._ties[task.id])
        kind, subjects = SubjectKind.INSTANCE, self._who(task)
        if task.roles.scope == "master":
            kind = SubjectKind.DEPLOYMENT
            subjects = np.array(
                [DeploymentCallKind.BEFORE if self._stage == PRE else DeploymentCallKind.COMPLETED]
                if len(subjects)
                else [],
                np.int32,
            )
        rank = len(self._rows)
        group = self._bearing.of_subjects(subjects, kind) if task.ties else STRICT
        row: list[Block] = []
        for place, (phase, policy, marks) in enumerate(self._calls(task, subjects)):
            if task.not_on and kind is SubjectKind.INSTANCE:
                policy, marks = self._left_out(task, subjects, policy, marks)
            tolerant = 0 if task.fail_on_error else int(Mark.TOLERANT)
            block = self._graph.add(
                phase, kind, subjects, policy, marks | tolerant, rank=rank, place=place, group=group
            )
            if row:
                self._graph.tie_pairs(row[-1].positions, block.positions)
            self._names[len(self._graph.blocks) - 1] = task.id or task.phase
            row.append(block)
        self._rows.append(tuple(row) if task.is_called else ())
        self._row_ids.append(task.id if task.ties else "")
        return Vertices(task.id, self._ties[task.id] if task.ties else NO_TIES, row[0], row[-1])

    def _point(self, id: str, ties: Ties) -> Vertices:
        block = self._graph.add(MILESTONE, SubjectKind.NONE, np.array([-1]))
        self._names[len(self._graph.blocks) - 1] = id
        return Vertices(id, ties, block, block)

    def _who(self, task: ExecutionTask) -> np.ndarray:
        """Return the instances that run a task.

        A task of the engine's own machine runs once, so it gets any one instance.
        """
        topology = self._asked.topology
        again = topology.is_there if task.reexecutes else self._fresh
        if task.roles.scope == "master":
            return again.nonzero()[0][:1]
        groups = self._groups.get(task.id, ()) if task.ties else ()
        roles = (task.reexecutes, task.roles, *(group.roles for group in groups))
        found = self._subjects.get(roles)
        if found is None:
            masks = [self._masks.of(one) for one in (task.roles, *(group.roles for group in groups))]
            found = self._subjects[roles] = (np.logical_or.reduce(masks) & again).nonzero()[0].astype(np.int32)
        return found

    def _calls(
        self, task: ExecutionTask, subjects: np.ndarray
    ) -> list[tuple[str, np.ndarray | int | None, np.ndarray | int]]:
        """Return (phase, policy, marks) for each of the consecutive calls of a task.

        A skipped task has one entry that is never called.
        """
        if not task.is_called:
            return [(task.phase, None, int(Mark.ABSENT))]
        if task.type == OPERATION:
            return self._operations(str(task.parameters.get("operation")), subjects)
        calls: list[tuple[str, np.ndarray | int | None, np.ndarray | int]] = [
            (phase, self._graph.policies.add(self._policy(task, task.operation(phase))), 0)
            for phase in own_phases(task)
        ]
        if task.type == REBOOT:
            calls[1:1] = self._operations(REBOOT_OPERATION, subjects)
        return calls

    def _left_out(
        self, task: ExecutionTask, subjects: np.ndarray, policy: np.ndarray | int | None, marks: np.ndarray | int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the policy and the marks for each instance.

        An entry is not called if the task's condition is false for its instance.
        """
        topology, absent = self._asked.topology, self._graph.policies.absent()
        left_out = np.array([node.name in task.not_on for node in topology.nodes], bool)[topology.node[subjects]]
        return (
            np.where(left_out, absent, absent if policy is None else policy),
            np.where(left_out, int(Mark.ABSENT), marks),
        )

    def _count(self, task: ExecutionTask, vertices: Vertices) -> int:
        """Return the number of instances that run a task."""
        if not task.not_on or not task.is_called or vertices.head.kind is not SubjectKind.INSTANCE:
            return len(vertices.head)
        return int(((np.asarray(vertices.head.marks) & Mark.ABSENT) == 0).sum())

    def _operations(
        self, name: str, subjects: np.ndarray
    ) -> list[tuple[str, np.ndarray | int | None, np.ndarray | int]]:
        """Return (phase, policy, marks) for each call of an operation.

        Nodes may implement the operation ``name`` under different full names; each full name is one call. Instances
        whose node does not implement it are not called.
        """
        topology, policies = self._asked.topology, self._graph.policies
        number = policies.numbering(PolicyOverrides())
        numbers = np.unique(topology.node[subjects]).tolist()
        mapped = {node: topology.nodes[node].find_operation(name) for node in numbers}
        found = {
            node: operation for node, operation in mapped.items() if operation is not None and operation.is_implemented
        }
        calls: list[tuple[str, np.ndarray | int | None, np.ndarray | int]] = []
        for full in dict.fromkeys(operation.name for operation in found.values()):
            policy = np.full(len(topology.nodes), policies.absent(), np.int32)
            marks = np.full(len(topology.nodes), Mark.ABSENT, np.uint8)
            for node, operation in found.items():
                if operation.name == full:
                    policy[node], marks[node] = number(operation), 0
            calls.append((full, policy[topology.node[subjects]], marks[topology.node[subjects]]))
        return calls or [(name, None, int(Mark.ABSENT))]

    def _policy(self, task: ExecutionTask, operation: Operation) -> Policy:
        """Return the policy of a task; a limit of calls at once holds for each deployment separately."""
        spec: LaneSpec = lane(operation, self._asked.declare(operation))
        at_once = self._at_once(task)
        if at_once and task.roles.scope != "master":
            spec = altered(spec, form="each", concurrency=at_once, max_batch=1, key=EVERY_DEPLOYMENT)
        return Policy(
            spec,
            max_retries=task.retries,
            retry_interval_ms=round(1000 * (operation.retry_interval_s or 0)),
            timeout_ms=round(1000 * (operation.timeout_s or 0)),
            repeatable=task.is_repeatable,
        )

    def _at_once(self, task: ExecutionTask) -> int:
        """Return the largest number of instances on which a task may run at once; 0 for no limit."""
        bounds = [task.at_once]
        if self._by_task and task.ties is not None:
            who = self._who(task)
            bounds += [group.at_once for group in self._in_turns if self._masks.of(group.roles)[who].any()]
        return min((bound for bound in bounds if bound), default=0)

    def _circle(self, depth: np.ndarray) -> list[str]:
        """Return the ids of the tasks in a circle; the first id is repeated at the end.

        The circle is among the vertices with the ``depth`` -1.
        """
        graph = self._graph
        name = np.repeat(np.arange(len(graph.blocks)), [len(block) for block in graph.blocks])
        targets: list[set[int]] = [set() for _ in graph.blocks]
        for sources, behind in graph.edges:
            stuck = (depth[sources] < 0) & (depth[behind] < 0)
            for before, after in zip(name[sources[stuck]].tolist(), name[behind[stuck]].tolist(), strict=True):
                targets[after].add(before)
        (found, *_) = circles([sorted(one) for one in targets])
        told = list(dict.fromkeys(self._names[block] for block in found if block in self._names))
        return [*told, told[0]]
