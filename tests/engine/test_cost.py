"""What many small graphs cost beside one large one, and how cost grows."""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest
from tests.engine.driving import finished

from phaseline.engine.scheduler import Scheduler
from phaseline.model.execution.events import Ask, Dispatch, Event, Planned, SlotsChanged, Submitted
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import Graph, LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus
from phaseline.testing.graphs import graph_of

pytestmark = pytest.mark.alone
STAGES = tuple(Policy(LaneSpec(name), repeatable=True) for name in ("create", "configure", "start"))
COUNT = 10_000
MOST_TRIES = 8


def chain(length: int) -> Graph:
    """So many subjects in three stages."""
    stages = len(STAGES)
    needs = {stage * length + i: [(stage - 1) * length + i] for stage in range(1, stages) for i in range(length)}
    subjects = list(range(length)) * stages
    policy = [stage for stage in range(stages) for _ in range(length)]
    return graph_of(policy, needs=needs, policies=STAGES, subjects=subjects)


def seconds(graphs: list[Graph]) -> float:
    """Processor time until every graph has settled and its execution has ended."""
    scheduler = Scheduler()
    gc.collect()
    began = time.process_time()
    scheduler.handle([SlotsChanged("bulk", 16)], 0)
    events: list[Event] = [Submitted(number, 1) for number in range(1, len(graphs) + 1)]
    done = 0
    planned: set[int] = set()
    while events:
        decision = scheduler.handle(events, 0)
        events = []
        for command in decision.commands:
            if isinstance(command, Dispatch):
                events.append(finished(command.batch))
            elif isinstance(command, Ask) and command.execution in planned:
                done += 1
                events.append(Planned(command.execution, Verdict(ExecutionStatus.COMPLETED)))
            elif isinstance(command, Ask):
                planned.add(command.execution)
                events.append(Planned(command.execution, graphs[command.execution - 1], command.execution))
    took = time.process_time() - began
    assert done == len(graphs)
    return took


def test_ten_thousand_graphs_are_taken_in_a_few_batches() -> None:
    small = chain(1)
    scheduler = Scheduler()
    scheduler.handle([SlotsChanged("bulk", 16), *(Submitted(number, 1) for number in range(COUNT))], 0)
    decision = scheduler.handle([Planned(number, small, number + 1) for number in range(COUNT)], 0)
    assert [len(batch) for batch in decision.changes.opened] == [COUNT]
    assert np.unique([segment.execution for segment in decision.changes.opened[0].segments]).size == COUNT


def test_cost_grows_with_the_number_of_small_graphs_and_not_with_its_square() -> None:
    """Four times as many cost four times as much, where a square would cost sixteen times.

    The best of several tries is what the work itself takes; more of them are made only while others disturb.
    """
    small = chain(1)
    few = many = float("inf")
    for _ in range(MOST_TRIES):
        few = min(few, seconds([small] * 1_000))
        many = min(many, seconds([small] * 4_000))
        if many < few * 4 * 2:
            return
    pytest.fail(f"1,000 graphs: {few:.3f} s, 4,000 graphs: {many:.3f} s")
