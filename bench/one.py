"""One install and uninstall in a process of its own; prints one line of JSON.

``python -m bench.one FILE STORE [--resume] [--templates]``: ``STORE`` is ``memory:``, a path or the URL of a database. The clock runs from
the call of install to the end of uninstall; imports are made before.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import time
from pathlib import Path


def imports() -> None:
    """Everything an install needs, loaded before the clock starts."""
    for name in (
        "phaseline.use_cases.commands.install", "phaseline.use_cases.commands.control", "phaseline.embedded.run_execution",
        "phaseline.app.app_context", "phaseline.app.settings", "phaseline.run.loop.engine",
        "phaseline.run.executors.local_executor", "phaseline.catalog", "phaseline.plan.workflows", "phaseline.dsl.reader", "phaseline.dsl.functions",
        "phaseline.plan.requests.request_validation", "phaseline.plan.preview.plan_summary", "phaseline.catalog.files.blueprint_files",
        "phaseline.compat.cloudify", "phaseline.plan.topology.expansion", "numpy.ma", "pwd", "phaseline.store.sqlite.store", "phaseline.store.memory.store",
        "phaseline.store.sqlite.create_database", "phaseline.plan.workflows.install", "phaseline.plan.workflows.uninstall",
        "phaseline.plan.workflows.lifecycle_retries", "phaseline.plan.states.state_graph", "phaseline.plan.states.state_operations", "phaseline.dsl.documents.json_codec",
        "phaseline.dsl.documents.group_codec", "phaseline.dsl.deployment.evaluate_blueprint", "phaseline.dsl.text.json_reader", "phaseline.catalog.code.entry_points",
        "phaseline.calls.batches.native_items", "phaseline.app.function_discovery", "phaseline.use_cases.loading.blueprint_loading", "phaseline.use_cases.loading.deployment_rows",
        "phaseline.use_cases.lookup.input_suggestions", "phaseline.use_cases.prepare.deployment_spec", "phaseline.use_cases.prepare.options", "phaseline.use_cases.commands.orders", "phaseline.app.callers", "phaseline.use_cases.loading.resource_nodes", "phaseline.use_cases.loading.type_catalog",
        "phaseline.lang.gc_pause", "phaseline.vault.known_secrets", "phaseline.vault.master_keys",
        "phaseline.store.sql.read_model.changes", "phaseline.store.sql.labels", "phaseline.store.sql.secrets", "phaseline.store.sql.stored_blueprints",
        "phaseline.store.sql.health_checks", "phaseline.store.relational.incarnations", "phaseline.lang.cycles",
        "phaseline.embedded.open_app", "phaseline.vault.vault", "phaseline.dsl.functions.evaluation", "phaseline.dsl.deployment.secret_names", "encodings.utf_8_sig",
    ):  # fmt: skip
        __import__(name)


def peak_bytes() -> int:
    """The most memory this process has had since it began; what ``getrusage`` says includes that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Run and print."""
    from phaseline.cli.startup import fast_start as lean

    lean.begin()  # as a command sets Python up
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("store")
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args()
    plugins = Path(__file__).parent / "plugins"
    sys.path.insert(0, str(plugins))
    imports()
    print(json.dumps(measure(given.file, given.store, str(plugins), resumed=given.resume)))


def measure(file: str, store: str, plugins: str, *, resumed: bool) -> dict[str, object]:
    """Seconds of each part, states at the end, and bytes above the empty process."""
    from bench import marks
    from phaseline.app.settings import load_settings
    from phaseline.embedded.follow import follow
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.commands import control as deciding
    from phaseline.use_cases.commands import install as installing
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

    url = store if store == "memory:" or store.startswith("postgresql:") else f"sqlite:///{store}"
    settings = load_settings(given={"store.url": url})
    gc.collect()
    empty = peak_bytes()
    with open_context(settings, "bench") as ctx:
        began, began_cpu = time.perf_counter(), marks.processor()
        marks.BEGAN.extend((began, began_cpu))
        if resumed:
            done = deciding.resume(ctx, ctx.store.executions()[-1].id)
        else:
            done = follow(ctx, installing.install(ctx, DeploymentSpec(file, "bench", plugin_folders=(plugins,))))
        installed = time.perf_counter()
        first = marks.FIRST[0] if marks.FIRST else began
        first_cpu = marks.FIRST_CPU[0] if marks.FIRST_CPU else began_cpu
        undone = follow(ctx, installing.uninstall(ctx, "bench"))
        ended = time.perf_counter()
        used = marks.processor() - began_cpu
    return {
        "total": ended - began,
        "processor": used,
        "install": installed - began,
        "uninstall": ended - installed,
        "until_first_call": first - began,
        "cpu_until_first_call": first_cpu - began_cpu,
        "statuses": [str(done.status), str(undone.status)],
        "bytes": peak_bytes() - empty,
        "calls": marks.CALLS[0],
    }


main()
