"""Details of many executions, graphs and deployments, read by one statement.

A list that shows something of many executions asks for all of it at once, instead of asking a store for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from phaseline.lang.fast_dataclasses import altered, frozen

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import (
        BatchRow,
        DeploymentRow,
        EventRow,
        ExecutionRow,
        GraphRow,
        LaneStatistics,
        NoteRow,
        RequestRow,
    )

T = TypeVar("T")


class Decoded(Generic[T]):
    """A stored value that is decoded when it is first used, so that a damaged one hides no other."""

    __slots__ = ("_decode", "_found")

    def __init__(self, decode: Callable[[], T]) -> None:
        """``decode`` returns the value, or raises the problem of a damaged one."""
        self._decode = decode
        self._found: tuple[T] | None = None

    def __call__(self) -> T:
        """Return the value. Raises: PL-S003 and the errors of damaged values."""
        if self._found is None:
            self._found = (self._decode(),)
        return self._found[0]


@frozen
class BatchRange:
    """The ids of batches that may have members of an execution: above ``after``, and up to ``last`` unless it is 0."""

    after: int
    last: int


@frozen
class DetailQuery:
    """Which details are read.

    Of executions, by number: ``graphs_of`` (with the stored statuses of their entries), ``events_of`` (of these
    ``event_types``), ``requests_of``; ``batches_of`` is {execution: range of its batches}. Of deployments, by number:
    ``graphs_within`` (of all their executions), ``rounds_of`` (graphs of their open executions and of the latest one),
    ``topologies_of``, ``inputs_of``, ``states_of`` (with the names of states of resources), ``executions_of`` (or ``only_open`` ones);
    ``documents_of`` is {deployment: numbers of instances}. Of graphs, by id: ``columns_of`` (entries and edges),
    ``notes_of``, ``contexts_of`` (columns, executions, deployments and topologies). ``with_columns``: also those of the
    graphs that are selected by executions and deployments. ``lanes``: statistics of these, with ``last_calls`` batches.
    ``open_batches``, ``open_requests``: all open batches and unanswered requests.
    """

    graphs_of: Collection[int] = ()
    events_of: Collection[int] = ()
    event_types: Collection[str] = ()
    requests_of: Collection[int] = ()
    batches_of: Mapping[int, BatchRange] = field(default_factory=dict)
    with_columns: bool = False
    columns_of: Collection[int] = ()
    notes_of: Collection[int] = ()
    contexts_of: Collection[int] = ()
    topologies_of: Collection[int] = ()
    inputs_of: Collection[int] = ()
    states_of: Collection[int] = ()
    executions_of: Collection[int] = ()
    only_open: bool = False
    graphs_within: Collection[int] = ()
    rounds_of: Collection[int] = ()
    documents_of: Mapping[int, Sequence[int]] = field(default_factory=dict)
    lanes: Collection[str] = ()
    last_calls: int = 100
    open_batches: bool = False
    open_requests: bool = False


Kind = Literal["deployment", "execution", "graph"]
_NUMBERS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "deployment",
        ("topologies_of", "inputs_of", "states_of", "executions_of", "graphs_within", "rounds_of", "documents_of"),
    ),
    ("execution", ("graphs_of", "events_of", "requests_of", "batches_of")),
    ("graph", ("columns_of", "notes_of", "contexts_of")),
)
"""Which fields of a query have numbers of which kind."""


def restricted(wanted: DetailQuery, strange: Callable[[Kind, Iterable[int]], Collection[int]]) -> DetailQuery:
    """Return the query without numbers of rows that belong to others; ``strange`` returns those among some numbers."""
    changed: dict[str, Any] = {}
    for kind, fields in _NUMBERS:
        given = {name: numbers for name in fields if (numbers := getattr(wanted, name))}
        others = strange(kind, set().union(*given.values())) if given else ()
        for name, numbers in given.items() if others else ():
            left = [number for number in numbers if number not in others]
            changed[name] = {number: numbers[number] for number in left} if isinstance(numbers, Mapping) else left
    return altered(wanted, **changed) if changed else wanted


@frozen
class Details:
    """What was read. Mappings lack what does not exist.

    By execution: ``graphs`` in the order of rounds, ``ranges`` of batches, ``events``, ``requests``. By graph:
    ``statuses`` (uint8 by position), ``columns``, ``notes`` by position, ``batches`` and ``open_batches`` by id. By deployment:
    ``topologies``, ``inputs``, ``states`` (uint8 by instance), ``state_names``, ``executions``, ``documents``, ``latest`` (number of
    the latest execution, of ``rounds_of``), ``deployments`` (rows, of ``contexts_of``). ``owners`` is {graph: row of its
    execution}, of the graphs in ``contexts_of``. ``lanes`` is {lane: statistics}. ``open_batches`` and ``open_requests`` are
    None unless they were read. ``held``: see ``IncarnationShelf.held``, with ``open_requests``.
    ``has_schedules``: whether there are schedules, with ``open_requests``, too.
    """

    graphs: Mapping[int, Sequence[GraphRow]] = field(default_factory=dict)
    ranges: Mapping[int, BatchRange] = field(default_factory=dict)
    statuses: Mapping[int, Decoded[np.ndarray]] = field(default_factory=dict)
    columns: Mapping[int, Decoded[Graph]] = field(default_factory=dict)
    notes: Mapping[int, Decoded[Sequence[NoteRow]]] = field(default_factory=dict)
    batches: Mapping[int, Sequence[Decoded[BatchRow]]] = field(default_factory=dict)
    open_batches: Mapping[int, Sequence[Decoded[BatchRow]]] | None = None
    events: Mapping[int, Sequence[EventRow]] = field(default_factory=dict)
    requests: Mapping[int, Decoded[Sequence[RequestRow]]] = field(default_factory=dict)
    topologies: Mapping[int, Decoded[Topology]] = field(default_factory=dict)
    inputs: Mapping[int, Decoded[Mapping[str, Value]]] = field(default_factory=dict)
    states: Mapping[int, Decoded[np.ndarray]] = field(default_factory=dict)
    state_names: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    executions: Mapping[int, Sequence[ExecutionRow]] = field(default_factory=dict)
    owners: Mapping[int, ExecutionRow] = field(default_factory=dict)
    documents: Mapping[int, Decoded[Mapping[int, dict[str, Value]]]] = field(default_factory=dict)
    latest: Mapping[int, int] = field(default_factory=dict)
    deployments: Mapping[int, DeploymentRow] = field(default_factory=dict)
    lanes: Mapping[str, LaneStatistics] = field(default_factory=dict)
    open_requests: Decoded[Sequence[RequestRow]] | None = None
    held: int = 0
    has_schedules: bool = False
