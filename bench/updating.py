"""The plan of an update in which one of many nodes changed; prints one line of JSON: ``python -m bench.updating FILE STORE``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Install once; then the blueprint with one other port is read alone, and planned, three times in turn."""
    file, store = sys.argv[1:]
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.commands.update import plan_update
    from phaseline.use_cases.loading.blueprint_loading import load
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder

    changed = Path(file).with_name("changed.yaml")
    text = Path(file).read_text()
    changed.write_text(text.replace("port: 8007\n", "port: 7\n", 1))
    laps: dict[str, list[float]] = {"read": [], "plan": []}
    with open_context(load_settings(given={"store.url": f"sqlite:///{store}"}), "bench") as ctx:
        follow(ctx, installing.install(ctx, DeploymentSpec(file, "bench", plugin_folders=(plugins,))))
        for _ in range(3):
            began = time.perf_counter()
            load(ctx, str(changed), inputs={}, plugin_folders=(plugins,), yes_many=True)
            read = time.perf_counter()
            found = plan_update(ctx, UpdateOrder("bench", str(changed)))
            laps["plan"].append(time.perf_counter() - read)
            laps["read"].append(read - began)
            signs = [node.sign for node in found.summary.nodes]  # type: ignore[union-attr]  # the plan of an update
            if signs != ["-/+"]:
                sys.exit(f"one node should have changed: {found.text[:500]}")
    print(json.dumps(laps))


main()
