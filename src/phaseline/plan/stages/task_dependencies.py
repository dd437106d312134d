"""Turn the dependencies between tasks of packages (in ``deployment_tasks.yaml``) into edges between their vertices.

``requires`` and ``required_for`` refer to tasks on the same instance, and to points between stages, which belong to no
instance. Cross-dependencies refer to tasks on all instances with a role. A name may be a regular expression; unknown
names are ignored, as in Fuel. Tasks on the other side of the workflow's body already ran or run later, so they get no
edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.lang.regex import compiled
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.model.packages.package import CrossDependency, Roles
from phaseline.model.packages.stage_tasks import Ties
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.stages.task_graph import MILESTONE

if TYPE_CHECKING:
    from phaseline.plan.stages.role_masks import RoleMasks
    from phaseline.plan.stages.task_graph import Block, TaskGraph

PRE_START, PRE_END = "pre_deployment_start", "pre_deployment_end"
DEPLOY_START, DEPLOY_END = "deploy_start", "deploy_end"
POST_START, POST_END = "post_deployment_start", "post_deployment_end"
POINTS = (PRE_START, PRE_END, DEPLOY_START, DEPLOY_END, POST_START, POST_END)
"""The points between stages, in order. The body of the workflow comes right after ``deploy_start``."""
NO_TIES = Ties()


@frozen
class Vertices:
    """A task or a point between stages, with its first call (``head``) and its last call (``tail``) on each instance.

    A *vertex* is one such call on one instance.
    """

    id: str
    ties: Ties
    head: Block
    tail: Block

    @property
    def is_point(self) -> bool:
        """True for a point between stages, which belongs to no instance."""
        return self.head.kind is SubjectKind.NONE

    @property
    def is_master(self) -> bool:
        """True for a task of the engine's own machine."""
        return self.head.kind is SubjectKind.DEPLOYMENT

    @property
    def who(self) -> np.ndarray:
        """Numbers of the instances that run the task, int32, ascending.

        The array is empty for a point, and for a task of the engine's own machine.
        """
        return self.head.subjects if self.head.kind is SubjectKind.INSTANCE else self.head.subjects[:0]


Part: TypeAlias = tuple[Vertices, np.ndarray]
"""A task, and the positions of some of its vertices."""


def fitting(name: str, ids: Iterable[str], *, is_pattern: bool = False) -> list[str]:
    """Return the ids that a name selects: the equal id, or the ids that begin with a match of a regular expression.

    The name is an expression if ``is_pattern`` is true or if it has the form ``/like this/``.

    >>> fitting("/data(base)?$/", ["data", "database", "databases"]), fitting("web", ["db"])
    (['data', 'database'], [])
    """
    if not is_pattern and len(name) > 2 and name[0] == name[-1] == "/":
        name, is_pattern = name[1:-1], True
    return [id for id in ids if (compiled(name).matches(id) if is_pattern else name == id)]


