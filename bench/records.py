"""Records applied and listed; prints one line of JSON: ``python -m bench.records FOLDER COUNT``.

``rec`` and ``json``: seconds of CPU to apply COUNT records from a file of each form, each into a store of its own.
``row_us``: microseconds of CPU for each row of ``resources list`` after the first, where a phase has failed for all.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench.reach import at_place, pair

FAILS = """
def handle(handler):
    for node in handler.getResources():
        handler.getResourcePhaseData(node).setString("OperationId", "op-1")
        handler.setFailed(node, "no quota for " + node.getAsString("Name"))
"""


def written(folder: Path, count: int) -> dict[str, str]:
    """{form: a file with so many records}."""
    nodes = [
        {"AdType": "Cloud.Node", "Name": f"n{at}", "TargetState": "Started", "Cores": at % 8, "Tags": ["a", "b"]}
        for at in range(count)
    ]
    (folder / "nodes.json").write_text(json.dumps(nodes))
    lines = 'AdType = "Cloud.Node"\nName = "n{}"\nTargetState = "Started"\nCores = {}\nTags = {{"a", "b"}}\n'
    (folder / "nodes.rec").write_text("\n".join(lines.format(at, at % 8) for at in range(count)))
    return {form: str(folder / f"nodes.{form}") for form in ("json", "rec")}


def applied(folder: Path, phases: str, file: str) -> float:
    """Seconds of CPU to apply a file to a new store."""
    from phaseline.embedded.follow import follow
    from phaseline.use_cases.commands.resources.apply import apply

    folder.mkdir()
    with at_place(folder, phases) as place:
        begun = time.process_time()
        follow(place, apply(place, (file,), cluster="bench"))
        return time.process_time() - begun


def failed(folder: Path, phases: str) -> None:
    """An engine has brought all resources as far as it can."""
    from phaseline.app.watcher import NullWatcher
    from phaseline.embedded.run_execution import open_engine

    with (
        at_place(folder, phases) as place,
        place.app.store.own("bench") as lease,
        open_engine(place, lease, NullWatcher()) as engine,
    ):
        engine.recover()
        engine.turn()
        engine.run(lambda: not engine.has_work and not engine.scheduler.batches)
        engine.close(0)


def row_us(folder: Path, phases: str, count: int) -> float:
    """Microseconds of CPU for each row of a list after the first."""
    from phaseline.use_cases.queries.resources.resources import list_resources
    from phaseline.use_cases.queries.resources.selection import ResourceSelector

    with at_place(folder, phases) as place:
        took = []
        for limit in (1, 1, count):
            begun = time.process_time()
            list_resources(place, ResourceSelector(), limit=limit)
            took.append(time.process_time() - begun)
    return (took[2] - took[1]) / (count - 1) * 1e6


def main(folder: Path, count: int) -> None:
    """Measure and print."""
    made = folder / "phases"
    made.mkdir()
    pair(made, "fails", "Allocation", code=FAILS)
    files = written(folder, count)
    (folder / "few").mkdir()
    applied(folder / "first", str(made), written(folder / "few", 10)["rec"])  # whatever is imported once
    told = {form: applied(folder / form, str(made), file) for form, file in files.items()}
    failed(folder / "rec", str(made))
    print(json.dumps({**told, "row_us": row_us(folder / "rec", str(made), count)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
