"""What an engine that lives long keeps of what was deleted: ``python -m bench.lifetime FILE STORE CYCLES``, one line of JSON.

A cycle creates a deployment, installs it, uninstalls it and deletes it. One engine runs all of them, as that of a server
would. The resident size is read at the beginning, after half of the cycles and at the end; the first half includes
whatever is loaded, and every bounded cache that fills.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench import blueprints
from bench.report import Row
from bench.small_work import on_a_store

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.run.loop.engine import Engine
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint

SETTLING_CYCLES = 20
"""Cycles before the first look: they load code and open files."""
CYCLES, INSTANCES = 10_000, 100
MOST_GROWN = 1_000_000
"""Bytes that the second half of the cycles may add."""
MOST_RESIDENT_MB = 256
"""Memory that an engine may hold, in MB, besides a kilobyte for each deployment."""


def rows(_count: int) -> list[Row]:
    """RF1: what 10,000 deployments that were installed, uninstalled and deleted leave in the engine. One run: it takes minutes."""
    print(f"{CYCLES:,} deployments one after the other", flush=True)
    text = blueprints.scaled("flat", INSTANCES, "bench.bench_native.bulk")
    told = on_a_store("lifetime", text, str(CYCLES))
    began, half, end = (int(value) for value in told["bytes"])  # type: ignore[attr-defined]  # a list
    what = f"{(end - half) / 1000:,.0f} kB ({(half - began) / 1e6:,.1f} MB in the first half: caches fill)"
    name = f"install, uninstall, delete of {INSTANCES} instances, {CYCLES:,} times in one engine: memory the second half adds"
    most = (MOST_RESIDENT_MB * 1_000_000 + 1_000 * CYCLES) / 1e6
    return [
        Row(name, what, "< 1 MB", end - half < MOST_GROWN),
        Row(
            "the same: resident memory at the end (BG11)",
            f"{end / 1e6:,.0f} MB",
            f"≤ {most:,.0f} MB",
            end / 1e6 <= most,
        ),
    ]


def resident_bytes() -> int:
    """What the process holds in memory now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def cycle(ctx: RequestContext, engine: Engine, loaded: LoadedBlueprint, number: int) -> None:
    """Create, install, uninstall, delete."""
    from phaseline.model.execution.execution import Request, RetryPolicy
    from phaseline.model.rows.rows import NewDeployment, NewExecution
    from phaseline.plan.topology.expansion import expand

    store, actor, now = ctx.store, ctx.actor, ctx.clock.now
    new = NewDeployment(
        f"bench-{number}", loaded.blueprint, {}, expand(loaded.blueprint, suffixes=number), loaded.code, actor, now()
    )
    deployment, _ = store.create_deployment(new)
    for workflow in ("install", "uninstall"):
        row = store.create_execution(NewExecution(deployment, Request(workflow, retries=RetryPolicy()), actor, now()))
        engine.submit(row)
        engine.run(lambda row=row: engine.has_ended(row.number))
    store.delete_deployment(deployment, actor)


def main() -> None:
    """Run and print."""
    from phaseline.cli.startup import fast_start as lean

    lean.begin()
    file, store, cycles = sys.argv[1], sys.argv[2], int(sys.argv[3])
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from phaseline.app.settings import load_settings
    from phaseline.app.watcher import NullWatcher
    from phaseline.embedded.open_app import open_context
    from phaseline.embedded.run_execution import open_engine
    from phaseline.use_cases.loading.blueprint_loading import load

    looks: list[int] = []
    with open_context(load_settings(given={"store.url": f"sqlite:///{store}"}), "bench") as ctx:
        loaded = load(ctx, file, inputs={}, plugin_folders=(plugins,))
        with ctx.app.store.own("bench") as lease, open_engine(ctx, lease, NullWatcher()) as engine:
            for number in range(SETTLING_CYCLES + cycles):
                if number in {SETTLING_CYCLES, SETTLING_CYCLES + cycles // 2}:
                    looks.append(resident_bytes())
                cycle(ctx, engine, loaded, number)
            looks.append(resident_bytes())
            engine.close(0)
    print(json.dumps({"bytes": looks, "cycles": cycles}))


if __name__ == "__main__":
    main()
