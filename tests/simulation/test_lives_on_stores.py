"""The same lives over the stores on a disk: each seed gives the same story as in memory (risk K3).

``SIMULATED_ON_STORES=300`` tries so many seeds instead of a few.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from tests.store.postgres_server import new_schema

from phaseline.model.rows.rows import Turn
from phaseline.ports.lease import Lease
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.sqlite.store import SqliteStore
from phaseline.testing.clock import VirtualClock
from phaseline.testing.simulation import simulate
from phaseline.testing.simulation.compositions import CrashingTransactions, simulate_composition
from phaseline.testing.simulation.world import SimulatedStore

SEEDS = range(int(os.environ.get("SIMULATED_ON_STORES", "6")))
RUN_OUT = "update lease set until = clock_timestamp() - interval '1 second'"

Commit = Callable[[Turn, Callable[[Turn], None]], None]
Open = Callable[[VirtualClock, Commit], SimulatedStore]


def on_disk(path: Path) -> Open:
    """Opens a store in a file whose owners die as those of a store in memory do."""

    class Simulated(CrashingTransactions, SqliteStore):
        def commit(self, turn: Turn) -> None:
            self.passed_on(turn, super().commit)

        @contextmanager
        def own(self, command: str) -> Iterator[Lease]:
            self.owned = ExitStack()
            with self.owned:
                yield self.owned.enter_context(super().own(command))

        def disown(self) -> None:
            vars(self).get("owned", ExitStack()).close()  # the system does this to the lock of a process that died

    def opened(clock: VirtualClock, commit: Commit) -> SimulatedStore:
        store = Simulated.open(path, clock)
        store.passed_on = commit
        return store

    return opened


def on_server(url: str) -> Open:
    """Opens a store on a server; the lease of an owner that died is there until it runs out."""

    class Simulated(CrashingTransactions, PostgresStore):
        def commit(self, turn: Turn) -> None:
            self.passed_on(turn, super().commit)

        @contextmanager
        def own(self, command: str) -> Iterator[Lease]:
            with super().own(command) as lease:
                self.leases.append(lease)
                yield lease

        def disown(self) -> None:
            for lease in self.leases:
                lease.stop()
            self.leases.clear()
            with psycopg.connect(url, autocommit=True) as db:
                db.execute(RUN_OUT)

    def opened(clock: VirtualClock, commit: Commit) -> SimulatedStore:
        store = Simulated.open(url, clock)
        store.passed_on, store.leases = commit, []
        return store

    return opened


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_a_seed_gives_the_same_story_on_every_store(tmp_path: Path, kind: str, seed: int) -> None:
    opened = on_disk(tmp_path / "store.db") if kind == "sqlite" else on_server(new_schema())
    assert simulate(seed, opened).lines == simulate(seed).lines


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_bb1_compositions_keep_their_promises_on_every_store(tmp_path: Path, kind: str, seed: int) -> None:
    opened = on_disk(tmp_path / "store.db") if kind == "sqlite" else on_server(new_schema())
    simulate_composition(seed, opened)
