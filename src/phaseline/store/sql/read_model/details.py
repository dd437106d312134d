"""Details of many executions, graphs and deployments, read by one statement; decoded when they are first used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from phaseline.model.rows import details
from phaseline.model.rows.details import BatchRange, Decoded, DetailQuery, Details
from phaseline.model.rows.rows import EventRow, GraphRow
from phaseline.store.codec import graphs as graph_rows
from phaseline.store.codec import topologies
from phaseline.store.codec.columns import decode, from_pages, states_from
from phaseline.store.codec.json_documents import EMPTY, to_text
from phaseline.store.database.schema import IS_OPEN
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql.read_model import instance_columns, lanes
from phaseline.store.sql.read_model.one_statement import CHOSEN, LATEST, Part, Row, select_together

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.rows import BatchRow, ExecutionRow
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows

T = TypeVar("T")
MOST_RANGES = 32
"""Largest number of ranges of batches in a statement; if there are more, those nearest to one another are joined."""
MOST_PAIRS = 1_000
"""Largest number of documents that a statement names; if there are more, all documents of the deployments are read."""
Known = Callable[[int, int], "Topology | None"]
"""Returns a topology that is in memory, by deployment and version, or None."""


class _Reading:
    """Makes the parts of the statement that a query needs, and ``Details`` of the rows that they select."""

    def __init__(
        self,
        db: Connection,
        own: TenantRows,
        wanted: DetailQuery,
        known: Known,
        damaged: Callable[[str], ProblemsError],
    ) -> None:
        self._db, self._own = db, own
        self._known, self._damaged = known, damaged
        self._parts: list[Part] = []
        self._made: list[Callable[[list[Row]], Mapping[str, object]]] = []
        for add in (self._graphs, self._of_graphs, self._calls, self._of_executions, self._of_deployments):
            add(wanted)

    def read(self) -> Details:
        """Execute the statement."""
        fields: dict[str, Any] = {}
        for rows, make in zip(select_together(self._db, self._parts), self._made, strict=True):
            for name, value in make(rows).items():
                fields[name] = {**fields[name], **value} if isinstance(value, dict) and name in fields else value
        counts = fields.pop("counts", {})
        if "owners" in fields:
            owners = fields.pop("owner_rows")
            fields["owners"] = {graph: owners[number] for graph, number in fields["owners"].items() if number in owners}
        if "deployment_rows" in fields:
            named = reads.deployments_from(self._own, fields.pop("deployment_rows"), fields.pop("folder_rows"))
            fields["deployments"] = {row.number: row for row, _ in named}
        if "pages" in fields:
            pages = fields.pop("pages")
            fields["statuses"] = {
                graph: self._decoded(from_pages, count, pages.get(graph, ())) for graph, count in counts.items()
            }
        return Details(**fields)

    def _add(
        self, select: str, kinds: str, values: Sequence[object], make: Callable[[list[Row]], Mapping[str, object]]
    ) -> None:
        self._parts.append(Part(select, kinds, values))
        self._made.append(make)

    def _decoded(self, decode_: Callable[..., T], *values: object) -> Decoded[T]:
        def read() -> T:
            try:
                return decode_(*values)
            except ValueError as error:
                raise self._damaged(str(error)) from error

        return Decoded(read)

    # -- graphs with the statuses of their entries

    def _graphs(self, wanted: DetailQuery) -> None:
        conditions: list[str] = []
        values: list[object] = []
        if wanted.graphs_of:
            conditions.append(f"graph.execution {CHOSEN}")
            values.append(to_text(sorted(wanted.graphs_of)))
        if wanted.graphs_within:
            conditions.append(f"graph.execution in (select number from execution where deployment {CHOSEN})")
            values.append(to_text(sorted(wanted.graphs_within)))
        if wanted.rounds_of:
            which = to_text(sorted(wanted.rounds_of))
            conditions.append(
                f"""graph.execution in (select number from execution where {IS_OPEN} and deployment {CHOSEN}
                union all select {LATEST} from deployment where deployment.number {CHOSEN})"""
            )
            values += [which, which]
        if not conditions:
            return
        where = " or ".join(conditions)
        self._add(
            f"""select graph.id, graph.execution, graph.name, graph.attempt, entry_count, graph.created_at, after_batch,
            last_batch from graph join execution on execution.number = graph.execution where {where}""",
            "iitiiiii",
            values,
            self._graph_rows,
        )
        self._add(
            f"select graph, number, statuses from page where graph in (select graph.id from graph where {where})",
            "iib",
            values,
            lambda rows: {"pages": _grouped(rows)},
        )
        if wanted.with_columns:
            self._columns(where, values)
        if wanted.rounds_of:
            self._add(
                f"select deployment.number, coalesce({LATEST}, 0) from deployment where deployment.number {CHOSEN}",
                "ii",
                (to_text(sorted(wanted.rounds_of)),),
                lambda rows: {"latest": dict(rows)},
            )

    def _columns(self, where: str, values: Sequence[object]) -> None:
        self._add(
            f"select graph.id, graph.name, {', '.join(graph_rows.COLUMNS)} from graph where {where}",
            "itttbbbbbb",
            values,
            lambda rows: {"columns": {id: self._decoded(graph_rows.from_row, name, row) for id, name, *row in rows}},
        )

    def _graph_rows(self, rows: list[Row]) -> Mapping[str, object]:
        self._own.remember("graph", map(itemgetter(0), rows))
        graphs: dict[int, list[GraphRow]] = {}
        ranges: dict[int, BatchRange] = {}
        for *row, after, last in sorted(rows):
            known = GraphRow(*row)
            graphs.setdefault(known.execution, []).append(known)
            first = ranges.setdefault(known.execution, BatchRange(after, last))
            if after < first.after:
                ranges[known.execution] = BatchRange(after, last)
        return {"graphs": graphs, "ranges": ranges, "counts": {row[0]: row[4] for row in rows}}

    def _of_graphs(self, wanted: DetailQuery) -> None:
        if wanted.columns_of:
            self._columns(f"graph.id {CHOSEN}", (to_text(sorted(wanted.columns_of)),))
        if wanted.notes_of:
            self._add(
                f"""select graph, position, attempts, generation, due, message, error, result from note
                where graph {CHOSEN}""",
                "iiiiittt",
                (to_text(sorted(wanted.notes_of)),),
                lambda rows: {"notes": self._by_key(rows, reads.note_of, wanted.notes_of)},
            )
        if wanted.contexts_of:
            self._contexts((to_text(sorted(wanted.contexts_of)),))

    def _contexts(self, which: Sequence[object]) -> None:
        """Select what the graphs of other executions mean: their columns, executions, deployments and topologies."""
        owners = f"(select execution from graph where id {CHOSEN})"
        theirs = f"(select deployment from execution where number in {owners})"
        self._columns(f"graph.id {CHOSEN}", which)
        self._add(
            f"{reads.select_execution(self._own)} where execution.number in {owners}",
            reads.EXECUTION_KINDS,
            which,
            lambda rows: {"owner_rows": {row.number: row for row in reads.executions_from(self._own, rows)}},
        )
        self._add(
            f"select id, execution from graph where id {CHOSEN}", "ii", which, lambda rows: {"owners": dict(rows)}
        )
        rows_of, used = reads.deployment_parts(self._own, f" where deployment.number in {theirs}", which)
        self._add(rows_of.select, rows_of.columns, which, lambda rows: {"deployment_rows": rows})
        self._add(used.select, used.columns, which, lambda rows: {"folder_rows": rows})
        self._topologies(f"in {theirs}", which)

    # -- calls

    def _calls(self, wanted: DetailQuery) -> None:
        if wanted.batches_of:
            ranges = _joined(wanted.batches_of.values())
            within = " or ".join("(id > ? and id <= ?)" if last else "id > ?" for _, last in ranges)
            values = [bound for after, last in ranges for bound in ((after, last) if last else (after,))]
            self._add(
                # The sign keeps the index of executions from being used, of which there may be very many.
                f"""select {reads.BATCH} from batch where ({within}) and exists (select 1 from graph
                where graph.id between first_graph and last_graph and +graph.execution {CHOSEN})""",
                reads.BATCH_KINDS,
                (*values, to_text(sorted(wanted.batches_of))),
                lambda rows: {"batches": self._by_graph(rows)},
            )
        if wanted.open_batches:
            is_own, who = "", list[object]()
            if self._own.tenant is not None:
                is_own, who = f" and (graphs is not null or {reads.FIRST_IS_OWN})", [self._own.tenant]
            self._add(
                f"select {reads.BATCH} from batch where closed_at = 0{is_own}",
                reads.BATCH_KINDS,
                who,
                lambda rows: {"open_batches": self._by_graph(rows)},
            )
        if wanted.lanes:
            statistics = lanes.LaneRows(wanted.lanes, wanted.last_calls, self._own, self._batch_reader)
            for part, make in zip(statistics.parts(), (statistics.count, statistics.read), strict=True):
                self._add(part.select, part.columns, part.values, make)

    def _by_graph(self, rows: list[Row]) -> Mapping[int, Sequence[Decoded[BatchRow]]]:
        """Return {graph: batches with members of it, by id}. A batch of unreadable graphs is with its first and last."""
        found: dict[int, list[Decoded[BatchRow]]] = {}
        strange = self._strange_graphs(rows)
        read = self._batch_reader(rows)
        for row in sorted(rows, key=itemgetter(0)):
            batch = self._decoded(read, row)
            for graph in _graphs_in(row) - strange:
                found.setdefault(graph, []).append(batch)
        return found

    def _batch_reader(self, rows: Sequence[Row]) -> Callable[[Row], BatchRow]:
        """Return a function that reads one of these rows, without the members of other tenants."""
        strange = self._strange_graphs(rows)
        if not strange:
            return reads.batch_of
        return lambda row: reads.without(reads.batch_of(row), strange) or reads.batch_of(row)

    def _strange_graphs(self, rows: Sequence[Row]) -> set[int]:
        """Return the graphs of other tenants in batches with several graphs; those with one were found by the tenant."""
        shared = {graph for row in rows if row[9] is not None for graph in _graphs_in(row)}
        if self._own.tenant is None or not shared:
            return set()
        return {-number for number in self._own.own_all(self._db, "graph", sorted(shared)) if number < 0}

    # -- what belongs to executions

    def _of_executions(self, wanted: DetailQuery) -> None:
        if wanted.events_of:
            self._add(
                f"""select execution, sequence, at, instance, type, message, operation, actor from event
                where execution {CHOSEN} and type {CHOSEN}""",
                "iiiitttt",
                (to_text(sorted(wanted.events_of)), to_text(sorted(wanted.event_types))),
                lambda rows: {"events": _events(rows, wanted.events_of)},
            )
        if wanted.requests_of:
            self._add(
                f"{asking.REQUEST} where execution {CHOSEN}",
                asking.REQUEST_KINDS,
                (to_text(sorted(wanted.requests_of)),),
                lambda rows: {"requests": self._requests(rows, wanted.requests_of)},
            )

        if wanted.open_requests:
            where, values = self._own.where(asking.UNANSWERED, 0)
            self._add(
                f"{asking.REQUEST} where {where}{asking.UNANSWERED_ORDER}",
                asking.REQUEST_KINDS,
                (*values, asking.TAKEN_AT_ONCE),
                lambda rows: {"open_requests": self._decoded(_mapped, asking.request_of, sorted(rows))},
            )
            self._add("select held from store", "i", (), lambda rows: {"held": rows[0][0]})
            where, values = self._own.where("true")
            known = f"select case when exists (select 1 from schedule where {where}) then 1 else 0 end"
            self._add(known, "i", values, lambda rows: {"has_schedules": bool(rows[0][0])})

    def _requests(self, rows: list[Row], wanted: Iterable[int]) -> Mapping[int, object]:
        found: dict[int, list[Row]] = {number: [] for number in wanted}
        for row in sorted(rows, key=itemgetter(0)):
            found[row[5]].append(row)
        return {number: self._decoded(_mapped, asking.request_of, some) for number, some in found.items()}

    # -- what belongs to deployments

    def _of_deployments(self, wanted: DetailQuery) -> None:
        if wanted.topologies_of:
            self._topologies(CHOSEN, (to_text(sorted(wanted.topologies_of)),))
        if wanted.inputs_of:
            self._add(
                f"select deployment, inputs from blueprint where deployment {CHOSEN}",
                "it",
                (to_text(sorted(wanted.inputs_of)),),
                lambda rows: {"inputs": {number: self._decoded(json.loads, text) for number, text in rows}},
            )
        if wanted.states_of:
            which = (to_text(sorted(wanted.states_of)),)
            self._add(
                f"""select deployment.number, instance_count, coalesce(state_page.number, -1), state_page.states
                from deployment left join state_page on state_page.deployment = deployment.number
                where deployment.number {CHOSEN}""",
                "iiib",
                which,
                lambda rows: {"states": self._states(rows)},
            )
            self._add(
                f"select deployment, place, name from state_name where deployment {CHOSEN}",
                "iit",
                which,
                lambda rows: {
                    "state_names": dict.fromkeys(wanted.states_of, ()) | dict(instance_columns.names_from(rows))
                },
            )
        if wanted.executions_of:
            only = f" and execution.{IS_OPEN}" if wanted.only_open else ""
            self._add(
                f"{reads.select_execution(self._own)} where deployment {CHOSEN}{only}",
                reads.EXECUTION_KINDS,
                (to_text(sorted(wanted.executions_of)),),
                lambda rows: {"executions": _executions(reads.executions_from(self._own, rows), wanted.executions_of)},
            )
        if wanted.documents_of:
            where, values = _of_documents(wanted.documents_of)
            self._add(
                f"select deployment, instance, body from document where body <> '{EMPTY}' and {where}",
                "iit",
                values,
                lambda rows: {"documents": self._documents(rows, wanted.documents_of)},
            )

    def _topologies(self, which: str, values: Sequence[object]) -> None:
        columns = ", ".join(topologies.COLUMNS)
        self._add(
            f"""select topology.deployment, version, {columns}, body from topology
            join blueprint on blueprint.deployment = topology.deployment where topology.deployment {which}""",
            "iit" + "b" * (len(topologies.COLUMNS) - 1) + "t",
            values,
            lambda rows: {"topologies": {row[0]: self._decoded(self._topology, *row) for row in rows}},
        )

    def _topology(self, deployment: int, version: int, *row: Any) -> Topology:
        known = self._known(deployment, version)
        if known is not None:
            return known
        *columns, body = row
        with reads.as_damage(f"the blueprint of deployment {deployment}"):
            blueprint = topologies.blueprint_from_text(body)
        with reads.as_damage(f"the instances of deployment {deployment}"):
            return topologies.from_row(columns, blueprint)

    def _states(self, rows: list[Row]) -> Mapping[int, object]:
        counts = {number: count for number, count, _, _ in rows}
        pages = _grouped([(row[0], *row[2:]) for row in rows if row[2] >= 0])
        return {number: self._decoded(states_from, count, pages.get(number, ())) for number, count in counts.items()}

    def _documents(
        self, rows: list[Row], wanted: Mapping[int, Sequence[int]]
    ) -> Mapping[int, Decoded[Mapping[int, dict[str, Value]]]]:
        grouped = _grouped(rows)
        return {
            number: self._decoded(_parsed, sorted(grouped.get(number, ())), frozenset(instances))
            for number, instances in wanted.items()
        }

    def _by_key(
        self, rows: list[Row], make: Callable[[Sequence[Any]], T], keys: Iterable[int]
    ) -> Mapping[int, Decoded[Sequence[T]]]:
        """Return {key: its values in order}, of rows that begin with a key."""
        grouped = _grouped(rows)
        return {key: self._decoded(_mapped, make, sorted(grouped.get(key, ()), key=itemgetter(0))) for key in keys}


def read_details(
    db: Connection, wanted: DetailQuery, own: TenantRows, known: Known, damaged: Callable[[str], ProblemsError]
) -> Details:
    """Return the details of the tenant's rows that a query wants.

    ``damaged`` makes the problem of a value that cannot be decoded.
    """
    wanted = details.restricted(wanted, lambda kind, numbers: own.strange(db, kind, numbers))
    return _Reading(db, own, wanted, known, damaged).read()


def _graphs_in(row: Row) -> set[int]:
    """Return the graphs of a batch's members; only the first if the others cannot be read, which its reader reports."""
    first, _, packed, _ = row[7:]
    with suppress(ValueError):
        return {first} if packed is None else {first, *decode(packed).tolist()}
    return {first}


