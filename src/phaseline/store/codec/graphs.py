"""Conversion of a graph to the values of one row, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from phaseline.lang.fast_dataclasses import field_defaults
from phaseline.model.graph.graph import Bound, Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.store.codec.columns import decode_together, encode
from phaseline.store.codec.json_documents import require_known, to_text

GRAPH_FORMAT = 1
"""Latest format of graphs that this version reads; stored ones without a number have format 1."""
COLUMNS = ("steps", "policies", "subject", "policy", "marks", "ptr", "idx", "cohort")
"""Columns of the graph table that ``to_row`` fills and ``from_row`` reads, in this order."""
SUBJECT = COLUMNS.index("subject")
SHARED = ("steps", "policies", "policy", "marks", "ptr", "idx", "group", "bounds")
MOST_KEPT, MOST_ENTRIES_KEPT = 64, 100_000
"""Limits of the cache of ``GraphRows``: number of rows, and number of entries of the largest graph in it."""

_LANE_DEFAULTS = field_defaults(LaneSpec)
_POLICY_DEFAULTS = {name: default for name, default in field_defaults(Policy).items() if name != "lane"}


def to_row(graph: Graph) -> tuple[str | bytes, ...]:
    """Return a graph as the values of ``COLUMNS``."""
    return (
        to_text([[step.phase, int(step.kind), step.first, step.count] for step in graph.steps]),
        _policies_to_text(graph.policies, graph.bounds),
        *(encode(part) for part in (graph.subject, graph.policy, graph.marks, graph.ptr, graph.idx, graph.group)),
    )


class GraphRows:
    """Makes the rows of successive graphs; reuses the columns that a graph shares with the last graph of the same name.

    Sharing is common: resources that enter a state in calls of equal size give graphs that differ only in their
    subjects.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[Graph, tuple[str | bytes, ...]]] = {}

    def of(self, graph: Graph) -> tuple[str | bytes, ...]:
        """Return a graph as the values of ``COLUMNS``."""
        before, row = self._last.get(graph.name, (None, ()))
        if before is not None and all(getattr(before, name) is getattr(graph, name) for name in SHARED):
            return (*row[:SUBJECT], encode(graph.subject), *row[SUBJECT + 1 :])
        row = to_row(graph)
        if len(graph) <= MOST_ENTRIES_KEPT:
            if len(self._last) >= MOST_KEPT:
                self._last.clear()
            self._last[graph.name] = graph, row
        return row


def from_row(name: str, row: Sequence[Any]) -> Graph:
    """Return the graph whose values of ``COLUMNS`` are given."""
    subject, policy, marks, ptr, idx, group = decode_together(row[2:])
    return Graph(
        name=name,
        steps=steps_from_text(row[0]),
        policies=_policies_from_text(row[1]),
        bounds=_bounds_from_text(row[1]),
        subject=subject,
        policy=policy,
        marks=marks,
        ptr=ptr,
        idx=idx,
        group=group,
    )


def steps_from_text(text: str) -> tuple[Step, ...]:
    """Decode only the steps of a graph, which are all that a display of progress needs."""
    return tuple(Step(phase, SubjectKind(kind), first, count) for phase, kind, first, count in json.loads(text))


def _policies_to_text(policies: Sequence[Policy], bounds: Sequence[Bound]) -> str:
    """Return policies as JSON: each lane once, then for each policy the index of its lane and its non-default fields.

    Bounds are added if there are any.
    """
    lanes: dict[LaneSpec, int] = {}
    told = []
    for policy in policies:
        lane = lanes.setdefault(policy.lane, len(lanes))
        told.append([lane, _differing(policy, _POLICY_DEFAULTS)])
    stored: dict[str, Any] = {"lanes": [_differing(lane, _LANE_DEFAULTS) for lane in lanes], "policies": told}
    if bounds:
        stored["bounds"] = [[bound.name, bound.groups, bound.failures] for bound in bounds]
    return to_text(stored)


def _policies_from_text(text: str) -> tuple[Policy, ...]:
    stored = json.loads(text)
    require_known(stored, GRAPH_FORMAT, "a graph")
    lanes = [LaneSpec(**lane) for lane in stored["lanes"]]
    return tuple(Policy(lanes[lane], **_with_tuples(told)) for lane, told in stored["policies"])


def _bounds_from_text(text: str) -> tuple[Bound, ...]:
    if '"bounds"' not in text:
        return ()
    return tuple(Bound(name, tuple(groups), failures) for name, groups, failures in json.loads(text).get("bounds", ()))


def _differing(value: LaneSpec | Policy, defaults: dict[str, Any]) -> dict[str, Any]:
    return {name: told for name, default in defaults.items() if (told := getattr(value, name)) != default}


def _with_tuples(told: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
