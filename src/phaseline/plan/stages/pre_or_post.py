"""Decide which granular tasks run before the body of a workflow, and which after it (F46).

The body comes right after the point ``deploy_start``. Three kinds of tasks run before the body: tasks for which
``deploy_start`` waits; tasks that wait for ``pre_deployment_start`` but not for ``deploy_start``; and tasks for which a
task of these two kinds waits. Waiting may be indirect. All other tasks run after the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.packages.package import POST, PRE, STAGES
from phaseline.model.packages.stage_tasks import GROUP, Ties
from phaseline.plan.stages.task_dependencies import DEPLOY_START, NO_TIES, POINTS, PRE_START, fitting

if TYPE_CHECKING:
    from phaseline.model.packages.package import CrossDependency
    from phaseline.model.packages.stage_tasks import ExecutionTask


def ties_of(granular: Sequence[ExecutionTask]) -> dict[str, Ties]:
    """Return {id of a task that is not a group: its dependencies}.

    They include the dependencies of the groups that contain the task, and of its stage if the task names one.
    """
    groups: dict[str, list[Ties]] = {}
    for task in granular:
        for id in task.ties.tasks if task.type == GROUP and task.ties is not None else ():
            groups.setdefault(id, []).append(task.ties or NO_TIES)
    found = {}
    for task in granular:
        if task.type != GROUP:
            ties = task.ties or NO_TIES
            for group in groups.get(task.id, ()):
                ties = _with(ties, group.requires, group.required_for)
            stage = ties.stage.partition("/")[0]
            found[task.id] = _with(ties, (f"{stage}_start",), (f"{stage}_end",)) if stage in STAGES else ties
    return found


def _with(ties: Ties, requires: tuple[str, ...], required_for: tuple[str, ...]) -> Ties:
    return altered(ties, requires=(*ties.requires, *requires), required_for=(*ties.required_for, *required_for))


def sided(ties: Mapping[str, Ties]) -> Mapping[str, frozenset[str]]:
    """Return {stage: ids of granular tasks and points}: ``pre_deployment`` has those before the body of the workflow.

    ``post_deployment`` has those after the body.

    >>> found = sided({"a": Ties(required_for=("pre_deployment_end",)), "b": Ties(requires=("a",)), "c": Ties()})
    >>> "a" in found["pre_deployment"], sorted(found["post_deployment"] - set(POINTS))
    (True, ['b', 'c'])
    """
    needs = _needs(ties)
    behind_of = _turned(needs)
    hanging = _reached([PRE_START], behind_of) - _reached([DEPLOY_START], behind_of)
    early = _reached([DEPLOY_START, *hanging], needs)
    return {PRE: frozenset(early), POST: frozenset(needs.keys() - early)}


def segments(ties: Mapping[str, Ties]) -> Mapping[str, int]:
    """Return {id of a task or point: number of points before it}.

    Tasks with equal numbers run between the same two points.

    >>> segments({"a": Ties(), "b": Ties(requires=("deploy_end",))})["b"]
    4
    """
    behind_of = _turned(_needs(ties))
    found = dict.fromkeys(behind_of, 0)
    for point in POINTS:
        for id in _reached([point], behind_of) - {point}:
            found[id] += 1
    return found


def depths_by_needs(ties: Mapping[str, Ties], known: Mapping[str, int]) -> dict[str, int]:
    """Return {id: depth}: the depth in ``known`` if there is one, otherwise 1 + the depth of its deepest need.

    >>> depths_by_needs({"a": Ties(requires=("b",)), "b": Ties()}, {})["a"]
    1
    """
    needs, found = _needs(ties), dict(known)
    for start in needs:
        way = [start]
        entered = {start}
        while way:
            id = way[-1]
            open_ones = [one for one in needs[id] if one not in found and one not in entered]
            if id not in found and open_ones:
                way.append(open_ones[0])
                entered.add(open_ones[0])
                continue
            if (
                id not in found
            ):  # entered but not finished: it needs this task in turn, which on different instances is no circle
                found[id] = max((found[one] + 1 for one in needs[id] if one in found), default=0)
            way.pop()
    return found


def _needs(ties: Mapping[str, Ties]) -> dict[str, set[str]]:
    """Return {id of a task or a point: ids that it waits for}."""
    needs: dict[str, set[str]] = {id: set() for id in (*POINTS, *ties)}
    for before, behind in pairwise(POINTS):
        needs[behind].add(before)
    for id, tied in ties.items():
        for name, is_pattern in _names(tied.requires, tied.depends):
            needs[id].update(_fitting(name, needs, is_pattern=is_pattern))
        for name, is_pattern in _names(tied.required_for, tied.depended_by):
            for other in _fitting(name, needs, is_pattern=is_pattern):
                needs[other].add(id)
    return needs


def _turned(needs: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return {id: ids that wait for it}."""
    behind_of: dict[str, set[str]] = {id: set() for id in needs}
    for id, wanted in needs.items():
        for other in wanted:
            behind_of[other].add(id)
    return behind_of


def _names(plain: Iterable[str], across: Iterable[CrossDependency]) -> list[tuple[str, bool]]:
    return [*((name, False) for name in plain), *((one.name, one.is_pattern) for one in across)]


def _fitting(name: str, ids: Mapping[str, object], *, is_pattern: bool) -> list[str]:
    return [name] if name in ids and not is_pattern else fitting(name, ids, is_pattern=is_pattern)


def _reached(start: Iterable[str], steps: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the ids in ``start`` and all ids to which ``steps`` ({id: next ids}) lead from them, directly or not."""
    found = set(start)
    waiting = list(found)
    while waiting:
        for id in steps[waiting.pop()]:
            if id not in found:
                found.add(id)
                waiting.append(id)
    return found
