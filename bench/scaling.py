"""The plan of a scale out, beside a small deployment that is there; prints one line of JSON: ``python -m bench.scaling FILE STORE DELTA``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Install once; then plan five times to have so many instances more of the last node."""
    file, store, delta = sys.argv[1:]
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.commands import keep_plan as plans
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart

    laps: list[float] = []
    with open_context(load_settings(given={"store.url": f"sqlite:///{store}"}), "bench") as ctx:
        follow(ctx, installing.install(ctx, DeploymentSpec(file, "bench", plugin_folders=(plugins,))))
        found = ctx.store.deployment("bench")
        assert found is not None, "it was installed"
        last = ctx.store.topology(found.number).nodes[-1].name
        order = WorkflowStart("scale", "bench", {"scalable_entity_name": last, "delta": int(delta)})
        for _ in range(5):
            began = time.perf_counter()
            planned = plans.plan_workflow(ctx, order)
            laps.append(time.perf_counter() - began)
            (node,) = planned.summary.nodes  # type: ignore[union-attr]  # the plan of one graph
            if node.count != int(delta) or node.sign != "+":
                sys.exit(f"{delta} instances should come: {planned.text[:500]}")
    print(json.dumps({"plan": laps}))


main()
