"""The layout of graphs in the arena: each graph has a slot, and the columns of all graphs are joined in arena columns.

The store keeps the statuses of a graph as pages; the number of a graph's first page is its slot's ``first_page``.
"""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.engine.columns import ZERO, Counted, Like, RepeatedValues, Shifted
from phaseline.engine.status_transitions import BLOCKED
from phaseline.lang.fast_dataclasses import mutable
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.execution.events import PageWritten
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import PAGE_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.engine.arena import Arena
    from phaseline.model.graph.functions import Functions
    from phaseline.model.graph.graph import Bound, Graph, Policy, Step

COLUMNS = {
    "status": np.uint8,
    "marks": np.uint8,
    "kind": np.uint8,
    "subject": np.int32,
    "policy": np.int32,
    "unmet": np.int32,
    "needs": np.int32,
    "owner": np.int32,
    "end": np.int32,
    "lost": np.int32,
    "attempts": np.int32,
    "generations": np.int32,
    "due": np.int64,
}
"""{column of entries: dtype}. ``owner`` is the open batch that the entry belongs to, or 0 if there is none.

``policy`` is the row of the entry's policy in ``PolicyRows``. ``end`` is the index in ``idx`` where the entry's edges
end. Columns that mostly stay zero come last, so that the system need not provide memory for them.
"""


_PAGE = partial(tuple.__new__, PageWritten)
"""Build a ``PageWritten`` from a tuple, like ``PageWritten._make`` but without a Python call for each."""
SLOT_COLUMNS = dict.fromkeys(
    ("base", "open", "unsure", "first_page", "graph", "execution", "deployment", "policy_base"), np.int64
)
"""{column of graphs: dtype}, in the order of the slots. ``open`` is the number of a graph's entries that may still change."""

KIND_BYTES = tuple(bytes([kind]) for kind in SubjectKind)
"""The byte that is stored for each kind of subject; numpy is slow with members of an enumeration."""


COUNTED_FROM = 10_000
"""Number of edges from which on needs are counted directly in the arena, because a separate column takes more memory."""


class NewGraph(NamedTuple):
    """A graph to be added to the arena, with its execution and deployment."""

    graph: Graph
    graph_id: int
    execution: int
    deployment: int
    functions: Functions | None = None


