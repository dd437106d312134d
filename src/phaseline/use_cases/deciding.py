"""What a user decides about an execution that is there: resume, follow, retry, complete, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.model.problem import fail
from phaseline.model.rows import RequestKind
from phaseline.model.status import EntryStatus
from phaseline.run.requests import refuse_busy, refuse_ended, refuse_retry
from phaseline.use_cases.asking import Ticket, ask
from phaseline.use_cases.executions import Phases, as_statuses, view_execution
from phaseline.use_cases.finding import find_execution
from phaseline.use_cases.moving import refuse_moved
from phaseline.use_cases.owning import conduct
from phaseline.use_cases.typos import did_you_mean

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.model.rows import ExecutionRow
    from phaseline.ports import Store
    from phaseline.use_cases.values import ExecutionView
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace

RETRIED = (EntryStatus.FAILED, EntryStatus.CANCELED, EntryStatus.UNSURE, EntryStatus.SLEEPING)
COMPLETED = (EntryStatus.FAILED, EntryStatus.UNSURE, EntryStatus.SLEEPING, EntryStatus.CANCELED)


def resume(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    watcher: Watcher | None = None,
    detach: bool = False,
) -> ExecutionView:
    """Carry on with an execution that a crash or an interrupt left open. What completed is not called again.

    Raises: PL-C017 if it has ended, PL-C024 if the folder of its code is gone.
    """
    row = find_execution(place.store, id, deployment, to_change=True)
    refuse_ended(row, "nothing is left to resume")
    _refuse_moved(place, row)
    return conduct(place, Ticket(row), watcher, detach=detach)


def follow(
    place: Workplace, id: str | None = None, *, deployment: str | None = None, watcher: Watcher | None = None
) -> ExecutionView:
    """Watch an execution to its end, whoever runs it; carry it on if nobody does. One that has ended is only shown.

    Whatever somebody has asked of it and nobody has answered yet is awaited, too.
    """
    row = find_execution(place.store, id, deployment, to_change=True)
    asked = [request.number for request in place.store.requests_of(row.number) if not request.answered_at]
    if row.status.is_ended and not asked:
        return view_execution(place.store, row)
    return conduct(place, Ticket(row, asked[-1] if asked and row.status.is_ended else 0), watcher)


def retry(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instances: Sequence[str] = (),
    clean: bool = False,
    watcher: Watcher | None = None,
    detach: bool = False,
) -> ExecutionView:
    """Call again what failed, was canceled or is unsure, and go on with what waited for it; what waits for a retry is called now.

    ``instances``: only entries of these. ``clean``: half-made instances are cleaned up first (W8).
    Raises: PL-C017 if the execution completed or has nothing to retry, PL-C014 if no entry fits, PL-C024 if the folder
    of its code is gone.
    """
    row = find_execution(place.store, id, deployment, to_change=True)
    refuse_retry(place.store, row)
    _refuse_moved(place, row)
    body: dict[str, Value] = {"clean": True} if clean else {}
    if instances and place.store.graphs(row.number):
        body.update(_chosen(place.store, row, instances, (), RETRIED))
    return conduct(place, ask(place, RequestKind.RETRY, row, body), watcher, detach=detach)


def complete(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instances: Sequence[str],
    operations: Sequence[str] = (),
    reason: str,
    watcher: Watcher | None = None,
) -> ExecutionView:
    """Take entries as completed because a user vouches for them, and go on with what waited for them; audited.

    ``instances``: ids of those concerned; ``operations``: only these (full names or their last part).
    Raises: PL-C014 if no entry fits.
    """
    row = find_execution(place.store, id, deployment, to_change=True)
    refuse_busy(place.store, row)
    body = {**_chosen(place.store, row, instances, operations, COMPLETED), "reason": reason}
    return conduct(place, ask(place, RequestKind.COMPLETE, row, body), watcher)


def cancel(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    how: Literal["wait", "force", "kill"] = "wait",
    watcher: Watcher | None = None,
) -> ExecutionView:
    """End an open execution: nothing new starts, running calls are awaited unless ``how`` says otherwise (decision 2).

    Raises: PL-C017 if it has ended.
    """
    row = find_execution(place.store, id, deployment, to_change=True)
    refuse_ended(row, "nothing is left to cancel")
    return conduct(place, ask(place, RequestKind.CANCEL, row, {"how": how}), watcher)


def _refuse_moved(place: Workplace, row: ExecutionRow) -> None:
    """As ``refuse_moved``, for the deployment of an execution that can still be called upon."""
    deployment = place.store.deployment(row.deployment_name)
    if deployment is not None and deployment.number == row.deployment:
        refuse_moved(place, deployment)


def _chosen(
    store: Store,
    row: ExecutionRow,
    instances: Sequence[str],
    operations: Sequence[str],
    statuses: Sequence[EntryStatus],
) -> dict[str, Value]:
    """What a request names: the last graph, and in it the positions of the entries of these instances and operations that have one of the statuses."""
    graphs = store.graphs(row.number)
    if graphs:
        graph = store.graph(graphs[-1].id)
        topology = store.topology(row.deployment)
        found = np.flatnonzero(np.isin(as_statuses(store.statuses(graphs[-1].id)), list(statuses)))
        phases = Phases(graph)
        numbers = _numbers(instances, topology.number_of)
        fitting: list[Value] = []
        for position in found.tolist():
            phase, kind = phases.of(position)
            subject = int(graph.subject[position])
            owner = subject if kind == 1 else int(topology.source[subject]) if kind > 1 else -1
            named = not operations or phase in operations or phase.rpartition(".")[2] in operations
            if owner in numbers and named:
                fitting.append(position)
        if fitting:
            return {"graph": graphs[-1].id, "positions": fitting}
    words = ", ".join(status.word for status in statuses)
    message = f"no operation of {', '.join(instances)} in {row.id} is one of: {words}"
    raise fail("PL-C014", message, f"See what stands where: phaseline executions show {row.id}", subject=row.id)


def _numbers(instances: Sequence[str], known: dict[str, int]) -> set[int]:
    found: set[int] = set()
    for text in instances:
        fitting = [number for id, number in known.items() if id == text] or [
            number for id, number in known.items() if id.startswith(text)
        ]
        if len(fitting) != 1:
            hint = did_you_mean(text, list(known)[:1000]) or "see them with: phaseline instances list"
            several = f"'{text}' is the beginning of {len(fitting)} instances"
            message = several if fitting else f"there is no instance '{text}' in this deployment"
            raise fail("PL-C013" if fitting else "PL-C012", message, f"Correct the id; {hint}")
        found.add(fitting[0])
    return found
