"""Lists over many deployments; prints one line of JSON: ``python -m bench.listing FILE STORE COUNT``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

LAPS = 5


def main() -> None:
    """Install so many deployments in one process, then ask each list; milliseconds of processor time, and SQL statements."""
    file, store, count = sys.argv[1:]
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from phaseline.cli.startup import fast_start as lean

    lean.begin()  # as a command sets Python up
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.queries import deployments, executions, instances, status

    settings = load_settings(given={"store.url": f"sqlite:///{store}"})
    with open_context(settings, "bench") as ctx:
        for number in range(int(count)):
            follow(ctx, installing.install(ctx, DeploymentSpec(file, f"bench-{number}", plugin_folders=(plugins,))))
    with open_context(settings, "bench") as ctx:
        lists: dict[str, Callable[[], object]] = {
            "deployments": lambda: deployments.list_deployments(ctx),
            "executions": lambda: executions.list_executions(ctx),
            "instances": lambda: instances.list_instances(ctx, limit=50),
            "status": lambda: status.status(ctx),
        }
        print(json.dumps({name: _measured(ctx.store, look) for name, look in lists.items()}))


def _measured(store: object, look: Callable[[], object]) -> dict[str, object]:
    look()  # imports are not counted
    said: list[str] = []
    reader = store.connections.reader()  # type: ignore[attr-defined]  # of the store in a file
    reader.set_trace_callback(said.append)
    look()
    reader.set_trace_callback(None)
    laps = []
    for _ in range(LAPS):
        began = time.process_time()
        look()
        laps.append(1000 * (time.process_time() - began))
    return {"ms": laps, "statements": len(said)}


if __name__ == "__main__":
    main()
