"""What outcomes make besides: deployments, labels, secrets and executions, in the transaction of their turn (BB1).

The loop opens one transaction for a turn with such outcomes. First everything is made here; what cannot be made turns the
outcome of its entry into a failure, before the scheduler gets it. Then the scheduler decides, and its turn is written
into the same transaction. So after a crash there is either all of it or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.dependencies import OF_NODES
from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.model.rows.rows import EntryRemark, ExecutionRow
from phaseline.run.loop.awaits import circular, named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.model.rows.causes import CauseKey, CauseKind
    from phaseline.model.rows.follow_ups import BlueprintUpload, Continuation, FollowUp
    from phaseline.model.rows.rows import NewDeployment, NewExecution
    from phaseline.ports.store import Store
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.run.loop.awaits import Awaits, Entry
    from phaseline.run.loop.open_batches import OpenBatches

MOST_TRIED = 100_000
"""The most numbers that are tried to find a free name."""
NAME_TAKEN = "PL-S010"
OF_THE_STORE = "PL-S"
"""Beginning of codes of problems that end a turn, because nothing can be stored; a taken name does not."""


class FollowUps:
    """Makes what the outcomes of a turn ask for. Used only by the loop's thread."""

    def __init__(
        self,
        store: Store,
        outstanding: OpenBatches,
        awaits: Awaits,
        row_of: Callable[[int], ExecutionRow],
        refuse_retry: Callable[[ExecutionRow], None],
        *,
        depth: int,
    ) -> None:
        """Begin with nothing made. ``row_of`` returns the row of an open execution.

        ``refuse_retry`` raises ``ProblemsError`` if an ended execution cannot be continued. ``depth``: the most executions that
        may wait for one another above a new one.
        """
        self._store, self._outstanding, self._awaits, self._row_of = store, outstanding, awaits, row_of
        self._refuse_retry, self._depth = refuse_retry, depth
        self.retried: list[tuple[ExecutionRow, Continuation]] = []
        """The executions to be continued, in the order in which outcomes have asked for it."""
        self._rows: list[ExecutionRow] = []
        self._waits: list[tuple[Entry, Sequence[int]]] = []
        self._edges: dict[int, list[int]] = {}
        """{execution: those that it will wait for from the end of this turn on}."""
        self._known: dict[tuple[CauseKind, int], dict[tuple[CauseKey, bool], int]] = {}
        """{(kind, number of a cause): {(cause, True for an execution): number of it}}, as read or made in this turn."""
        self._needs: dict[int, list[tuple[FollowUp, int]]] = {}
        """{execution: its follow-ups that change what its deployment needs, each with the number of what it has made}."""
        self._next: dict[tuple[str, str], int] = {}
        """{(tenant, name): next number to try for a free name in this turn}."""

    def make(self, reports: Sequence[CallReport]) -> list[CallReport]:
        """Make what the accepted outcomes ask for. Return the reports, in which refused members have failed.

        Call it in the transaction of the turn, when the scheduler has handled all earlier events.
        """
        self._rows, self._waits, self._edges, self._known, self._next, self.retried = [], [], {}, {}, {}, []
        self._needs = {}
        answered: set[tuple[int, int]] = set()
        found = [self._answered(report, answered) if report.follow_ups else report for report in reports]
        self._write_needs()
        return found

    @property
    def rows(self) -> Sequence[ExecutionRow]:
        """The executions that ``make`` has stored, which the loop begins after the commit."""
        return self._rows

    def let_wait(self, now: int, is_open: Callable[[int], bool]) -> list[int]:
        """Let entries wait for what their follow-ups name, once the scheduler has decided.

        Return the awaited executions that have ended.
        """
        made = {row.number for row in (*self._rows, *(row for row, _ in self.retried))}
        for entry, numbers in self._waits:
            self._awaits.begin(entry, numbers, now)
        awaited = dict.fromkeys(number for _, numbers in self._waits for number in numbers)
        return [number for number in awaited if number not in made and not is_open(number)]

    def _answered(self, report: CallReport, answered: set[tuple[int, int]]) -> CallReport:
        """Make what a report asks for. A member whose outcome the scheduler will reject makes nothing."""
        expected = set(report.members[self._outstanding.scheduler.expects(report.batch, report.members)].tolist())
        refused: dict[int, EntryRemark] = {}
        for member, made in report.follow_ups:
            if member not in expected or (report.batch, member) in answered:
                continue
            answered.add((report.batch, member))
            entry = self._entry(report.batch, member)
            retried = len(self.retried)
            try:
                with self._store.as_one():
                    self._make(entry, made)
            except ProblemsError as error:
                code = error.problems[0].code
                if code.startswith(OF_THE_STORE) and code != NAME_TAKEN:
                    raise
                refused[member] = _remark(entry, error)
                del self.retried[retried:]
        return _refusing(report, refused) if refused else report

    def _entry(self, batch: int, member: int) -> Entry:
        segment, place = self._outstanding.batches[batch].batch.members.place_of(member)
        return segment.execution, segment.graph, int(segment.positions[place])

    def _make(self, entry: Entry, wanted: FollowUp) -> None:
        """Make one follow-up, for the tenant of its execution. Raises: ``ProblemsError``; the caller undoes what was made."""
        own, new = self._store.of(self._row_of(entry[0]).tenant), wanted.deployment
        before = [self._made_by(one.cause, is_execution=True) for one in wanted.executions]
        found = [number for number in before if number]
        fresh = [one for one, number in zip(wanted.executions, before, strict=True) if not number]
        continued = [one.execution for one in wanted.retries]
        if wanted.is_awaiting or wanted.awaits:
            waits = [*wanted.awaits, *continued, *found]
            self._raise_if_circular(entry[0], waits, fresh if wanted.is_awaiting else ())
        if fresh:
            self._raise_if_deep(entry[0])
        for secret in wanted.secrets:
            if not own.secrets.put(secret):
                raise problem_error(
                    "PL-C112", f"there is a secret '{secret.name}' already", "give the new secret another name"
                )
        if wanted.blueprint is not None:
            _upload(own, wanted.blueprint)
        number = 0
        if new is not None and not self._made_by(new.cause, is_execution=False):
            number = self._create(own, new, is_numbered=wanted.is_numbered)
        for deployment, change in wanted.labels:
            own.labels.remove(deployment, change.removed)
            own.labels.add(deployment, change.added)
        _delete(own, wanted)
        for again in wanted.retries:
            self._continue(again)
        rows = [own.create_execution(one, asks=False, beside=lambda _row: True) for one in fresh]
        if wanted.needs or wanted.needs_no_more:
            made = number or self._made_by(None if new is None else new.cause, is_execution=False)
            self._needs.setdefault(entry[0], []).append((wanted, made))
        if new is not None and number:
            self._note(new.cause, number, is_execution=False)  # only now, because the whole may be undone before
        for one, row in zip(fresh, rows, strict=True):
            self._note(one.cause, row.number, is_execution=True)
            self._edges[row.number] = [*self._awaits.ahead_of(row, self._rows, entry[0])]
            self._rows.append(row)
        awaited = [*wanted.awaits, *continued]
        if wanted.is_awaiting:
            awaited += [*found, *(row.number for row in rows)]
        if awaited:
            self._waits.append((entry, awaited))
            self._edges.setdefault(entry[0], []).extend(awaited)

    def _write_needs(self) -> None:
        """Write the records of what deployments need; those of one execution at once, however many members it has."""
        for execution, changes in self._needs.items():
            row = self._row_of(execution)
            shelf = self._store.of(row.tenant).dependencies
            gone = {instance for wanted, _ in changes for instance in wanted.needs_no_more}
            records = [one for one in shelf.of(row.deployment) if one.instance not in gone or one.kind not in OF_NODES]
            for wanted, made in changes:
                records += [one if one.provider else one._replace(number=made) for one in wanted.needs]
            shelf.replace(row.deployment, list(dict.fromkeys(records)))

    def _continue(self, one: Continuation) -> None:
        """Continue an execution after the commit, once for all entries that ask for it. Raises: PL-C010, PL-C016, PL-C028."""
        if any(row.number == one.execution for row, _ in self.retried):
            return
        (row,) = self._store.listings.executions(ExecutionQuery(numbers=(one.execution,)))
        self._refuse_retry(row)
        self.retried.append((row, one))

    def _made_by(self, cause: CauseKey | None, *, is_execution: bool) -> int:
        """Return the number of the execution or deployment that a cause has made; 0 if none. A turn reads them once."""
        if cause is None:
            return 0
        key = cause.kind, cause.number
        if key not in self._known:
            made = self._store.causes.caused(*key)
            self._known[key] = {(row.cause, row.is_execution): row.number for row in made}
        return self._known[key].get((cause, is_execution), 0)

    def _note(self, cause: CauseKey | None, number: int, *, is_execution: bool) -> None:
        if cause is not None:
            self._known[cause.kind, cause.number][cause, is_execution] = number

    def _create(self, own: TenantStore, new: NewDeployment, *, is_numbered: bool) -> int:
        """Store a deployment and return its number; under the smallest free number in its name if ``is_numbered``.

        Raises: PL-S010 if the name is taken.
        """
        if not is_numbered:
            return own.create_deployment(new)[0]
        key = own.tenant, new.name
        for number in range(self._next.get(key, 0), MOST_TRIED):
            self._next[key] = number + 1
            try:
                return own.create_deployment(altered(new, name=f"{new.name}-{number}"))[0]
            except ProblemsError as error:
                if error.problems[0].code != NAME_TAKEN:
                    raise
        raise problem_error(NAME_TAKEN, f"no name '{new.name}-N' is free", "choose another id", subject=new.name)

    def _raise_if_circular(self, execution: int, awaited: Sequence[int], new: Sequence[NewExecution]) -> None:
        """Raise PL-C110 if the execution would wait for itself, by way of those that it waits for or of their queues."""
        ahead = [number for one in new for number in self._awaits.ahead_of(_as_row(one), self._rows, execution)]
        circle = self._awaits.circle(execution, [*awaited, *ahead], self._edges)
        if circle:
            raise ProblemsError([circular(self._rows_of([execution, *circle]))])

    def _raise_if_deep(self, execution: int) -> None:
        """Raise PL-C111 if too many executions wait for one another above a new one."""
        chain = self._awaits.depth(execution, self._depth)
        if len(chain) > self._depth:
            raise problem_error(
                "PL-C111",
                f"more than {self._depth} executions would wait for one another: {named(self._rows_of(chain))}",
                "let no deployment contain itself, make fewer levels of deployments, or raise the setting composition.depth",
            )

    def _rows_of(self, numbers: Sequence[int]) -> list[ExecutionRow]:
        """Return the rows of open executions, which may have been made in this turn."""
        made = {row.number: row for row in self._rows}
        return [made.get(number) or self._row_of(number) for number in numbers]