@mutable
class Tying:
    """Adds the edges for the dependencies of tasks, on one side of the workflow's body (before it, or after it).

    ``known`` is {id: tasks or points with this id}. ``bears`` is true if some instances may fail. Then a point between
    stages passes when the tasks before it have ended with any result, and the graph's bounds stop the execution if too
    many instances have failed. Otherwise a point passes only when all tasks before it are completed.
    """

    graph: TaskGraph
    known: Mapping[str, Sequence[Vertices]]
    masks: RoleMasks
    bears: bool = False

    def tie(self) -> None:
        """Add the edges for all dependencies of all tasks."""
        for vertices in [one for same in self.known.values() for one in same]:
            ties = vertices.ties
            for name in ties.requires:
                self._beside(name, vertices, needs=True)
            for name in ties.required_for:
                self._beside(name, vertices, needs=False)
            for dependency in ties.depends:
                self._across(dependency, vertices, needs=True)
            for dependency in ties.depended_by:
                self._across(dependency, vertices, needs=False)

    def _found(self, name: str, *, is_pattern: bool = False) -> list[Vertices]:
        if name in self.known and not is_pattern:
            return list(self.known[name])
        return [one for id in fitting(name, self.known, is_pattern=is_pattern) for one in self.known[id]]

    def _beside(self, name: str, own: Vertices, *, needs: bool) -> None:
        """Add edges between the task ``own`` and tasks called ``name`` on its instance, or the point called ``name``.

        With ``needs``, ``own`` waits for these tasks; otherwise these tasks wait for ``own``.
        """
        for other in self._found(name):
            if other is own:
                continue
            before, behind = (other, own) if needs else (own, other)
            if other.is_point or own.is_point or (other.is_master and own.is_master):
                self.graph.tie(self._reaching(before, before.tail.positions, behind), behind.head.positions)
            elif before.who is behind.who:
                self.graph.tie_pairs(before.tail.positions, behind.head.positions)
            else:
                common = np.intersect1d(before.who, behind.who, assume_unique=True)
                self.graph.tie_pairs(before.tail.at(common), behind.head.at(common))

    def _across(self, said: CrossDependency, own: Vertices, *, needs: bool) -> None:
        """Add edges between the vertices of a task (``own``) and the tasks that its cross-dependency ``said`` selects.

        ``said`` selects by the tasks' names and by the roles of their instances. With ``needs``, ``own`` waits for
        these tasks; otherwise they wait for ``own``. Raises: PL-F015 if a task on several instances would wait for itself.
        """
        if said.roles.scope == "self":
            for id in fitting(said.name, self.known, is_pattern=said.is_pattern):
                self._beside(id, own, needs=needs)
            return
        meant = [
            (one, self._positions(one, said.roles, needs=needs))
            for one in self._found(said.name, is_pattern=said.is_pattern)
        ]
        others = [(one, positions) for one, positions in meant if one is not own]
        itself = next((positions for one, positions in meant if one is own), np.empty(0, np.int64))
        if len(itself) > 1:
            raise ProblemsError([circle([own.id, own.id])])
        if needs:
            self._needs(said, own, others, itself)
        else:
            self._is_needed(said, own, others, itself)

    def _positions(self, one: Vertices, roles: Roles, *, needs: bool) -> np.ndarray:
        """Return the positions of a task's last calls (``needs``) or first calls, on the instances with the role."""
        block = one.tail if needs else one.head
        if one.is_point:
            return block.positions if roles.scope in {"all", "sync"} else block.positions[:0]
        if one.is_master:
            return block.positions if roles.scope == "master" else block.positions[:0]
        if roles.scope == "all":
            return block.positions
        found: np.ndarray = block.positions[self.masks.of(roles)[one.who]]
        return found

    def _needs(self, said: CrossDependency, own: Vertices, others: Sequence[Part], itself: np.ndarray) -> None:
        """Make the calls of the task ``own`` wait for calls of other tasks: for all of them, or for any one.

        ``others`` are tasks, each with the positions of its calls. If the dependency names ``own`` on one instance,
        ``itself`` is the position of that call; the calls of ``own`` on other instances wait for it, too.
        """
        heads = own.head.positions
        sources = [self._reaching(one, positions, own) for one, positions in others]
        if not len(itself):
            self.graph.tie(self._joined(said, sources), heads)
            return
        excepted = heads == itself - (own.tail.first - own.head.first)
        self.graph.tie(self._joined(said, [*sources, itself]), heads[~excepted])
        self.graph.tie(self._joined(said, sources), heads[excepted])

    def _is_needed(self, said: CrossDependency, own: Vertices, others: Sequence[Part], itself: np.ndarray) -> None:
        """Make calls of other tasks wait for the calls of the task ``own``: for all of them, or for any one.

        ``others`` are tasks, each with the positions of its calls. If the dependency names ``own`` on one instance,
        ``itself`` is the position of that call; it waits for the calls of ``own`` on other instances.
        """
        tails = own.tail.positions
        for one, heads in others:
            self.graph.tie(self._joined(said, [self._reaching(own, tails, one)]), heads)
        if len(itself):
            excepted = tails == itself + (own.tail.first - own.head.first)
            self.graph.tie(self._joined(said, [tails[~excepted]]), itself)

    def _reaching(self, before: Vertices, sources: np.ndarray, behind: Vertices) -> np.ndarray:
        """Return the positions for which ``behind`` waits, if it depends on the calls ``sources`` of ``before``.

        Normally these are the calls themselves. If failures are tolerated and ``behind`` is a point between stages, it
        is a new milestone, which passes when the calls have ended with any result.
        """
        if not self.bears or before.is_point or not behind.is_point or not len(sources):
            return sources
        return self.graph.milestone(sources, int(Mark.ENDED))

    def _joined(self, said: CrossDependency, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Return the positions to wait for: all given positions, or with the policy ``any`` one new milestone.

        The milestone passes when the first instance has done its calls.
        """
        found = [part for part in parts if len(part)]
        if not found:
            return np.empty(0, np.int64)
        if said.policy == "all":
            return found[0] if len(found) == 1 else np.concatenate(found)
        sources = found[0] if len(found) == 1 else self._by_instance(np.concatenate(found))
        return self.graph.milestone(sources, int(Mark.ANY)) if len(sources) > 1 else sources

    def _by_instance(self, positions: np.ndarray) -> np.ndarray:
        """Add one milestone for each instance, and return their positions.

        A milestone passes when the given calls of its instance are done.
        """
        subject = np.concatenate([block.subjects for block in self.graph.blocks])[positions]
        owners, place = np.unique(subject, return_inverse=True)
        block = self.graph.add(MILESTONE, SubjectKind.NONE, np.full(len(owners), -1))
        self.graph.tie_pairs(positions, block.positions[place])
        return block.positions


def circle(ids: Sequence[str]) -> Problem:
    """Return the problem PL-F015: tasks that wait for one another in a circle."""
    shown = " -> ".join(ids)
    return Problem(
        "PL-F015",
        f"tasks wait for one another in a circle: {shown}",
        "take one of these dependencies out of deployment_tasks.yaml: requires, required_for, cross-depends or cross-depended-by",
    )
