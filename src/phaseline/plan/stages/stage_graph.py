"""Build graphs of consecutive stages: all entries of a stage together, then a milestone before the next stage.

Hooks need such graphs because their calls belong to no instance's sequence: ``build_stage_graph("pre hooks", stages)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import Mark

if TYPE_CHECKING:
    from phaseline.model.execution.pre_post import DeploymentCallKind

MILESTONE = "milestone"


@frozen
class StageCall:
    """The calls of one stage: one phase, called once for each of the ``subjects``, with ``policy``.

    ``subjects`` are numbers of instances, or of the other things that ``kind`` names. With ``tolerant``, a failure counts
    as done. With ``however``, the next stage begins when all calls have ended, with any result.
    """

    phase: str
    policy: Policy
    subjects: np.ndarray
    kind: SubjectKind = SubjectKind.INSTANCE
    tolerant: bool = False
    however: bool = False


def on_deployment(
    phase: str, policy: Policy, why: DeploymentCallKind, *, tolerant: bool = False, however: bool = False
) -> StageCall:
    """Return a stage with one call for the deployment itself. ``why`` is the kind of the call, such as ``BEFORE``."""
    return StageCall(phase, policy, np.array([why], np.int32), SubjectKind.DEPLOYMENT, tolerant, however)


def build_stage_graph(name: str, stages: Sequence[StageCall]) -> Graph:
    """Return the graph of the stages: the entries of each stage, and a milestone between neighbouring stages.

    A milestone passes when the stage before it is done. Stages without subjects are left out. An empty graph settles at
    once.
    """
    wanted = [stage for stage in stages if len(stage.subjects)]
    steps: list[Step] = []
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    followers: list[np.ndarray] = []
    policies: dict[Policy, int] = {}
    nothing = policies.setdefault(Policy(LaneSpec("")), 0) if len(wanted) > 1 else -1
    at = 0
    for place, stage in enumerate(wanted):
        count, is_last = len(stage.subjects), place == len(wanted) - 1
        number = policies.setdefault(stage.policy, len(policies))
        steps.append(Step(stage.phase, stage.kind, at, count))
        columns.append(_columns(stage.subjects, number, Mark.TOLERANT if stage.tolerant else 0))
        at += count
        followers.append(np.full(count, -1 if is_last else at, np.int32))
        if is_last:
            break
        steps.append(Step(MILESTONE, SubjectKind.NONE, at, 1))
        mark = Mark.ABSENT | (Mark.ENDED if stage.however else 0)
        columns.append(_columns(np.array([-1], np.int32), nothing, mark))
        following = np.arange(at + 1, at + 1 + len(wanted[place + 1].subjects), dtype=np.int32)
        followers.append(following)
        at += 1
    return _graph(name, tuple(steps), tuple(policies), columns, followers)


def _columns(subjects: np.ndarray, policy: int, marks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(subjects)
    return subjects.astype(np.int32), np.full(count, policy, np.uint16), np.full(count, marks, np.uint8)


def _graph(
    name: str,
    steps: tuple[Step, ...],
    policies: tuple[Policy, ...],
    columns: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    followers: Sequence[np.ndarray],
) -> Graph:
    """Return the graph of the steps. ``followers`` lists, for each step, the positions that wait for its entries.

    For a step of calls, it has the milestone after each call, -1 for none. For a milestone, it has all entries that
    wait for the milestone.
    """
    degree: list[np.ndarray] = []
    idx: list[np.ndarray] = []
    for step, behind in zip(steps, followers, strict=True):
        is_milestone = step.kind is SubjectKind.NONE
        degree.append(np.array([len(behind)]) if is_milestone else (behind >= 0).astype(np.int64))
        idx.append(behind if is_milestone else behind[behind >= 0])
    empty = np.empty(0, np.int32)
    ptr = np.zeros(sum(step.count for step in steps) + 1, np.int32)
    np.cumsum(np.concatenate([empty, *degree]), out=ptr[1:])
    subject, policy, marks = (
        (np.concatenate(parts) for parts in zip(*columns, strict=True)) if columns else (empty,) * 3
    )
    return Graph(
        name,
        steps,
        policies,
        subject,
        policy.astype(np.uint16),
        marks.astype(np.uint8),
        ptr,
        np.concatenate([empty, *idx]).astype(np.int32),
    )
