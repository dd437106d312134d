"""What a slice of retention takes from a large store: ``python -m bench.retention URL EXECUTIONS LINES KIND …``, one line of JSON.

The store holds executions of 24 entries each with their graph, statuses, remarks and nine batches, and a number of log
lines of 80 characters. All of them are old. ``KIND`` is what is removed, ``lines`` or whole ``executions``; of a file, each
kind from a copy.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.store.postgres_server import new_schema

from bench.figures import Spread
from bench.report import Row
from bench.small_work import script

EXECUTIONS, ON_SERVER, LINES = 10_000, 1_000, 100
KINDS = {"executions": "whole executions", "lines": "their log lines and events alone"}
TEXT = "x" * 80
MOST_MS = 50
OLD = 1 << 40
"""A time after all that is stored."""


def rows(count: int) -> list[Row]:
    """10,000 executions with 1,000,000 log lines: the longest slice, of the lines alone and of whole executions."""
    print(f"retention of {EXECUTIONS:,} executions", flush=True)
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        urls = [f"sqlite:///{folder}/{lap}.db" for lap in range(count)]
        told = [script("retention", url, str(EXECUTIONS), str(LINES), *KINDS) for url in urls]
    found = _rows(told, EXECUTIONS, "")
    size = (str(ON_SERVER), str(LINES))
    told = [
        {key: value for kind in KINDS for key, value in script("retention", new_schema(), *size, kind).items()}
        for _ in range(count)
    ]
    return found + _rows(told, ON_SERVER, "PostgreSQL, ")


def _rows(told: list[dict[str, object]], executions: int, where: str) -> list[Row]:
    found = []
    for kind, what in KINDS.items():
        laps = [[float(ms) for ms in one[kind]] for one in told]  # type: ignore[attr-defined]  # a list
        longest = Spread(tuple(max(lap) for lap in laps))
        every = sorted(ms for lap in laps for ms in lap)
        more = f"; {len(laps[0])} slices, half of them ≤ {every[len(every) // 2]:.1f} ms"
        size = f"{executions:,} executions with {executions * LINES:,} log lines"
        name = f"{where}retention of {size}, {what}: the longest slice"
        found.append(Row(name, longest.text("ms", 1) + more, f"≤ {MOST_MS} ms", max(longest.values) <= MOST_MS))
    return found


def fill(url: str, executions: int, lines: int) -> None:
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
    from phaseline.store import open_store
    from phaseline.testing.builders import blueprint, node, topology
    from phaseline.testing.clock import VirtualClock
    from phaseline.testing.graphs import graph_of

    store, ann = open_store(url, VirtualClock(1)), Actor("ann")
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


def slices(url: str, *, executions: bool) -> list[float]:
    """Milliseconds of each slice that removes executions, or lines alone."""
    from phaseline.model.rows.maintenance import PurgeRules
    from phaseline.store import open_store
    from phaseline.testing.clock import VirtualClock

    store = open_store(url, VirtualClock(1))
    purging = store.purging(PurgeRules(executions_before=OLD) if executions else PurgeRules(lines_before=OLD))
    took = []
    while not purging.is_over:
        began = time.perf_counter()
        purging.slice()
        took.append(1000 * (time.perf_counter() - began))
    store.close()
    return took


def main() -> None:
    """Fill a store, remove what is wanted, and print."""
    url, executions, lines, *kinds = sys.argv[1:]
    fill(url, int(executions), int(lines))
    path, found = url.removeprefix("sqlite:///"), {}
    for kind in kinds:
        where = url
        if path != url:
            shutil.copyfile(path, f"{path}-{kind}")
            where = f"{url}-{kind}"
        found[kind] = slices(where, executions=kind == "executions")
    print(json.dumps(found))
    if path != url:
        for file in Path(path).parent.glob(f"{Path(path).name}*"):
            file.unlink()


if __name__ == "__main__":
    main()
