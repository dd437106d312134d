"""Many deployments that need one another, and many schedules: ``python -m bench.estate COUNT``, one line of JSON.

The figures are processor time of this process: a refusal of ``uninstall`` that is read by ``COUNT`` installed deployments;
``COUNT`` schedules of as many deployments that are due at once, from the first look until all of their executions are
stored; and the load of an engine while none of as many schedules is due.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tests.use_cases.estates import ASKS, NET, Files

from bench.figures import Spread
from bench.report import Row
from bench.small_work import script

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.client.client import Client

MANY = 10_000
REFUSALS, IDLE_S = 20, 5.0
AT_ONCE = 1_000
FAR_OFF_MS = 30 * 24 * 3_600_000


def rows(count: int) -> list[Row]:
    """DP7 with 10,000 consumers; SC12 and A62 with 10,000 schedules."""
    print("estates", flush=True)
    told = [script("estate", str(MANY)) for _ in range(count)]
    refusal, due, idle = (Spread(tuple(float(str(one[key])) for one in told)) for key in ("refusal", "due", "idle"))
    return [
        Row(f"an uninstall is refused that {MANY:,} deployments read", refusal.text("ms", 1), "≤ 20 ms", refusal.median <= 20),
        Row(f"{MANY:,} schedules all due at once: executions stored", due.text("s"), "≤ 2 s", due.median <= 2),
        Row(f"an idle engine with {MANY:,} schedules: processor", idle.text("%"), "< 0.5 %", idle.median < 0.5),
    ]  # fmt: skip


def main() -> None:
    """Measure all three, each on a store of its own, and print."""
    import phaseline

    count = int(sys.argv[1])
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        files = Files(Path(folder))
        with files.open() as client:
            client.executions.install(files.write("net", NET), "net")
            consumers(client, files.write("app", ASKS), count)
            found["refusal"] = refusal_ms(client)
    for key, is_due in (("due", True), ("idle", False)):
        with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
            files = Files(Path(folder))
            with phaseline.open(f"sqlite:///{folder}/store.db") as client:
                schedules(client, files.write("net", NET), count, is_due=is_due)
                found[key] = fired_s(client.ctx) if is_due else idle_percent(client.ctx)
    print(json.dumps(found))


def copies(client: Client, path: str, name: str, count: int) -> list[int]:
    """Store ``count`` deployments of a blueprint as the command would; return their numbers."""
    from phaseline.lang.fast_dataclasses import altered
    from phaseline.model.rows.rows import NewDeployment

    client.deployments.create(path, name)
    store = client.app.store.of("default_tenant")
    row = store.deployment(name)
    assert row is not None
    topology, reads = store.topology(row.number), tuple(store.dependencies.of(row.number))
    new = NewDeployment(name, topology.blueprint, {}, topology, row.code, client.ctx.actor, 1, dependencies=reads)
    with store.as_one():
        return [store.create_deployment(altered(new, name=f"{name}{number}"))[0] for number in range(count)]


def consumers(client: Client, path: str, count: int) -> None:
    """Store deployments that read the first one, and that are installed."""
    from phaseline.model.deployment.instance_states import InstanceState
    from phaseline.model.execution.events import Changes, ExecutionChanged, StatesEntered
    from phaseline.model.execution.execution import Request
    from phaseline.model.graph.status import ExecutionStatus
    from phaseline.model.rows.rows import NewExecution, Turn, TurnPayload

    numbers, store = copies(client, path, "app", count), client.app.store
    started = (int(InstanceState.STARTED),)
    with store.own("bench"):
        for first in range(0, count, AT_ONCE):
            some = numbers[first : first + AT_ONCE]
            with store.as_one():
                runs = [
                    store.create_execution(NewExecution(one, Request("install"), client.ctx.actor, 1)) for one in some
                ]
            ended = tuple(ExecutionChanged(run.number, ExecutionStatus.COMPLETED, "", 0) for run in runs)
            entered = tuple(StatesEntered(number, started, np.zeros(1, np.int32)) for number in some)
            store.commit(Turn(1, Changes(states=entered, executions=ended), TurnPayload()))
        while store.refresh_lists():
            pass


def refusal_ms(client: Client) -> float:
    """Milliseconds of a refusal, the median of some; the first one, which loads code, does not count."""
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.use_cases.commands.start_workflow import start
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart

    laps = []
    for _ in range(REFUSALS + 1):
        code, began = "", time.process_time()
        try:
            start(client.ctx, WorkflowStart("uninstall", "net"))
        except ProblemsError as error:
            code = error.problems[0].code
        laps.append(1_000 * (time.process_time() - began))
        assert code == "PL-C131", f"the uninstall was not refused: {code}"
    return Spread(tuple(laps[1:])).median


def schedules(client: Client, path: str, count: int, *, is_due: bool) -> None:
    """Store a schedule of each of so many deployments, that are all due now, or in a month."""
    from datetime import UTC, datetime

    from phaseline.model.rows.schedules import NewSchedule
    from phaseline.model.schedules.schedule_spec import ScheduleSpec

    store, now = client.app.store.of("default_tenant"), client.ctx.clock.now()
    at = now // 1000 * 1000 + (0 if is_due else FAR_OFF_MS)
    spec = ScheduleSpec(
        "install", f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S}", rule={"recurrence": "1d"}
    )
    numbers = copies(client, path, "net", count)
    with store.as_one():
        for number in numbers:
            store.schedules.add(NewSchedule(number, "daily", spec, next_at=at), client.ctx.actor)


def fired_s(ctx: RequestContext) -> float:
    """Seconds until the executions of all schedules that are due are stored."""
    from phaseline.app.watcher import NullWatcher
    from phaseline.embedded.run_execution import open_engine

    with ctx.app.store.own("bench") as lease, open_engine(ctx, lease, NullWatcher()) as engine:
        assert engine.scheduling is not None
        began = time.process_time()
        made = engine.scheduling().fire(ctx.clock.now())
        took = time.process_time() - began
        assert made, "no schedule was due"
    return took


def idle_percent(ctx: RequestContext) -> float:
    """Load of the processor, in percent, while an engine has nothing to do but wait for schedules."""
    from phaseline.app.watcher import NullWatcher
    from phaseline.embedded.run_execution import open_engine

    is_over = threading.Event()

    def serve() -> None:
        with ctx.app.store.own("bench") as lease, open_engine(ctx, lease, NullWatcher()) as engine:
            engine.run(is_over.is_set)
            engine.close(0)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        time.sleep(1)  # it has begun
        before = time.process_time()
        time.sleep(IDLE_S)
        return 100 * (time.process_time() - before) / IDLE_S
    finally:
        is_over.set()
        thread.join()


if __name__ == "__main__":
    main()