@mutable
class GraphSlot:
    """One graph in the arena: the ``number``-th, with entries from ``base`` to ``end`` - 1 and pages from ``first_page`` on."""

    graph_id: int
    execution: int
    deployment: int
    name: str
    steps: tuple[Step, ...]
    number: int
    base: int
    end: int
    first_page: int
    policy_base: int
    policies: tuple[Policy, ...]
    attempt: int = 0
    group: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    bounds: tuple[Bound, ...] = ()
    functions: Functions | None = None

    @property
    def page_count(self) -> int:
        """Number of pages (rows of the store) that hold the graph's statuses."""
        return -(-(self.end - self.base) // PAGE_ENTRIES)


class PolicyRows:
    """The policy tables of all graphs, one after the other; graphs with equal tables share rows."""

    def __init__(self) -> None:
        """Create the object without tables."""
        self.rows: list[Policy] = []
        self._bases: dict[tuple[Policy, ...], int] = {}
        self._latest: tuple[tuple[Policy, ...], int] = ((), 0)

    def base_of(self, policies: tuple[Policy, ...]) -> int:
        """Return the number of the first row of the table with these policies; add the table if it is new."""
        latest, base = self._latest
        if latest is policies:  # many executions share the table, so it need not even be hashed
            return base
        base = self._bases.setdefault(policies, len(self.rows))
        if base == len(self.rows):
            self.rows.extend(policies)
        self._latest = policies, base
        return base


class Laid(NamedTuple):
    """Columns to be added to the arena: columns of entries, the targets of edges (``idx``), and columns of graphs."""

    entries: dict[str, Any]
    idx: np.ndarray | Shifted
    graphs: dict[str, Any]


def layout(slots: Sequence[GraphSlot], graphs: Sequence[Graph], edges: int) -> Laid:
    """Return the columns of graphs that have these slots. ``edges`` is the number of edges already in the arena."""
    if len(slots) == 1:
        return _layout_one(slots[0], graphs[0], edges)
    counts = np.array([len(graph) for graph in graphs])
    edge_counts = np.array([len(graph.idx) for graph in graphs])
    bases = np.array([slot.base for slot in slots])
    policy_bases = np.array([slot.policy_base for slot in slots])
    low, count = slots[0].base, int(counts.sum())
    steps = [step for graph in graphs for step in graph.steps]
    idx = joined([graph.idx for graph in graphs], np.int32) + np.repeat(bases, edge_counts)
    entries = _blocked(
        marks=joined([graph.marks for graph in graphs], np.uint8),
        needs=np.bincount(idx - low, minlength=count),
        kind=np.repeat(np.array([step.kind for step in steps], np.uint8), [step.count for step in steps]),
        subject=joined([graph.subject for graph in graphs], np.int32),
        policy=joined([graph.policy for graph in graphs], np.int32) + np.repeat(policy_bases, counts),
        end=joined([graph.ptr[1:] for graph in graphs], np.int64)
        + np.repeat(edges + np.cumsum(edge_counts) - edge_counts, counts),
    )
    columns = {
        "base": bases, "open": counts, "unsure": 0, "first_page": [slot.first_page for slot in slots],
        "graph": [slot.graph_id for slot in slots], "execution": [slot.execution for slot in slots],
        "deployment": [slot.deployment for slot in slots], "policy_base": policy_bases,
    }  # fmt: skip
    return Laid(entries, idx, columns)


def _layout_one(slot: GraphSlot, graph: Graph, edges: int) -> Laid:
    """Return the columns of a single graph, without the cost of joining columns."""
    is_large = len(graph.idx) >= COUNTED_FROM
    kind: np.ndarray | RepeatedValues = (
        RepeatedValues([(int(step.kind), step.count) for step in graph.steps])
        if is_large
        else np.frombuffer(b"".join([KIND_BYTES[step.kind] * step.count for step in graph.steps]), np.uint8)
    )
    entries = _blocked(
        marks=graph.marks,
        needs=Counted(graph.idx) if is_large else np.bincount(graph.idx, minlength=len(graph)).astype(np.int32),
        kind=kind,
        subject=graph.subject,
        policy=Shifted(graph.policy, slot.policy_base),
        end=Shifted(graph.ptr[1:], edges),
    )
    columns = {
        "base": slot.base, "open": len(graph), "unsure": 0, "first_page": slot.first_page,
        "graph": slot.graph_id, "execution": slot.execution, "deployment": slot.deployment, "policy_base": slot.policy_base,
    }  # fmt: skip
    return Laid(entries, Shifted(graph.idx, slot.base), columns)


def _blocked(needs: np.ndarray | Counted, **columns: np.ndarray | Shifted | RepeatedValues) -> dict[str, Any]:
    """Return all columns for new entries, which are blocked and have all needs unmet."""
    assert BLOCKED == ZERO
    untouched = dict.fromkeys(("status", "lost", "attempts", "generations", "due", "owner"), ZERO)
    return {**untouched, "unmet": needs, "needs": Like("unmet"), **columns}


def one_page(slot: GraphSlot, page: int, status: memoryview) -> PageWritten:
    """Return the contents of a page; ``page`` is its number among the pages of all graphs."""
    place = page - slot.first_page
    low = slot.base + place * PAGE_ENTRIES
    return PageWritten(slot.graph_id, place, bytes(status[low : min(low + PAGE_ENTRIES, slot.end)]))


def written(arena: Arena, pages: np.ndarray) -> list[PageWritten]:
    """Return the contents of many pages, given in ascending order; fast even for ten thousand graphs of one page each."""
    numbers = arena.slot_first_page.searchsorted(pages, side="right") - 1
    places = pages - arena.slot_first_page[numbers]
    ends = np.append(arena.slot_base[1:], len(arena))[numbers]
    lows = arena.slot_base[numbers] + places * PAGE_ENTRIES
    highs = np.minimum(lows + PAGE_ENTRIES, ends)
    first, last = int(lows[0]), int(highs[-1])
    held: memoryview | bytes = arena.cells.status[first:last]
    if last - first <= len(pages) * PAGE_ENTRIES:
        held = bytes(held)  # copied once, then cut
    parts = map(held.__getitem__, map(slice, (lows - first).tolist(), (highs - first).tolist()))
    columns = arena.slot_graph[numbers].tolist(), places.tolist(), map(bytes, parts)
    return list(map(_PAGE, zip(*columns, strict=True)))


def stretches(slots: Sequence[GraphSlot]) -> list[tuple[int, int]]:
    """Return (first position, end) of each range of entries that the slots cover; adjacent slots form one range."""
    found: list[tuple[int, int]] = []
    low = high = -1
    for slot in slots:
        if slot.base != high:
            found.append((low, high))
            low = slot.base
        high = slot.end
    return [*found[1:], (low, high)] if found else []


def joined(columns: Sequence[np.ndarray], dtype: type[np.generic]) -> np.ndarray:
    """Concatenate arrays and convert them to ``dtype``."""
    if len(columns) == 1:
        return columns[0].astype(dtype, copy=False)
    return np.concatenate(columns).astype(dtype, copy=False) if columns else np.empty(0, dtype)
