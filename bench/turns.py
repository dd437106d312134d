"""What a turn of the engine costs when many phases are defined: ``python -m bench.turns FOLDER DEFINED ACTIVE``, one line of JSON.

``ACTIVE`` phases of one state are called again and again for the same resources; the other ones are of a state in which
nobody is. Only the processor time of the engine's own thread counts, from when each active phase was called once.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench import marks, reach
from phaseline.cli import lean

RESOURCES, POLLS = 20, 15
CODE = """from bench import marks


def handle(handler):
    marks.note()
    for node in handler.getResources():
        data = handler.getResourcePhaseData(node)
        polls = (data.getAsInteger("Polls") or 0) + 1
        data.setInteger("Polls", polls)
        if polls > %d:
            handler.setCompleted(node)
"""


def main() -> None:
    """Run and print."""
    lean.begin()
    folder, defined, active = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    phases = folder / "phases"
    phases.mkdir()
    for number in range(defined):
        state = "Allocation" if number < active else "Deallocation"
        reach.pair(phases, f"phase{number}", state, "Phase.SleepDelay = 0.05", code=CODE % POLLS)
    from phaseline.use_cases.owning import engine_of
    from phaseline.use_cases.watching import Nobody

    spent, turns = 0.0, 0
    with reach.at_place(folder, str(phases)) as place:
        reach.apply(place, 0, RESOURCES)
        with place.store.own("bench"), engine_of(place, Nobody()) as engine:
            engine.recover()
            while not engine.is_idle:
                counts = marks.CALLS[0] >= active
                began = time.thread_time()
                engine.turn()
                if counts:
                    spent += time.thread_time() - began
                    turns += 1
            engine.close(0)
        assert reach.arrived(place) == RESOURCES, "not all have arrived"
    print(json.dumps({"microseconds": 1e6 * spent / turns, "turns": turns, "calls": marks.CALLS[0], "spent": spent}))


if __name__ == "__main__":
    main()