def _mapped(make: Callable[[Row], T], rows: Sequence[Row]) -> list[T]:
    return [make(row) for row in rows]


def _grouped(rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Return {key: rest of each row}, of rows that begin with a key."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return found


def _events(rows: list[Row], wanted: Iterable[int]) -> Mapping[int, Sequence[EventRow]]:
    found: dict[int, list[EventRow]] = {number: [] for number in wanted}
    for execution, sequence, at, instance, kind, message, operation, actor in sorted(rows, key=itemgetter(0, 1)):
        found[execution].append(EventRow(execution, at, kind, message, instance, operation, actor, sequence))
    return found


def _executions(rows: Sequence[ExecutionRow], wanted: Iterable[int]) -> Mapping[int, Sequence[ExecutionRow]]:
    found: dict[int, list[ExecutionRow]] = {number: [] for number in wanted}
    for row in sorted(rows, key=lambda row: row.number):
        found[row.deployment].append(row)
    return found


def _parsed(rows: Sequence[tuple[int, str]], wanted: frozenset[int]) -> Mapping[int, dict[str, Value]]:
    return {instance: json.loads(body) for instance, body in rows if instance in wanted}


def _of_documents(wanted: Mapping[int, Sequence[int]]) -> tuple[str, Sequence[object]]:
    """Return (SQL condition that selects the documents, its values)."""
    if len(wanted) == 1:
        ((deployment, instances),) = wanted.items()
        return f"deployment = ? and instance {CHOSEN}", (deployment, to_text(list(map(int, instances))))
    pairs = [(deployment, int(instance)) for deployment, some in wanted.items() for instance in some]
    if not pairs or len(pairs) > MOST_PAIRS:
        return f"deployment {CHOSEN}", (to_text(sorted(wanted)),)
    named = ", ".join(f"({deployment}, {instance})" for deployment, instance in pairs)
    return f"(deployment, instance) in (values {named})", ()


def _joined(ranges: Iterable[BatchRange]) -> list[tuple[int, int]]:
    """Return ranges (after, last) that do not overlap and cover the given ones; ``last`` 0 means that there is no end.

    >>> _joined([BatchRange(5, 9), BatchRange(0, 2), BatchRange(8, 12), BatchRange(20, 0), BatchRange(30, 31)])
    [(0, 2), (5, 12), (20, 0)]
    """
    found: list[tuple[int, int]] = []
    for one in sorted(ranges, key=lambda one: one.after):
        if found and (not found[-1][1] or one.after <= found[-1][1]):
            after, last = found[-1]
            found[-1] = after, max(last, one.last) if last and one.last else 0
        else:
            found.append((one.after, one.last))
    while len(found) > MOST_RANGES:
        gaps = [after - last for (_, last), (after, _) in pairwise(found)]
        at = gaps.index(min(gaps))
        found[at : at + 2] = [(found[at][0], found[at + 1][1])]
    return found