def _upload(own: TenantStore, upload: BlueprintUpload) -> None:
    """Store a blueprint unless the newest version of its id is equal: members with the same files make one."""
    made = own.stored_blueprints.add(upload.blueprint, upload.files, upload.contents, upload.imports)
    if made is not None:
        own.causes.add_blueprint(made.number, upload.cause)


def _delete(own: TenantStore, wanted: FollowUp) -> None:
    """Delete what the follow-up names. Raises: PL-C016 if an execution of a deployment is open."""
    for deployment in wanted.deletes:
        own.delete_deployment(deployment)
    for blueprint in wanted.deletes_blueprints:
        own.stored_blueprints.delete([blueprint])
    for name in wanted.deletes_secrets:
        own.secrets.delete(name)


def _as_row(new: NewExecution) -> ExecutionRow:
    """Return an execution that is not stored yet as a row, to compare its claim with other claims."""
    return ExecutionRow(
        0, "", new.deployment, "", new.request, ExecutionStatus.QUEUED, "", 0, new.created_at, 0, 0, new.actor.name
    )  # fmt: skip


def _remark(entry: Entry, error: ProblemsError) -> EntryRemark:
    problem = error.problems[0]
    text = f"{problem.code} {problem.message}; {problem.mend}"
    return EntryRemark(entry[1], entry[2], text, {"type": "NonRecoverableError", "traceback": ""})


def _refusing(report: CallReport, refused: Mapping[int, EntryRemark]) -> CallReport:
    """Return the report with these members failed for the reasons in their remarks."""
    kinds = report.kinds.copy()
    for place, member in enumerate(report.members.tolist()):
        if member in refused:
            kinds[place] = OutcomeKind.FAILED
    remarks = [told for told in report.remarks if told[0] not in refused]
    return altered(report, kinds=kinds, remarks=[*remarks, *refused.items()])
