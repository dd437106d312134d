"""What a turn of the engine costs when many phases are defined: ``python -m bench.turns FOLDER DEFINED ACTIVE``, one line of JSON.

``ACTIVE`` phases of one state are called again and again for the same resources. Two engines do so at the same time, turn
about, in one process: beside one of them lie as many more phases as make ``DEFINED``, of a state in which nobody is. What
disturbs the machine disturbs both. Only the processor time of the engines' own thread counts, from when each active phase
was called once; it is told for each call, because how many calls one turn has is a matter of chance.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench import reach
from phaseline.cli.startup import fast_start as lean

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.run.loop.engine import Engine

RESOURCES, POLLS = 20, 15
CODE = """def handle(handler):
    for node in handler.getResources():
        data = handler.getResourcePhaseData(node)
        polls = (data.getAsInteger("Polls") or 0) + 1
        data.setInteger("Polls", polls)
        if polls > %d:
            handler.setCompleted(node)
"""


class Watched:
    """An engine and what its turns have cost since each phase was called once."""

    def __init__(self, ctx: RequestContext, engine: Engine, active: int) -> None:
        """Nothing was done yet."""
        self.ctx, self._engine, self._active = ctx, engine, active
        self.spent, self.turns, self.calls = 0.0, 0, 0
        engine.recover()

    @property
    def is_idle(self) -> bool:
        """True when all have arrived."""
        return self._engine.is_idle

    def turn(self) -> None:
        """One turn."""
        before, began = self._engine.calls, time.thread_time()
        self._engine.turn()
        if before >= self._active:
            self.spent += time.thread_time() - began
            self.turns += 1
            self.calls += self._engine.calls - before


def _begun(stack: contextlib.ExitStack, folder: Path, defined: int, active: int) -> Watched:
    """An engine with so many phases, for resources that are about to enter the state of the active ones."""
    phases = folder / "phases"
    phases.mkdir(parents=True)
    for number in range(defined):
        state = "Allocation" if number < active else "Deallocation"
        reach.pair(phases, f"phase{number}", state, "Phase.SleepDelay = 0.05", code=CODE % POLLS)
    from phaseline.app.watcher import NullWatcher
    from phaseline.embedded.run_execution import open_engine

    ctx = stack.enter_context(reach.at_place(folder, str(phases)))
    reach.apply(ctx, 0, RESOURCES)
    lease = stack.enter_context(ctx.app.store.own("bench"))
    engine = stack.enter_context(open_engine(ctx, lease, NullWatcher()))
    stack.callback(engine.close, 0)
    return Watched(ctx, engine, active)


def main() -> None:
    """Run and print."""
    lean.begin()
    folder, defined, active = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with contextlib.ExitStack() as stack:
        alone, beside = (_begun(stack, folder / str(count), count, active) for count in (active, defined))
        both = [alone, beside]
        while not all(watched.is_idle for watched in both):
            for watched in both:
                if not watched.is_idle:
                    watched.turn()
            both.reverse()
        for watched in both:
            assert reach.arrived(watched.ctx) == RESOURCES, "not all have arrived"
    told = {
        name: {"turn": 1000 * one.spent / one.turns, "call": 1e6 * one.spent / one.calls}
        for name, one in (("alone", alone), ("beside", beside))
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
