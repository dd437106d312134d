"""A purge of old executions and lines in slices: short transactions between which an engine can work.

A slice deletes the rows of some executions and notes their numbers in the table ``remains``. The rows that belong to
them (graphs, requests, lines) follow, in this slice or in later ones. If a purge is killed, the next one first deletes
what is noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.schema import IS_OPEN
from phaseline.store.database.tenant_rows import ALL, UNINDEXED, TenantRows
from phaseline.store.sql.purging.paths import NewestPaths
from phaseline.store.sql.purging.room import ROW_BYTES, SLICE_BYTES, Room, paged
from phaseline.store.sql.purging.sweep import ANY_BATCH, LINES, Sweep, delete_piece
from phaseline.store.sql.queries import PLACES, places_of
from phaseline.store.sql.read_model import changes

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

LOOKED_TOGETHER = 5_000
"""Number of rows among which one query looks for rows to remove."""
REMOVED_TOGETHER = 200
"""Largest number of executions or requests that one query finds."""
LARGE_TOGETHER = 20
"""Largest number of deployments or plans that one query finds."""

_AMONG = "in (select value from json_each(?))"
_RANGE = "number > ? and number <= ?"
_HAS_ENDED = f"""not (execution.{IS_OPEN}) and ended_at < ?
    and not exists (select 1 from request where request.execution = execution.number and answered_at = 0)"""
"""Condition for an execution that ended long enough ago and is not about to continue."""
_CANDIDATES = f"""select number, deployment, id = 'install-' || number, status = 'completed',
    id = 'reach-' || number and status = 'failed',
    exists (select 1 from deployment where number = execution.deployment and deleted_at = 0)
    from execution where {_RANGE} and {{only}} {_HAS_ENDED} order by number limit ?"""
_LATER = """select number, id = 'install-' || number and (status = 'completed' or not ?) from execution
    where deployment = ? and number > ? and number > ? order by number limit ?"""
"""Later executions of a deployment: True for an install, which must be completed if the parameter is True."""
_PLAN = " + ".join(f"length({column})" for column in ("base", "body", "told", "aim"))
"""Size of a stored plan."""
_WEIGHT = f"""select length(request)
    + coalesce((select length(body) from around where execution = number), 0)
    + coalesce((select sum({_PLAN}) from plan where execution = execution.number), 0),
    coalesce((select min(after_batch) from graph where execution = execution.number), -1), last_batch
    from execution where number = ?"""
_ENDS_OF_LINES = f"""select number, (select min(sequence) from log where execution = number),
    (select max(sequence) from log where execution = number), (select min(sequence) from event where execution = number),
    (select max(sequence) from event where execution = number)
    from execution where {_RANGE} and {{only}} {_HAS_ENDED} order by number limit ?"""
"""Executions with the lowest and the highest number of their log lines, and of their events."""
_CALLED = f"""select {PLACES} from batch where closed_at = 0
    and first_graph <= (select max(id) from graph where execution {_AMONG})
    and last_graph >= (select min(id) from graph where execution {_AMONG})"""
_DELETED = f"""select number, (select length(body) + length(inputs) from blueprint where deployment = number)
    + (select length(nodes) + length(ids) + length(node) + length(ordinal) + length(container) + length(host) + length(links)
    + length(link) + length(source) + length(target) from topology where deployment = number)
    from deployment where {_RANGE} and {{only}} deleted_at > 0 and deleted_at < ?
    and not exists (select 1 from execution where deployment = deployment.number) order by number limit ?"""
_NOT_APPLIED = f"""select number, {_PLAN} from plan
    where {_RANGE} and {{only}} execution = 0 and created_at < ? order by number limit ?"""
_ANSWERED = f"""select number, length(body) + length(answer) from request
    where {_RANGE} and {{only}} execution = 0 and answered_at > 0 and answered_at < ? order by number limit ?"""
_OF_DEPLOYMENTS = (
    "blueprint", "topology", "state_name", "blueprint_use", "package_use", "plan", "label", "dependency",
    "hook_switch", "deployment_summary", "deployment_node", "deployment_site",
)  # fmt: skip
"""Tables with few rows for each deployment, which are deleted together with its row."""


class _Candidate(NamedTuple):
    """An execution that ended long ago, and what may be a reason to keep it nevertheless."""

    number: int
    deployment: int
    is_install: bool
    is_completed: bool
    is_failed_path: bool
    is_living: bool
    """True if the deployment is not deleted."""


class SqlPurge:
    """Implements ``ports.tenant_store.PurgeRound``. After a slice that raised an error, begin another purge."""

    def __init__(
        self,
        transaction: Connect,
        rules: PurgeRules,
        rows: TenantRows = ALL,
        *,
        slice_bytes: int = SLICE_BYTES,
        slice_s: float = inf,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Read nothing yet.

        ``rows``: the rows of the tenant whose data are removed, or all. ``slice_bytes``: the work of a slice, as ``room`` counts it. ``slice_s``: the time in seconds after which a slice
        begins nothing more, for a database whose statements go over a network. ``around``: a context for each slice.
        """
        self._transaction, self._rules, self._around = transaction, rules, around
        self._slice_bytes, self._slice_s = slice_bytes, slice_s
        self._parts: list[Callable[[Connection, Room], Purged]] = []
        if rules.executions_before:
            self._parts += [self._executions, self._deployments, self._plans]
        if rules.executions_before and rules.deployment is None:
            self._parts.append(self._requests)
        if rules.lines_before:
            self._parts.append(self._lines)
        self._after = 0
        """Highest number that the present part has looked at."""
        self._is_fresh = True
        """True until a slice has done anything."""
        self._sweep = Sweep()
        self._newest = NewestPaths()
        self._deployment = "" if rules.deployment is None else f"deployment = {rules.deployment:d} and"
        self._own = "" if rows.tenant is None else f"{UNINDEXED.format('tenant')} = ? and"
        """Condition that restricts a range of rows to the tenant."""
        self._tenant = () if rows.tenant is None else (rows.tenant,)

    @property
    def is_over(self) -> bool:
        """True if nothing is left to remove."""
        return not self._parts and not self._sweep.has_work

    def slice(self) -> Purged:
        """Remove some rows in one transaction; return the counts."""
        removed = Purged()
        self._is_fresh = True
        with self._around(), self._transaction() as db:
            room = Room(self._slice_bytes, self._slice_s)  # the wait for other transactions is not a part of it
            while room.is_left and not self.is_over:
                work = self._sweep.sweep if self._sweep.has_work else self._parts[0]
                removed += work(db, room)
                self._is_fresh = False
        return removed

    # -- the parts of a purge, one after the other

    def _executions(self, db: Connection, room: Room) -> Purged:
        """Delete executions, and note the rest of them. Return the counts."""
        last = self._next(db, room, "execution", self._deployment)
        if last is None:
            return self._end_part()
        rows = self._old(db, _CANDIDATES, last, self._rules.executions_before, REMOVED_TOGETHER)
        found = [_Candidate(*row) for row in rows]
        called = _called(db, [each.number for each in found])
        chosen: list[int] = []
        reached = last if len(found) < REMOVED_TOGETHER else found[-1].number
        for each in found:
            is_kept = each.number in called or self._is_kept(db, room, each)
            if is_kept is None:
                reached = each.number - 1
                break
            self._is_fresh = False
            if not is_kept:
                chosen.append(each.number)
                self._weigh(db, room, each.number)
            if not room.is_left:
                reached = each.number
                break
        self._after = reached
        changes.drop_executions(db, chosen)
        self._delete(db, "execution", "number", chosen)
        for table in ("plan", "around"):
            self._delete(db, table, "execution", chosen)
        self._delete(db, "cause", "made = 'execution' and number", chosen)
        self._sweep.note(db, "execution", chosen)
        return Purged(executions=len(chosen))

    def _is_kept(self, db: Connection, room: Room, each: _Candidate) -> bool | None:
        """Return whether the execution must stay because of its deployment; None if there is no room to find it out.

        If even a slice of its own has too little room, the execution stays.
        """
        if not each.is_living or not (each.is_install or each.is_failed_path):
            return False
        if each.is_failed_path:
            return self._newest.is_moving(db, room, each.deployment, each.number)
        for _, is_install in paged(db, _LATER, (each.is_completed, each.deployment, each.number)):
            room.look_at(1)
            if is_install:
                return False
            if not room.is_left:
                return True if self._is_fresh else None
        return True

    def _weigh(self, db: Connection, room: Room, number: int) -> None:
        """Count the work of deleting an execution, and note which batches it may have members in."""
        size, after, last = db.execute(_WEIGHT, (number,)).fetchone()
        room.spend(ROW_BYTES + size)
        if after >= 0:
            self._sweep.note_batches(after, last or ANY_BATCH[1])

    def _deployments(self, db: Connection, room: Room) -> Purged:
        """Delete deployments that were marked as deleted and have no executions any more, and note the rest of them."""
        only = self._deployment.replace("deployment", "number")
        last = self._next(db, room, "deployment", only)
        if last is None:
            return self._end_part()
        found = self._old(db, _DELETED, last, self._rules.executions_before, LARGE_TOGETHER, only)
        going = self._within(room, found, last, LARGE_TOGETHER)
        for table in _OF_DEPLOYMENTS:
            self._delete(db, table, "deployment", going)
        self._delete(db, "deployment", "number", going)
        self._delete(db, "cause", "made = 'deployment' and number", going)
        self._sweep.note(db, "deployment", going)
        return Purged(deployments=len(going))

    def _plans(self, db: Connection, room: Room) -> Purged:
        """Delete plans that were made long ago and never applied."""
        last = self._next(db, room, "plan", self._deployment)
        if last is None:
            return self._end_part()
        found = self._old(db, _NOT_APPLIED, last, self._rules.executions_before, LARGE_TOGETHER)
        going = self._within(room, found, last, LARGE_TOGETHER)
        self._delete(db, "plan", "number", going)
        return Purged()

    def _requests(self, db: Connection, room: Room) -> Purged:
        """Delete answered requests that concern no execution."""
        last = self._next(db, room, "request", "execution = 0 and")
        if last is None:
            return self._end_part()
        found = self._old(db, _ANSWERED, last, self._rules.executions_before, REMOVED_TOGETHER)
        going = self._within(room, found, last, REMOVED_TOGETHER)
        self._delete(db, "request", "number", going)
        return Purged(requests=len(going))

    def _lines(self, db: Connection, room: Room) -> Purged:
        """Delete log lines and events of executions that ended long ago, except the last ones of each execution.

        Later lines of the execution are numbered after its last ones.
        """
        last = self._next(db, room, "execution", self._deployment)
        if last is None:
            return self._end_part()
        found = self._old(db, _ENDS_OF_LINES, last, self._rules.lines_before, REMOVED_TOGETHER)
        room.spend(len(found) * ROW_BYTES)
        called = _called(db, [number for number, *_ in found])
        counts: Counter[str] = Counter()
        for number, *ends in found:
            for rows, first, end in zip(LINES, ends[::2], ends[1::2], strict=True):
                if first == end or number in called:
                    continue
                removed, is_all = delete_piece(db, room, rows, "execution", number, before=end)
                counts[rows.table] += len(removed)
                if not is_all:
                    self._after = number - 1
                    return _lines_removed(counts)
            self._after = number
            if not room.is_left:
                return _lines_removed(counts)
        self._after = last if len(found) < REMOVED_TOGETHER else found[-1][0]
        return _lines_removed(counts)

    # -- what the parts share

    def _next(self, db: Connection, room: Room, table: str, only: str) -> int | None:
        """Return the last number of the next rows to look at, or None if all were looked at."""
        rows = f"select number from {table} where {only} number > ? order by number limit ?"
        most = min(LOOKED_TOGETHER, room.looks)
        last, count = db.execute(f"select max(number), count(*) from ({rows}) as rows", (self._after, most)).fetchone()
        room.look_at(count)
        return None if last is None else int(last)

    def _end_part(self) -> Purged:
        """Continue with the next part."""
        del self._parts[0]
        self._after = 0
        return Purged()

    def _old(
        self, db: Connection, statement: str, last: int, before: int, most: int, only: str | None = None
    ) -> list[tuple[Any, ...]]:
        """Return rows up to the number ``last`` that are older than ``before`` (ms), of the deployment and the tenant.

        ``only``: the condition for the deployment, if it has another name in this table.
        """
        chosen = f"{self._deployment if only is None else only} {self._own}"
        return db.execute(statement.format(only=chosen), (self._after, last, *self._tenant, before, most)).fetchall()

    def _within(self, room: Room, found: Sequence[tuple[Any, ...]], last: int, most: int) -> list[int]:
        """Return the numbers of the found rows for which there is room, and note the highest number looked at.

        ``found``: all rows up to the number ``last``, or the first ``most`` of them.
        """
        going: list[int] = []
        self._after = last if len(found) < most else found[-1][0]
        for number, size in found:
            going.append(number)
            room.spend(ROW_BYTES + (size or 0))
            if not room.is_left:
                self._after = number
                break
        return going

    def _delete(self, db: Connection, table: str, column: str, numbers: Sequence[int]) -> None:
        if numbers:
            db.execute(f"delete from {table} where {column} {_AMONG}", (to_text(numbers),))


def _called(db: Connection, executions: Sequence[int]) -> set[int]:
    """Return those of the executions that have members in an open batch."""
    if not executions:
        return set()
    told = to_text(executions)
    graphs = {graph for row in db.execute(_CALLED, (told, told)) for graph in places_of(row).graphs}
    if not graphs:
        return set()
    found = f"select execution from graph where id {_AMONG} and execution {_AMONG}"
    return {number for (number,) in db.execute(found, (to_text(sorted(graphs)), told))}


def _lines_removed(counts: Counter[str]) -> Purged:
    return Purged(logs=counts["log"], events=counts["event"])
