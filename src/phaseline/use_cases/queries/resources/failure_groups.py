"""Group failures with the same message, to show and retry them as one: five hundred nodes, one quota error (X13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.graph.status import EntryStatus
from phaseline.model.problems.fingerprint import group_key
from phaseline.use_cases.queries.resources.phase_entries import message_of

if TYPE_CHECKING:
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
    from phaseline.use_cases.queries.resources.state_stays import Stay

NAMED = 5


@frozen
class FailureGroup:
    """Resources on which the same phase has failed with the same message.

    ``message`` is the message of the first of them; messages count as the same if only names and numbers differ.
    ``key`` names the group in ``resources retry --group``; it depends only on phase and message.
    """

    key: str
    phase: str
    state: str
    message: str
    count: int
    clusters: Sequence[str]
    resources: Sequence[str]


@mutable
class GroupedFailures:
    """A group of failures while it is collected.

    ``members``: (index of the cluster, resource number) pairs; ``first``: the smallest pair, from which ``message``
    comes.
    """

    phase: str
    state: str
    message: str
    first: tuple[int, int]
    members: list[tuple[int, int]] = field(default_factory=list)


def gather(chosen: Sequence[tuple[ClusterSnapshot, np.ndarray]]) -> dict[str, GroupedFailures]:
    """Return {key: group} of all failures in the present stays of the given resources."""
    found: dict[str, GroupedFailures] = {}
    for place, (snapshot, numbers) in enumerate(chosen):
        for stay, inside in snapshot.by_stay(numbers):
            present = inside[snapshot.newest[inside] == stay.execution]
            _gather_stay(snapshot, stay, present, place, found)
    return found


def _gather_stay(
    snapshot: ClusterSnapshot, stay: Stay, numbers: np.ndarray, place: int, found: dict[str, GroupedFailures]
) -> None:
    for phase in stay.phases:
        positions = stay.positions(phase, numbers)
        failed = np.flatnonzero(stay.status[positions] == EntryStatus.FAILED)
        for at in failed.tolist():
            number = int(numbers[at])
            message = message_of(stay.notes.get(int(positions[at])))
            key = group_key(phase, message, snapshot.name(number))
            group = found.setdefault(key, GroupedFailures(phase, stay.state, message, (place, number)))
            if (place, number) < group.first:
                group.first, group.message = (place, number), message
            group.members.append((place, number))


def groups(chosen: Sequence[tuple[ClusterSnapshot, np.ndarray]]) -> list[FailureGroup]:
    """Return the groups of equal failures among the given resources, the largest group first."""
    made = []
    for key, group in gather(chosen).items():
        members = sorted(set(group.members))
        names = [chosen[place][0].name(number) for place, number in members[:NAMED]]
        clusters = list(dict.fromkeys(chosen[place][0].row.name for place, _ in members))
        made.append(FailureGroup(key, group.phase, group.state, group.message, len(members), clusters, names))
    return sorted(made, key=lambda group: (-group.count, group.phase, group.message))
