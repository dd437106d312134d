"""How long a request waits for its answer while the engine is idle: ``python -m bench.asking URL ASKS PLACE``, one line of JSON.

``URL`` names the store. ``PLACE`` is ``here`` for an engine in a thread of this process, or ``there`` for one in a process of its own. A request is
stored and followed as commands do it; the clock runs from before it is stored until its answer was read. Between two
requests the engine is idle for a random time. At the end the load of an engine that has nothing to do is measured.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.store.postgres_server import new_schema

from bench.figures import ROOT
from bench.report import Row
from bench.small_work import script

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext

ASKS = 100
IDLE_S = 5.0
SHORTEST_S, LONGEST_S = 0.2, 0.4
"""Least and greatest time between two requests."""


def rows(count: int) -> list[Row]:
    """RF6, BG4: from storing a request to its answer, in one process and across two."""
    print("requests to an idle engine", flush=True)
    found = []
    for place, is_file, what, half, nearly_all in (
        ("here", True, "in one process", 10, 50),
        ("there", True, "of another process", 160, 160),
        ("there", False, "of another process, PostgreSQL (BG4)", 10, 50),
    ):
        laps, loads = [], []
        for _ in range(min(count, 2)):
            with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
                url = f"sqlite:///{folder}/store.db" if is_file else new_schema()
                told = script("asking", url, str(ASKS), place)
                laps += [float(ms) for ms in told["ms"]]  # type: ignore[attr-defined]  # a list
                loads.append(100 * float(str(told["load"])))
        laps.sort()
        p50, p99 = laps[len(laps) // 2], laps[int(len(laps) * 0.99)]
        measured = f"half within {p50:.1f} ms, 99 % within {p99:.1f} ms"
        target = f"≤ {half} ms, ≤ {nearly_all} ms" if half < nearly_all else f"≤ {nearly_all} ms"
        is_met = p50 <= half and p99 <= nearly_all
        found.append(Row(f"a request to an idle engine {what}: until its answer", measured, target, is_met))
        load = max(loads)
        found.append(Row(f"the processor of an idle engine {what}", f"{load:.2f} %", "< 0.5 %", load < 0.5))
    return found


def main() -> None:
    """Start an engine, ask, and print."""
    from phaseline.cli.startup import fast_start as lean

    lean.begin()
    url, asks, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    from phaseline.app.settings import load_settings
    from phaseline.embedded.open_app import open_context

    with open_context(load_settings(given={"store.url": url}), "bench") as ctx:
        measure = here if place == "here" else there
        print(json.dumps(measure(ctx, url, asks)))


def here(ctx: RequestContext, _url: str, asks: int) -> dict[str, object]:
    """Ask an engine in a thread of this process."""
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
        laps = answered(ctx, asks)
        before = time.process_time()
        time.sleep(IDLE_S)
        return {"ms": laps, "load": (time.process_time() - before) / IDLE_S}
    finally:
        is_over.set()
        thread.join()


def there(ctx: RequestContext, url: str, asks: int) -> dict[str, object]:
    """Ask an engine in a process of its own."""
    from phaseline.embedded.engine_commands import stop_engine

    environment = os.environ | {"PHASELINE_STORE_URL": url}
    engine = subprocess.Popen(
        [sys.executable, "-m", "phaseline", "engine", "run"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        laps = answered(ctx, asks)
        before = _processor(engine.pid)
        time.sleep(IDLE_S)
        return {"ms": laps, "load": (_processor(engine.pid) - before) / IDLE_S}
    finally:
        stop_engine(ctx)
        engine.wait()


def answered(ctx: RequestContext, asks: int) -> list[float]:
    """Milliseconds until each request was answered. The first ones, which load code, do not count."""
    from phaseline.embedded.settle_requests import settle
    from phaseline.model.rows.rows import RequestKind

    dice, laps = random.Random(1), []
    while ctx.store.owner() is None:
        time.sleep(SHORTEST_S)
    for _ in range(asks + 2):
        time.sleep(dice.uniform(SHORTEST_S, LONGEST_S))
        began = time.perf_counter()
        settle(ctx, [ctx.store.ask(RequestKind.PAUSE, 0, {}, ctx.actor)])
        laps.append(1000 * (time.perf_counter() - began))
    return laps[2:]


def _processor(pid: int) -> float:
    """Seconds that the processor has worked for a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
