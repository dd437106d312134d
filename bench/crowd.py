"""Ten thousand executions of one instance each in one engine; prints one line of JSON: ``python -m bench.crowd COUNT``.

Only the time inside ``Scheduler.handle`` counts; every call is answered at once. The same instances as one execution
say how large the batches can be.
"""

from __future__ import annotations

import gc
import json
import sys
import time

import numpy as np

from phaseline.cli.startup.fast_start import MADE_BETWEEN_LOOKS
from phaseline.engine.scheduler import Scheduler
from phaseline.model.execution.events import Ask, Batch, Dispatch, Event, Finished, Planned, SlotsChanged, Submitted
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind

PHASES = ("precreate", "create", "configure", "start", "poststart")
POLICIES = tuple(Policy(LaneSpec(phase), repeatable=True) for phase in PHASES)


def install(count: int) -> Graph:
    """Five operations on each of so many independent instances."""
    entries = len(PHASES) * count
    return Graph(
        "install",
        tuple(Step(phase, SubjectKind.INSTANCE, at * count, count) for at, phase in enumerate(PHASES)),
        POLICIES,
        subject=np.tile(np.arange(count, dtype=np.int32), len(PHASES)),
        policy=np.repeat(np.arange(len(PHASES), dtype=np.uint16), count),
        marks=np.zeros(entries, np.uint8),
        ptr=np.minimum(np.arange(entries + 1), entries - count).astype(np.int32),
        idx=np.arange(count, entries, dtype=np.int32),
    )


def answer(batch: Batch) -> Finished:
    """All members completed."""
    size = len(batch)
    kinds = np.full(size, OutcomeKind.COMPLETED, np.uint8)
    return Finished(batch.id, np.arange(size, dtype=np.int32), kinds, np.full(size, -1, np.int64))


def run(executions: int, count: int) -> tuple[float, list[int]]:
    """Seconds inside the scheduler for so many executions of ``count`` instances, and the sizes of the batches."""
    scheduler = Scheduler()
    graph = install(count)
    planned: set[int] = set()
    sizes: list[int] = []
    took = 0.0
    events: list[Event] = [
        SlotsChanged("bulk", 16),
        *(Submitted(number, number) for number in range(1, executions + 1)),
    ]
    while events:
        began = time.perf_counter()
        decision = scheduler.handle(events, 0)
        took += time.perf_counter() - began
        events = []
        for command in decision.commands:
            if isinstance(command, Dispatch):
                sizes.append(len(command.batch))
                events.append(answer(command.batch))
            elif isinstance(command, Ask):
                number = command.execution
                verdict = Verdict(ExecutionStatus.COMPLETED)
                events.append(Planned(number, verdict) if number in planned else Planned(number, graph, number))
                planned.add(number)
    return took, sizes


def main() -> None:
    """Run and print."""
    gc.set_threshold(MADE_BETWEEN_LOOKS)  # as in every process that runs an engine
    count = int(sys.argv[1])
    _, wanted = run(1, count)
    took, sizes = run(count, 1)
    told = {"microseconds": 1e6 * took / (count * len(PHASES)), "sizes": sizes, "wanted": wanted}
    print(json.dumps(told))


main()
