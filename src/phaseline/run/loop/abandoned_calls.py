"""Calls that were given up and still run in this engine: a retry must not repeat them, and ``--kill`` still ends them.

``cancel --force`` ends the execution without waiting for its calls. What they did is known only when they return
(decision 2). Until then an entry that must not be called twice (decision 1) is not called again.
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
"""The most instance names that a message lists; further instances are only counted."""


@frozen
class Running:
    """Given-up calls of one segment of a batch that have not returned.

    ``members`` are their indexes in the batch (int32), ``places`` their indexes in the segment.
    """

    batch: Batch
    segment: GraphSegment
    members: np.ndarray
    places: np.ndarray

    @property
    def is_killable(self) -> bool:
        """True if each call runs in its own process, which can be killed."""
        return self.batch.lane.pool == "workers" and self.batch.lane.form == "each"


def still_running(outstanding: OpenBatches, execution: int | None, *, is_leaving: bool = False) -> Iterator[Running]:
    """Yield the given-up calls of an execution that still run; for None, those of all executions.

    If ``is_leaving``, the execution is about to be canceled, so all its running calls are included.
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
    """Return True if given-up calls of the execution (None: of any execution) still run."""
    return any(len(found.places) for found in still_running(outstanding, execution))


def is_forced(events: Iterable[Event], execution: int) -> bool:
    """Return True if one of the events cancels the execution without waiting for its calls."""
    forced = (event for event in events if isinstance(event, CancelRequested) and event.how != "wait")
    return any(event.execution == execution for event in forced)


class GivenUpCalls:
    """The given-up calls of one engine that still run."""

    def __init__(self, outstanding: OpenBatches, executor: Executor) -> None:
        """Store where the calls are found (``outstanding``) and the executor that can end them."""
        self._outstanding, self._executor = outstanding, executor

    def __bool__(self) -> bool:
        """Return True if any given-up call still runs."""
        return self._executor.is_busy() and has_calls(self._outstanding, None)

    def end(self, execution: int | None = None) -> bool:
        """Kill the given-up calls of an execution (None: of all executions) that run in processes of their own.

        Return False if there are no such calls.
        """
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
    """Raise PL-C028 if a retry would call an entry whose given-up call still runs and must not be made twice.

    ``wanted`` is (graph, positions) of the entries to retry; None means all graphs, or all positions.
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
