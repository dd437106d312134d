"""Made ``data/store-v1.db``: a store of schema 1 whose engine has died in the middle of an installation.

Run once, with the code of schema 1 (``git log -- tests/store/data/store-v1.db`` names it); kept to say what is in the
file: ``old`` is installed, ``shop`` is half installed (a host whose call has not come back, a server that sleeps,
one whose call has not come back, one that is done) and ``late`` is queued.
"""

import sys
from pathlib import Path

from tests.store.engines import NEVER, Answer, completes, deployed, engine, turn

from phaseline.model.graph.status import OutcomeKind
from phaseline.store.sqlite.store import SqliteStore
from phaseline.testing.clock import VirtualClock

BEGAN_AT = 1_700_000_000_000
HOUR_MS = 3_600_000


def half(operation: str, instance: str) -> Answer:
    """What has been answered when the engine died."""
    if (operation, instance) == ("create", "web_2"):
        return OutcomeKind.AGAIN, HOUR_MS
    if (operation, instance) in {("create", "host_4"), ("create", "web_3")}:
        return NEVER, -1
    return completes(operation, instance)


def make(path: Path) -> None:
    """Write the store."""
    clock = VirtualClock(BEGAN_AT)
    store = SqliteStore.open(path, clock)
    for name, script in (("old", completes), ("shop", half)):
        _, id = deployed(store, name, clock.now())
        row = store.execution(id)
        assert row is not None
        with engine(store, clock, script) as (started, executor):
            started.submit(row)
            turn(started, executor)
        clock.advance_to(clock.now() + 1_000)
    deployed(store, "late", clock.now())
    store.close()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
