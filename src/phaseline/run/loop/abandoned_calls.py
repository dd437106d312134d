"""Calls that were given up and still run in this engine: a retry must not overlap with them, and a kill still reaches them.

``cancel --force`` does not wait: the execution is over, and what its calls do is known only when they return (decision 2).
Until then an entry whose call must not be repeated (decision 1) is not called again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.events import CancelRequested
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.model.execution.events import Batch, Event
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.executor import Executor
    from phaseline.ports.store import Store
    from phaseline.run.loop.open_batches import OpenBatches

NAMED = 3
"""Most instances that a message names; all are counted."""


@frozen
class Running:
    """Members (int32, of the batch) of one segment that were given up and have not returned; ``places``: their places in the segment."""

    batch: Batch
    segment: GraphSegment
    members: np.ndarray
    places: np.ndarray

    @property
    def is_killable(self) -> bool:
        """True if each call runs in its own process, which can be killed."""
        return self.batch.lane.pool == "workers" and self.batch.lane.form == "each"


def still_running(outstanding: OpenBatches, execution: int | None, *, is_leaving: bool = False) -> Iterator[Running]:
    """Yield the given-up calls of an execution that still run (None: of all executions).

    ``is_leaving``: the execution is about to be canceled, so all its running calls are included.
    """
    for dispatched in outstanding.batches.values():
        silent = ~dispatched.reported
        batch = outstanding.scheduler.batches.get(dispatched.batch.id)
        if batch is not None and not is_leaving:
            silent &= batch.kinds != OutcomeKind.PENDING
        first = 0
        for segment in dispatched.batch.segments:
            count = len(segment.positions)
            places = np.flatnonzero(silent[first : first + count])
            if execution in {None, segment.execution} and len(places):
                yield Running(dispatched.batch, segment, (places + first).astype(np.int32), places)
            first += count


def has_calls(outstanding: OpenBatches, execution: int | None) -> bool:
    """Whether given-up calls of an execution, None: of any, still run."""
    return any(len(found.places) for found in still_running(outstanding, execution))


def is_forced(events: Iterable[Event], execution: int) -> bool:
    """Whether one of the events ends an execution without waiting for its calls."""
    forced = (event for event in events if isinstance(event, CancelRequested) and event.how != "wait")
    return any(event.execution == execution for event in forced)


class GivenUpCalls:
    """Calls of an engine that were given up and still run."""

    def __init__(self, outstanding: OpenBatches, executor: Executor) -> None:
        """Keep these calls."""
        self._outstanding, self._executor = outstanding, executor

    def __bool__(self) -> bool:
        """Whether any such call runs."""
        return self._executor.is_busy() and has_calls(self._outstanding, None)

    def end(self, execution: int | None = None) -> bool:
        """End the processes of the abandoned calls of an execution (None: of all executions); False if there are none."""
        found = [running for running in still_running(self._outstanding, execution) if running.is_killable]
        for running in found:
            self._outstanding.cancel(self._executor, running.batch.id, running.members, kill=True)
        return bool(found)


def raise_if_overlap(
    outstanding: OpenBatches,
    store: Store,
    deployments: DeploymentCache,
    row: ExecutionRow,
    wanted: tuple[int | None, np.ndarray | None],
    *,
    now: int,
    is_leaving: bool,
) -> None:
    """Raise PL-C028 if a retry would call an entry again while its given-up call still runs and must not be repeated.

    ``wanted``: (graph, positions) that are to be retried; None: all.
    """
    graph, positions = wanted
    for running in still_running(outstanding, row.number, is_leaving=is_leaving):
        segment, places = running.segment, running.places
        if graph is not None and segment.graph != graph:
            continue
        if positions is not None:
            places = places[np.isin(segment.positions[places], positions)]
        careful = np.array([not policy.repeatable for policy in deployments.policies(segment.graph)], bool)
        places = places[careful[segment.policies[places]]]
        if not is_leaving:
            statuses = store.statuses(segment.graph)
            places = places[statuses[segment.positions[places]] == EntryStatus.UNSURE]
        if len(places):
            names = [outstanding.instance_name(segment, place) for place in places[:NAMED].tolist()]
            raise _overlap(row, running, names, len(places), now, is_killed=running.batch.id in outstanding.killed)


def _overlap(
    row: ExecutionRow, running: Running, names: list[str], count: int, now: int, *, is_killed: bool
) -> ProblemsError:
    phase = running.batch.lane.phase.rpartition(".")[2]
    who = ", ".join(names) + (f" and {count - len(names):,} more" if count > len(names) else "")
    seconds = (now - running.batch.started_at) // 1000
    message = (
        f"'{phase}' of {who} was given up and still runs, for {seconds:,} s by now: called again it would run twice"
    )
    end = (
        f"end its processes: phaseline executions cancel {row.id} --kill; then"
        if running.is_killable
        else "end the engine in which it runs: phaseline engine stop --drain 0; then"
    )
    mend = f"wait until it has returned, or {end} retry again: phaseline executions retry {row.id}"
    if is_killed and running.is_killable:
        mend = f"its processes are being ended; in a few seconds retry again: phaseline executions retry {row.id}"
    return problem_error("PL-C028", message, mend, subject=row.id)
