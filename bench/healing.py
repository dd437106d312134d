"""Heal over healthy instances with a bulk check, beside one operation on all of them; prints one line of JSON: ``python -m bench.healing FILE STORE``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

CHECK = "cloudify.interfaces.validation.check_status"


def main() -> None:
    """Install once; then each workflow once to warm up, and three times in turn."""
    file, store = sys.argv[1:]
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.commands.start_workflow import start
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart

    laps: dict[str, list[float]] = {"execute_operation": [], "heal": []}
    given = {"execute_operation": {"operation": CHECK.replace("check_status", "create")}, "heal": {}}
    with open_context(load_settings(given={"store.url": f"sqlite:///{store}"}), "bench") as ctx:
        follow(ctx, installing.install(ctx, DeploymentSpec(file, "bench", plugin_folders=(plugins,))))
        for _ in range(4):
            for workflow, parameters in given.items():
                began = time.perf_counter()
                done = follow(ctx, start(ctx, WorkflowStart(workflow, "bench", parameters)))
                laps[workflow].append(time.perf_counter() - began)
                if str(done.status) != "completed":
                    sys.exit(f"{workflow} did not complete: {done}")
    print(json.dumps({workflow: values[1:] for workflow, values in laps.items()}))


main()
