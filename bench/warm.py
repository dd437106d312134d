"""Ten no-op instances again and again in one process; prints one line of JSON: ``python -m bench.warm FILE STORE TIMES``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Install and uninstall a deployment of its own each time; the first is not counted."""
    file, store, times = sys.argv[1:]
    plugins = str(Path(__file__).parent / "plugins")
    sys.path.insert(0, plugins)
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

    laps: dict[str, list[float]] = {"install": [], "uninstall": []}
    with open_context(load_settings(given={"store.url": f"sqlite:///{store}"}), "bench") as ctx:
        for number in range(int(times) + 1):
            began = time.perf_counter()
            follow(ctx, installing.install(ctx, DeploymentSpec(file, f"bench-{number}", plugin_folders=(plugins,))))
            installed = time.perf_counter()
            follow(ctx, installing.uninstall(ctx, f"bench-{number}"))
            laps["install"].append(installed - began)
            laps["uninstall"].append(time.perf_counter() - installed)
    print(json.dumps({word: values[1:] for word, values in laps.items()}))


main()
