"""A large graph is laid into the arena without a second copy of its columns beside it."""

import tracemalloc
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.arena_layout import NewGraph
from phaseline.engine.columns import Columns, Counted, Like, RepeatedValues, Shifted
from phaseline.engine.dependency_counts import count_into, recount
from phaseline.engine.scheduler import Scheduler
from phaseline.engine.status_transitions import LOST, UNMET
from phaseline.lang.arrays import every, some
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import EntryStatus, Mark

ENTRIES = 200_000
MOST_BESIDE = 1
"""Bytes an entry that laying a graph may need beside what stays. Counts of needs, kinds and marks took 7 once."""
MOST_TO_GO_ON = 8
"""Bytes an entry for counting what is met where statuses are given."""
MOST_TO_BEGIN = 1.5
"""Bytes an entry for finding those that may begin, of which there are few. Answers about all of them took 3."""


def chain(count: int) -> Graph:
    return Graph(
        "install",
        (Step("create", SubjectKind.INSTANCE, 0, count),),
        (Policy(LaneSpec("create"), repeatable=True),),
        subject=np.arange(count, dtype=np.int32),
        policy=np.zeros(count, np.uint16),
        marks=np.zeros(count, np.uint8),
        ptr=np.minimum(np.arange(count + 1), count - 1).astype(np.int32),
        idx=np.arange(1, count, dtype=np.int32),
    )


def test_laying_a_large_graph_needs_little_beside_the_columns_that_stay() -> None:
    arena, graph = Scheduler().arena, chain(ENTRIES)
    tracemalloc.start()
    arena.add([NewGraph(graph, 1, 1, 1)])
    stays, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (peak - stays) / ENTRIES < MOST_BESIDE
    assert arena.idx.tolist() == graph.idx.tolist()


def test_a_shifted_column_is_written_with_its_offset() -> None:
    columns = Columns({"a": np.int32})
    columns.extend(3, {"a": 7})
    columns.extend(2, {"a": Shifted(np.array([1, 2], np.uint16), 70_000)})
    columns.put(0, 2, {"a": Shifted(np.array([5, 6], np.uint16), 0)})
    assert columns.views()["a"].tolist() == [5, 6, 7, 70_001, 70_002]
    assert len(Shifted(np.zeros(4), 1)) == 4


def test_finding_what_may_begin_needs_no_column() -> None:
    arena = Scheduler().arena
    (slot,) = arena.add([NewGraph(chain(ENTRIES), 1, 1, 1)])
    tracemalloc.start()
    arena.start([slot])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / ENTRIES < MOST_TO_BEGIN
    assert [positions.tolist() for positions in arena.released] == [[0]]


def test_going_on_counts_what_completed_without_a_column_of_edges() -> None:
    """The first half of a graph has completed, as a crash leaves it. Edges were taken one by one once: 16 bytes an entry."""
    arena, graph = Scheduler().arena, chain(ENTRIES)
    (slot,) = arena.add([NewGraph(graph, 1, 1, 1)])
    arena.status[: ENTRIES // 2] = EntryStatus.COMPLETED
    tracemalloc.start()
    recount(arena, slot, graph)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / ENTRIES < MOST_TO_GO_ON
    assert not some(arena.unmet[: ENTRIES // 2 + 1])
    assert every(arena.unmet[ENTRIES // 2 + 1 :] == 1)


@given(st.integers(0, 10_000), st.integers(1, 40), st.sampled_from([1, 40]))
def test_what_is_unmet_and_lost_after_a_restart_follows_from_every_status(seed: int, count: int, repeated: int) -> None:
    """Statuses in stretches and one by one, tolerant entries among them; held against the table of rules."""
    random = np.random.default_rng(seed)
    statuses = random.integers(0, len(EntryStatus), count).repeat(repeated).astype(np.uint8)
    marks = (random.integers(0, 2, len(statuses)) * Mark.TOLERANT).astype(np.uint8)
    edges = [random.integers(low + 1, len(statuses), 2).tolist() for low in range(len(statuses) - 1)] + [[]]
    graph = replace(
        chain(len(statuses)),
        marks=marks,
        ptr=np.cumsum([0, *map(len, edges)]).astype(np.int32),
        idx=np.array([target for targets in edges for target in targets], np.int32),
    )
    arena = Scheduler().arena
    arena.add([NewGraph(chain(7), 1, 1, 1)])
    (slot,) = arena.add([NewGraph(graph, 2, 1, 1)])
    low = slot.base
    arena.status[low:] = statuses
    recount(arena, slot, graph)
    unmet, lost = [0] * len(statuses), [0] * len(statuses)
    for entry, targets in enumerate(edges):
        for target in targets:
            unmet[target] += UNMET[statuses[entry], int(marks[entry] != 0)]
            lost[target] += LOST[statuses[entry], int(marks[entry] != 0)]
    assert (arena.unmet[low:].tolist(), arena.lost[low:].tolist()) == (unmet, lost)
    held = statuses.tolist()
    assert arena.slot_unsure[slot.number] == held.count(EntryStatus.UNSURE)
    assert arena.slot_open[slot.number] == sum(status < EntryStatus.UNSURE for status in held)


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.integers(0, 300_000), st.integers(1, 90_000), st.booleans()), min_size=1, max_size=4),
    st.sampled_from([1, -1]),
)
def test_needs_are_counted_however_edges_lie(seed: int, parts: list[tuple[int, int, bool]], change: int) -> None:
    """Stretches that count up, close together and far apart, in pieces of any of these."""
    random = np.random.default_rng(seed)
    stretches = [
        np.arange(first, first + count) if is_even else random.integers(first, 400_000, count)
        for first, count, is_even in parts
    ]
    targets = np.concatenate(stretches).astype(np.int32)
    column = np.full(400_000, 7, np.int32)
    count_into(column, targets, change)
    assert np.array_equal(column, 7 + change * np.bincount(targets, minlength=400_000))


def test_counted_runs_and_like_columns_replace_what_was_there() -> None:
    columns = Columns({"a": np.int32, "b": np.int32, "c": np.uint8})
    values = {"a": Counted(np.array([0, 2, 2], np.int32)), "b": Like("a"), "c": RepeatedValues([(4, 1), (5, 2)])}
    columns.extend(3, values)
    columns.extend(1, {"a": 9, "b": 9, "c": 9})
    columns.put(0, 3, {**values, "a": Counted(np.array([1], np.int32))})
    views = {name: view.tolist() for name, view in columns.views().items()}
    assert views == {"a": [0, 1, 0, 9], "b": [0, 1, 0, 9], "c": [4, 5, 5, 9]}
