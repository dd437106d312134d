"""Sleeping instances that are polled; prints one line of JSON: ``python -m bench.sleepers FILE STORE``, BENCH_SLEEPERS in the environment."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Install a blueprint whose start sleeps until it has been polled twenty times."""
    file, store = sys.argv[1:]
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from bench.marks import ASLEEP, POLLS, SLEEPERS
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

    with open_context(load_settings(given={"store.url": f"sqlite:///{store}"}), "bench") as ctx:
        done = follow(ctx, installing.install(ctx, DeploymentSpec(file, "bench", plugin_folders=(plugins,))))
        cpu = time.process_time() - ASLEEP["stirred_cpu"]
    idle = (ASLEEP["stirred_cpu"] - ASLEEP["idle_cpu"]) / (ASLEEP["stirred"] - ASLEEP["idle"])
    told = {"status": str(done.status), "calls": ASLEEP["calls"], "idle": idle}
    print(json.dumps(told | {"microseconds": 1e6 * cpu / (POLLS * SLEEPERS)}))


main()
