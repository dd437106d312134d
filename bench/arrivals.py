"""Resources that arrive in waves while the engine works; prints one line of JSON: ``python -m bench.arrivals FOLDER WAVES SIZE``.

After each turn of the engine its lanes are looked at: how many calls of a phase run at once, and how many resources still
wait that a call which has just begun could have taken along. The plugin's own notes are looked at for calls that overlap.
"""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from bench import marks, reach

if TYPE_CHECKING:
    from phaseline.engine.scheduler import Scheduler

PAUSE_S = 0.01
PATIENCE_S = 60
CODE = """import time

from bench import arrivals, marks


def handle(handler):
    began = time.perf_counter()
    time.sleep(0.005)  # as long as a call to a cloud takes at least
    handler.setCompleted(handler.getResources())
    marks.SPANS.append((handler.getPhaseName(), began, time.perf_counter()))
"""


class Watch:
    """What was seen of the lanes: the most calls of one phase at once, resources left waiting beside a new call."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Nothing was seen yet."""
        self.scheduler = scheduler
        self.running = self.left = self.calls = 0
        self._last = 0

    def look(self) -> None:
        """After a turn."""
        begun = [batch.lane for number, batch in self.scheduler.batches.items() if number > self._last]
        self._last = max(self.scheduler.batches, default=self._last)
        self.calls += len(begun)
        self.left += sum(lane.waiting for lane in begun if lane is not None)
        self.running = max([self.running, *(lane.running for lane in self.scheduler.lanes.by_key.values())])


def overlaps() -> int:
    """How many calls of a phase began before the one before had ended."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for name, began, ended in marks.SPANS:
        spans.setdefault(name, []).append((began, ended))
    return sum(later[0] < earlier[1] for found in spans.values() for earlier, later in pairwise(sorted(found)))


def main() -> None:
    """Run and print."""
    folder, waves, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    phases = reach.five_phases(folder, code=CODE)
    from phaseline.app.watcher import NullWatcher
    from phaseline.embedded.run_execution import open_engine

    is_over = threading.Event()

    def arrive() -> None:
        with reach.at_place(folder, phases) as place:
            for wave in range(waves):
                reach.apply(place, wave * size, size)
                time.sleep(PAUSE_S)
        is_over.set()

    with reach.at_place(folder, phases) as place:
        with place.app.store.own("bench") as lease, open_engine(place, lease, NullWatcher()) as engine:
            watch = Watch(engine.scheduler)
            threading.Thread(target=arrive).start()
            until = math.inf
            # An engine that is idle may not yet have looked at what came last.
            while not is_over.is_set() or not engine.is_idle or reach.arrived(place) < waves * size:
                engine.turn()
                watch.look()
                until = min(until, time.monotonic() + PATIENCE_S) if is_over.is_set() else until
                if time.monotonic() > until:
                    break
            engine.close(0)
        assert reach.arrived(place) == waves * size, "not all have arrived"
    told = {"calls": len(marks.SPANS), "running": watch.running, "overlaps": overlaps(), "left": watch.left}
    print(json.dumps(told | {"seen": watch.calls}))


if __name__ == "__main__":
    main()
