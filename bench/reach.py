"""Resources through a phase in each of five states; prints one line of JSON: ``python -m bench.reach FOLDER COUNT CAP``.

``CAP``: the most resources of one call, 0 for any number. Called first, it puts them into the store, as ``resources apply``
does; called again, it is the engine, and the clock runs from its start, reading of plugins and of the store included,
until all have arrived.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench import marks
from phaseline.cli.startup import fast_start as lean
from phaseline.embedded.follow import follow

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from phaseline.app.app_context import RequestContext

STATES = ("Validation", "Allocation", "Initialization", "Configuration", "Installation")
CLUSTER = "bench"
CODE = """from bench import marks


def handle(handler):
    marks.note()
    handler.setCompleted(handler.getResources())
"""


def pair(folder: Path, name: str, state: str, *lines: str, code: str = CODE, kind: str = "Cloud.Node") -> None:
    """One phase as a pair of files."""
    definition = [f"HandlesStates = {state}", f"ResourceType = {kind}", f"PhaseName = Bench.{name}", *lines]
    (folder / f"{name}.cfg").write_text("\n".join(definition) + "\n")
    (folder / f"{name}.py").write_text(code)


def five_phases(folder: Path, *lines: str, code: str = CODE) -> str:
    """The folder of five phases, one for each state."""
    made = folder / "phases"
    made.mkdir()
    for state in STATES:
        pair(made, state.lower(), state, *lines, code=code)
    return str(made)


def at_place(folder: Path, phases: str) -> AbstractContextManager[RequestContext]:
    """The store in this folder and the phases in that one."""
    from phaseline.app.settings import load_settings
    from phaseline.embedded.open_app import open_context

    given = {"store.url": f"sqlite:///{folder}/store.db", "plugins.path": phases}
    return open_context(load_settings(given=given), "bench")


def apply(ctx: RequestContext, first: int, count: int) -> None:
    """So many nodes, their names counted on from ``first``, with the target Started."""
    from phaseline.use_cases.commands.resources.apply import apply as apply_records

    nodes = [
        {"AdType": "Cloud.Node", "Name": f"n{number}", "TargetState": "Started"}
        for number in range(first, first + count)
    ]
    follow(ctx, apply_records(ctx, (), cluster=CLUSTER, records=nodes))


def arrived(ctx: RequestContext) -> int:
    """How many resources are in the last state."""
    from phaseline.model.resources.state_graph_names import state_numbers

    row = ctx.store.deployment(CLUSTER)
    assert row is not None
    started = state_numbers(ctx.store.state_names(row.number))["Started"]
    return int((ctx.store.states(row.number) == started).sum())


def imports() -> None:
    """Everything that the way of resources needs, loaded before the clock starts."""
    for name in (
        "phaseline.embedded.engine_commands", "phaseline.embedded.run_execution", "phaseline.app.app_context", "phaseline.run.loop.engine",
        "phaseline.run.executors.local_executor", "phaseline.run.phases.phase_engine", "phaseline.catalog.phases.plugin_set", "phaseline.store.sqlite.store",
        "phaseline.plan.workflows", "phaseline.compat.cyclecloud.callers", "phaseline.embedded.reload_plugins",
        "phaseline.use_cases.commands.resources.apply", "phaseline.compat.cloudify.callers", "phaseline.catalog.phases.function_loader", "phaseline.dsl.documents.json_codec", "numpy.ma", "re2",
        "importlib.metadata", "importlib.resources", "getpass", "csv", "pwd",
    ):  # fmt: skip
        __import__(name)


def main() -> None:
    """Apply what is not there yet, otherwise be the engine; print how long it took."""
    folder, count, cap = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    lean.begin()
    imports()
    from phaseline.embedded.engine_commands import run_engine

    is_new = not (folder / "store.db").exists()
    phases = five_phases(folder, *([f"Phase.MaxBatch = {cap}"] if cap else [])) if is_new else str(folder / "phases")
    with at_place(folder, phases) as ctx:
        began, used = time.perf_counter(), time.process_time()
        if is_new:
            apply(ctx, 0, count)
        else:
            run_engine(ctx, until_idle=True)
        took, used = time.perf_counter() - began, time.process_time() - used
        assert is_new or arrived(ctx) == count, "not all have arrived"
    print(json.dumps({"took": took, "processor": used, "calls": marks.CALLS[0]}))


if __name__ == "__main__":
    main()
