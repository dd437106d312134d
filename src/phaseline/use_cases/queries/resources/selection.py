"""Select resources by name or by an expression on their records, in one cluster or in all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.phases.phase_data import ENGINE_KEYS, NO_DATA
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.model.rows.details import DetailQuery
from phaseline.records.expression import Expression
from phaseline.records.values import ErrorValue
from phaseline.use_cases.queries.resources.cluster_snapshot import (
    ClusterSnapshot,
    clusters,
    read_clusters,
    telling_graphs,
)
from phaseline.use_cases.queries.resources.failure_groups import gather
from phaseline.use_cases.queries.resources.phase_entries import entries_of
from phaseline.use_cases.queries.resources.resource_records import record_of

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.record import Record
    from phaseline.use_cases.lookup.read_ahead import ReadAhead
    from phaseline.use_cases.lookup.unreadable_rows import Flaws

MOST_TOLD = 20
"""Number of wrong names that are reported, each as a problem."""
NEAR_AMONG = 1_000
PHASE_MAP = "phasemap"
SAID_BY_ENGINE = ("Name", "ClusterName", "State", "TargetState", "PhaseFailed", "PhaseMap", "AdType")


@frozen
class ResourceSelector:
    """Conditions that select resources: ``names``, the expression ``where``, the failure group with key ``group``.

    A resource must meet all given conditions. ``cluster``: select only resources of this cluster. ``is_all``: select
    all resources if no other condition is given.
    """

    names: Sequence[str] = ()
    where: str = ""
    group: str = ""
    cluster: str | None = None
    is_all: bool = False

    @property
    def says_nothing(self) -> bool:
        """True if no condition is given."""
        return not (self.names or self.where or self.group or self.is_all)


Chosen = Sequence[tuple[ClusterSnapshot, np.ndarray]]
"""Pairs (cluster, int64 numbers, ascending, of its selected resources); clusters without any are left out."""


def choose(ctx: RequestContext, choice: ResourceSelector, flaws: Flaws | None = None, *, verb: str = "") -> Chosen:
    """Return the selected resources.

    ``verb``: name of a command that refuses an empty choice; "": an empty choice selects all. ``flaws`` collects
    clusters that cannot be read and are left out; without ``flaws`` they raise an error. Raises: PL-C031 for each
    unknown name, PL-C032 for a name in several clusters, PL-C033 for an empty choice if there is a ``verb``, PL-C034
    for an expression that cannot be evaluated for a resource, PL-R005 and others for one that cannot be parsed, PL-C042
    for an unknown group of failures.
    """
    if verb and choice.says_nothing:
        mend = f"give names, --group, --all or an expression: phaseline resources {verb} --filter 'PhaseFailed'"
        raise problem_error("PL-C033", "no resources selected", mend)
    rows = clusters(ctx.store, choice.cluster)
    reads, snapshots = read_clusters(ctx.store, rows, flaws, with_graphs=not choice.names)
    return choose_among(ctx, choice, reads, snapshots)


def choose_among(
    ctx: RequestContext, choice: ResourceSelector, reads: ReadAhead, snapshots: Sequence[ClusterSnapshot]
) -> Chosen:
    """Return the selected resources of these clusters. Raises: the errors of ``choose``."""
    expression = _expression(choice.where)
    chosen = [(each, each.living) for each in snapshots]
    if choice.names:
        chosen = _named(choice.names, snapshots)
    if expression is not None or choice.group:
        graphs = {} if choice.names else telling_graphs(reads, snapshots)
        reads.read(
            DetailQuery(
                notes_of={graph for some in graphs.values() for graph in some},
                batches_of=reads.ranges_of(graphs if PHASE_MAP in choice.where.lower() else ()),
                documents_of={each.row.number: numbers.tolist() for each, numbers in chosen} if choice.where else {},
            )
        )
    if expression is not None:
        now = ctx.clock.now() / 1000
        chosen = [(each, _fulfilling(ctx, each, numbers, expression, now)) for each, numbers in chosen]
    if choice.group:
        chosen = _grouped(choice.group, chosen)
    return [(each, numbers) for each, numbers in chosen if len(numbers)]


def _grouped(key: str, chosen: Chosen) -> list[tuple[ClusterSnapshot, np.ndarray]]:
    found = gather(chosen)
    group = found.get(key)
    if group is None:
        mend = f"choose one of {', '.join(found)}; see: phaseline resources list" if found else "nothing has failed"
        raise problem_error("PL-C042", f"there is no group of failures '{key}'", mend)
    inside: dict[int, set[int]] = {}
    for place, number in group.members:
        inside.setdefault(place, set()).add(number)
    return [(chosen[place][0], np.array(sorted(numbers), np.int64)) for place, numbers in inside.items()]


def choose_one(store: TenantStore, name: str, cluster: str | None) -> tuple[ClusterSnapshot, int]:
    """Return (cluster, number) of the resource with this name. Raises: the errors of ``choose``."""
    ((snapshot, numbers),) = _named([name], [ClusterSnapshot(store, row) for row in clusters(store, cluster)])
    return snapshot, int(numbers[0])


def _expression(text: str) -> Expression | None:
    if not text:
        return None

    return Expression(text, subject="--filter")


def _named(names: Sequence[str], snapshots: Sequence[ClusterSnapshot]) -> list[tuple[ClusterSnapshot, np.ndarray]]:
    found: dict[int, list[int]] = {place: [] for place in range(len(snapshots))}
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        having = [place for place, each in enumerate(snapshots) if name in each.numbers]
        if len(having) == 1:
            found[having[0]].append(snapshots[having[0]].numbers[name])
        elif having:
            where = ", ".join(snapshots[place].row.name for place in having[:5])
            message = f"there is a resource '{name}' in {len(having)} clusters: {where}"
            problems.append(Problem("PL-C032", message, "name the cluster with -d NAME", Place(subject=name)))
        else:
            problems.append(_unknown(name, snapshots))
    if problems:
        raise ProblemsError(problems[:MOST_TOLD])
    return [(snapshots[place], np.array(sorted(numbers), np.int64)) for place, numbers in found.items() if len(numbers)]


def _unknown(name: str, snapshots: Sequence[ClusterSnapshot]) -> Problem:
    known = [other for each in snapshots for other in list(each.numbers)[:NEAR_AMONG]]
    hint = did_you_mean(name, known)
    mend = f"correct the name; {hint}" if hint else "see the names with: phaseline resources list"
    return Problem("PL-C031", f"there is no resource '{name}'", mend, Place(subject=name))


def _fulfilling(
    ctx: RequestContext, snapshot: ClusterSnapshot, numbers: np.ndarray, expression: Expression, now: float
) -> np.ndarray:
    """Return the resources for which the expression is true.

    If it cannot be evaluated for a resource, raise a problem, because a filter must not guess.
    """
    documents = snapshot.store.documents(snapshot.row.number, numbers.tolist())
    with_phases = PHASE_MAP in expression.text.lower()
    only = _phases_named(snapshot, expression.text) if with_phases else None
    failed = set(failed_of(snapshot, numbers).tolist())
    records = [
        record_of(
            snapshot,
            number,
            (document := documents.get(number, NO_DATA)),
            is_failed=number in failed,
            entries=entries_of(snapshot, number, document, only=only) if with_phases else None,
        )
        for number in numbers.tolist()
    ]
    report_unknown(ctx, expression, records)
    verdicts = expression.judge_all(records, now=now)
    for number, verdict in zip(numbers.tolist(), verdicts, strict=True):
        if isinstance(verdict, ErrorValue):
            message = f"the filter makes no sense for the resource '{snapshot.name(number)}': {verdict.reason}"
            mend = "correct it, or ask first whether it makes sense: isString(X) && X == …"
            raise problem_error("PL-C034", message, mend)
    found: np.ndarray = numbers[np.array([verdict is True for verdict in verdicts], bool)]
    return found


def report_unknown(ctx: RequestContext, expression: Expression, records: Sequence[Record]) -> None:
    """Report attributes of a filter that no resource has and that look like typing errors.

    This is only a notice: filters may use attributes that no resource has.
    """
    asked = expression.names() - ENGINE_KEYS - {"my", "self"}
    unknown = set(asked)
    for record in records:
        unknown -= record.folded.keys()
        if not unknown:
            return
    known = {name for record in records for name in record} | set(SAID_BY_ENGINE)
    for name in sorted(unknown) if records else ():
        hint = did_you_mean(name, sorted(known))
        if hint:
            ctx.notice(f"no resource has an attribute '{name}'; {hint}")


def _phases_named(snapshot: ClusterSnapshot, text: str) -> set[str] | None:
    """Return the phases whose PhaseMap entries a filter names, or None if it may refer to all phases."""
    known = {phase.lower(): phase for stay in snapshot.stays for phase in stay.phases}
    asked = text.lower().replace("'", "")
    longest_first = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    named = re.findall(rf"{PHASE_MAP}\.({longest_first})", asked) if known else []
    return {known[name] for name in named} if len(named) == asked.count(PHASE_MAP) else None


def failed_of(snapshot: ClusterSnapshot, numbers: np.ndarray) -> np.ndarray:
    """Return the resources among ``numbers`` on which a phase of the present stay has failed (PhaseFailed)."""
    found = [
        failed[snapshot.newest[failed] == stay.execution]
        for stay, inside in snapshot.by_stay(numbers)
        if len(failed := stay.failed(inside))
    ]
    return np.sort(np.concatenate(found)) if found else numbers[:0]
