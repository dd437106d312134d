"""Deletion of the rows of removed executions and deployments, whose numbers are noted in the table ``remains``.

The note of an execution or deployment is deleted with its last row. The note of a graph stays until no batch has
members of the graph.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.rows.maintenance import Purged
from phaseline.store.codec.columns import decode, encode
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql.purging.room import READ_BYTES, ROW_BYTES, Room, paged
from phaseline.store.sql.queries import PLACES, places_of
from phaseline.store.sql.turn_writer import places_row

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

LEFTOVERS_TOGETHER = 5_000
"""Number of notes of an earlier purge that are read at a time."""
ANY_BATCH = (0, 1 << 62)
"""Range of batches that contains every batch."""


class PartRows(NamedTuple):
    """PartRows that belong to an execution, graph or deployment: their table, the columns of their key, and their size."""

    table: str
    keys: str
    size: str


_GRAPH = "length(subject) + length(policy) + length(marks) + length(ptr) + length(idx) + length(cohort) + length(steps)"
_ROWS: dict[str, tuple[PartRows, ...]] = {
    "execution": (
        PartRows("request", "number", "length(body) + length(answer)"),
        PartRows("graph", "id", _GRAPH),
        PartRows("log", "sequence", "length(text)"),
        PartRows("event", "sequence", "length(message)"),
    ),
    "graph": (
        PartRows("note", "position", "length(message) + length(error) + length(result)"),
        PartRows("page", "number", "length(statuses)"),
    ),
    "deployment": (
        PartRows("document", "instance", "length(body)"),
        PartRows("state_page", "number", "length(states)"),
        PartRows("check_page", "kind, number", "length(results) + length(times) + length(executions)"),
        PartRows("check_body", "kind, subject", "length(body)"),
    ),
}
"""{kind of what was removed: the rows that belong to it}"""
LINES = tuple(rows for rows in _ROWS["execution"] if rows.table in {"log", "event"})
"""The lines of an execution."""

_NEXT_BATCHES = (
    "select max(id), count(*) from (select id from batch where id > ? and id <= ? order by id limit ?) as ids"
)
_MAY_LOSE_MEMBERS = f"""select id, kinds, {PLACES} from batch where id > ? and id <= ? and exists (
    select 1 from remains where kind = 'graph' and number between first_graph and last_graph)
    and id > ? order by id limit ?"""


class Sweep:
    """Deletes the rows of what is noted: first notes of an earlier purge that died, then those of this purge."""

    def __init__(self) -> None:
        """Read nothing yet; the first ``sweep`` reads the notes of an earlier purge."""
        self._noted: dict[str, deque[int]] = {kind: deque() for kind in _ROWS}
        self._gone: list[int] = []
        """Graphs whose rows are deleted, and which batches may still name."""
        self._batches: tuple[int, int] | None = None
        """Range of the batches that may name removed graphs: the first is not in it. None: no batch does."""
        self._has_looked = False

    @property
    def has_work(self) -> bool:
        """True if rows are left to delete, as far as is known."""
        return not self._has_looked or bool(self._gone or any(self._noted.values()))

    def note(self, db: Connection, kind: str, numbers: Collection[int]) -> None:
        """Note removed executions, graphs or deployments, whose rows are to be deleted."""
        noted = [(kind, number) for number in numbers]
        db.executemany("insert into remains values (?, ?) on conflict (kind, number) do nothing", noted)
        self._noted[kind].extend(numbers)

    def note_batches(self, after: int, last: int) -> None:
        """Note that batches above ``after``, up to ``last``, may have members of removed executions."""
        known = self._batches or (after, last)
        self._batches = min(known[0], after), max(known[1], last)

    def sweep(self, db: Connection, room: Room) -> Purged:
        """Delete rows as long as there is room; return the counts."""
        if not self._has_looked and not self._gone and not any(self._noted.values()):
            self._has_looked = not self._find_leftovers(db)
        counts: Counter[str] = Counter()
        for kind in _ROWS:
            while self._noted[kind] and room.is_left:
                self._delete_rows(db, room, kind, counts)
        if self._gone and room.is_left and not any(self._noted.values()):
            counts["batch"] += self._delete_members(db, room)
        return Purged(
            graphs=counts["graph"], batches=counts["batch"], logs=counts["log"], events=counts["event"],
            requests=counts["request"],
        )  # fmt: skip

    def _find_leftovers(self, db: Connection) -> bool:
        """Read notes of a purge that died. Which batches named its graphs is unknown. Return True if there are any."""
        found = db.execute("select kind, number from remains limit ?", (LEFTOVERS_TOGETHER,)).fetchall()
        for kind, number in found:
            self._noted[kind].append(number)
        if found:
            self.note_batches(*ANY_BATCH)
        return bool(found)

    def _delete_rows(self, db: Connection, room: Room, kind: str, counts: Counter[str]) -> None:
        """Delete rows of the first noted number, and its note after the last of them."""
        number = self._noted[kind][0]
        for rows in _ROWS[kind]:
            removed, is_all = delete_piece(db, room, rows, kind, number)
            counts[rows.table] += len(removed)
            if rows.table == "graph" and removed:
                self.note(db, "graph", removed)
                last = max(removed)
                db.execute("update store set purged_graph = ? where purged_graph < ?", (last, last))
            if not is_all:
                return
        room.spend(ROW_BYTES)
        self._noted[kind].popleft()
        if kind == "graph":
            self._gone.append(number)
        else:
            db.execute("delete from remains where kind = ? and number = ?", (kind, number))

    def _delete_members(self, db: Connection, room: Room) -> int:
        """Remove members of deleted graphs from some batches, and delete batches without other members.

        After the last batch, delete the notes of the graphs. Return the number of deleted batches.
        """
        after, last = self._batches or (0, 0)
        latest, looked = db.execute(_NEXT_BATCHES, (after, last, room.looks)).fetchone()
        if latest is None:
            going = [("graph", number) for number in self._gone]
            db.executemany("delete from remains where kind = ? and number = ?", going)
            room.spend(len(going) * ROW_BYTES)
            self._gone.clear()
            self._batches = None
            return 0
        room.look_at(looked)
        gone = set(self._gone)
        empty: list[int] = []
        found = []
        for row in paged(db, _MAY_LOSE_MEMBERS, (after, latest)):
            found.append(row)
            room.spend(READ_BYTES + len(row[1] or b"") + len(row[3]))
            if not room.is_left:
                latest = row[0]
                break
        for batch, kinds, *members in found:
            places = places_of(members)
            if gone.issuperset(places.graphs):
                empty.append(batch)
            else:
                _leave(db, batch, kinds, places, gone)
        self._batches = latest, last
        if not empty:
            return 0
        db.execute("update store set purged_batch = ? where purged_batch < ?", (max(empty), max(empty)))
        return db.execute("delete from batch where id in (select value from json_each(?))", (to_text(empty),)).rowcount


def delete_piece(
    db: Connection, room: Room, rows: PartRows, kind: str, number: int, *, before: int | None = None
) -> tuple[list[int], bool]:
    """Delete the first rows of an execution, graph or deployment, as many as there is room for, at least one.

    ``before``: only rows with smaller keys. Return (the first column of the keys of the deleted rows, True if these
    were all).
    """
    keys = rows.keys.split(", ")
    where = f"{kind} = ?" if before is None else f"{kind} = ? and {rows.keys} < {before:d}"
    marks = ", ".join("?" * len(keys))
    select = f"""select {rows.keys}, {rows.size} from {rows.table}
        where {where} and ({rows.keys}) > ({marks}) order by {rows.keys} limit ?"""
    removed: list[int] = []
    last: list[int] = []
    is_all = True
    for *key, size in paged(db, select, (number,), len(keys)):
        if not room.is_left and removed:
            is_all = False
            break
        removed.append(key[0])
        last = key
        room.spend(ROW_BYTES + size)
    if removed:
        db.execute(f"delete from {rows.table} where {where} and ({rows.keys}) <= ({marks})", (number, *last))
    return removed, is_all


def _leave(db: Connection, batch: int, kinds: bytes | None, places: MemberPositions, gone: set[int]) -> None:
    """Remove the members of deleted graphs, with their outcomes, from a batch that keeps other members."""
    parts = list(places.parts())
    staying = MemberPositions.of([(graph, positions) for graph, positions in parts if graph not in gone])
    if len(staying.graphs) == len(parts):
        return
    stays = np.concatenate([np.full(len(positions), graph not in gone) for graph, positions in parts])
    answers = None if kinds is None else encode(decode(kinds)[stays])
    db.execute(
        "update batch set kinds = ?, first_graph = ?, last_graph = ?, positions = ?, graphs = ?, ends = ? where id = ?",
        (answers, *places_row(staying), batch),
    )
