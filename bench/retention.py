"""What a slice of retention takes from a large store: ``python -m bench.retention STORE EXECUTIONS LINES``, one line of JSON.

The store holds executions of 24 entries each with their graph, statuses, remarks and nine batches, and a number of log
lines of 80 characters. All of them are old. First the lines are removed from a copy, then the executions from another.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import Spread
from bench.report import Row
from bench.small_work import script

EXECUTIONS, LINES = 10_000, 100
TEXT = "x" * 80
MOST_MS = 50
OLD = 1 << 40
"""A time after all that is stored."""


def rows(count: int) -> list[Row]:
    """10,000 executions with 1,000,000 log lines: the longest slice, of the lines alone and of whole executions."""
    print(f"retention of {EXECUTIONS:,} executions", flush=True)
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        told = [script("retention", f"{folder}/{lap}.db", str(EXECUTIONS), str(LINES)) for lap in range(count)]
    found = []
    for kind, what in (("executions", "whole executions"), ("lines", "their log lines and events alone")):
        laps = [[float(ms) for ms in one[kind]] for one in told]  # type: ignore[attr-defined]  # a list
        longest = Spread(tuple(max(lap) for lap in laps))
        every = sorted(ms for lap in laps for ms in lap)
        more = f"; {len(laps[0])} slices, half of them ≤ {every[len(every) // 2]:.1f} ms"
        name = (
            f"retention of {EXECUTIONS:,} executions with {EXECUTIONS * LINES:,} log lines, {what}: the longest slice"
        )
        found.append(Row(name, longest.text("ms", 1) + more, f"≤ {MOST_MS} ms", max(longest.values) <= MOST_MS))
    return found


def fill(path: str, executions: int, lines: int) -> None:
    """Store executions that ended long ago."""
    import numpy as np

    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.execution.events import Batch, BatchClosed, Changes, ExecutionChanged, GraphAdded, PageWritten
    from phaseline.model.execution.execution import Request, RetryPolicy
    from phaseline.model.graph.batch_members import GraphSegment, MemberColumns
    from phaseline.model.graph.graph import LaneSpec, SubjectKind
    from phaseline.model.graph.status import ExecutionStatus
    from phaseline.model.rows.rows import (
        Actor,
        EntryRemark,
        EventRow,
        LogLine,
        NewDeployment,
        NewExecution,
        Turn,
        TurnPayload,
    )
    from phaseline.store.sqlite.store import SqliteStore
    from phaseline.testing.builders import blueprint, node, topology
    from phaseline.testing.clock import VirtualClock
    from phaseline.testing.graphs import graph_of

    store, ann = SqliteStore.open(path, VirtualClock(1)), Actor("ann")
    application, graph, lane = blueprint(node("db")), graph_of([0] * 24), LaneSpec("call")
    new = NewDeployment("bench", application, {}, topology(application), CodeLocation("/nowhere"), ann, 1)
    deployment, _ = store.create_deployment(new)
    zero = np.zeros(1, np.int32)
    with store.own("bench"):
        number, call = store.counters()
        for count in range(executions):
            request = Request("install" if count % 10 == 0 else "heal", retries=RetryPolicy())
            run = store.create_execution(NewExecution(deployment, request, ann, 1)).number
            positions = np.arange(24, dtype=np.int32)
            batches = tuple(
                Batch(call + at, lane, 0, MemberColumns.of(GraphSegment(
                    graph=number, execution=run, deployment=deployment, positions=positions[at : at + 1], kind=SubjectKind.INSTANCE,
                    subjects=zero, attempts=zero, generations=zero, policies=zero.astype(np.uint16),
                )), started_at=1, deadline_at=0)
                for at in range(9)
            )  # fmt: skip
            payload = TurnPayload(
                logs=[LogLine(run, 1, "info", TEXT, 0, "call")] * lines,
                events=[EventRow(run, 1, "task_succeeded", TEXT)] * 20,
                remarks=[EntryRemark(number, at, "done") for at in range(9)],
            )
            added, page = GraphAdded(number, run, graph), PageWritten(number, 0, bytes([6]) * 24)
            store.commit(Turn(1, Changes(graphs=(added,), pages=(page,), opened=batches), payload))
            closed = tuple(BatchClosed(call + at, 2, np.array([1], np.uint8)) for at in range(9))
            ended = (ExecutionChanged(run, ExecutionStatus.COMPLETED, "", 0),)
            store.commit(Turn(2, Changes(closed=closed, executions=ended), TurnPayload()))
            number, call = number + 1, call + 9
    store.close()


def slices(path: str, *, executions: bool) -> list[float]:
    """Milliseconds of each slice that removes executions, or lines alone, from a copy of the store."""
    from phaseline.model.rows.maintenance import PurgeRules
    from phaseline.store.sqlite.store import SqliteStore
    from phaseline.testing.clock import VirtualClock

    copy = f"{path}-copy"
    shutil.copyfile(path, copy)
    store = SqliteStore.open(copy, VirtualClock(1))
    purging = store.purging(PurgeRules(executions_before=OLD) if executions else PurgeRules(lines_before=OLD))
    took = []
    while not purging.is_over:
        began = time.perf_counter()
        purging.slice()
        took.append(1000 * (time.perf_counter() - began))
    store.close()
    for file in Path(copy).parent.glob(f"{Path(copy).name}*"):
        file.unlink()
    return took


def main() -> None:
    """Fill a store, remove all of it twice, and print."""
    path, executions, lines = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    fill(path, executions, lines)
    print(json.dumps({"lines": slices(path, executions=False), "executions": slices(path, executions=True)}))
    Path(path).unlink()


if __name__ == "__main__":
    main()
