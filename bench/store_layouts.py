"""How statuses are laid out in SQLite, measured: pages of a thousand bytes against a row for each.

The figures of docs/adr/0001-pages-of-statuses.md. Run: ``python bench/store_layouts.py``.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

INSTANCES = 100_000
STATES = 11
ENTRIES = 900_000
TURN = 10_000
PAGE = 1_000
ROUNDS = 5

TABLES = (
    "create table instance (deployment integer, number integer, state integer, primary key (deployment, number)) without rowid",
    "create table state_page (deployment integer, number integer, states blob, primary key (deployment, number))",
    "create table entry (graph integer, position integer, status integer, primary key (graph, position)) without rowid",
    "create table page (graph integer, number integer, statuses blob, primary key (graph, number))",
)


class Layouts:
    """One database with all the layouts, filled as after planning."""

    def __init__(self, folder: str) -> None:
        """WAL and full sync, as the store has it."""
        self.db = sqlite3.connect(Path(folder) / "layouts.db", isolation_level=None)
        self.db.execute("pragma journal_mode = wal")
        self.db.execute("pragma synchronous = full")
        self.db.execute("pragma wal_autocheckpoint = 4000")
        for table in TABLES:
            self.db.execute(table)
        self.states = np.zeros(INSTANCES, np.uint8)
        self.statuses = np.zeros(ENTRIES, np.uint8)
        self.shuffled = np.random.default_rng(1).permutation(INSTANCES)
        with self.turn():
            self.db.executemany("insert into instance values (1, ?, 0)", ((number,) for number in range(INSTANCES)))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One transaction."""
        self.db.execute("begin immediate")
        yield
        self.db.execute("commit")

    def parts(self, order: np.ndarray | None) -> Iterator[tuple[int, np.ndarray]]:
        """(state, instances) of each turn; ``order`` None: ranges."""
        for state in range(1, STATES + 1):
            for first in range(0, INSTANCES, TURN):
                part = np.arange(first, first + TURN) if order is None else np.sort(order[first : first + TURN])
                yield state, part

    def states_by_range(self) -> None:
        """Rows, where what becomes ready together lies together."""
        for state, part in self.parts(None):
            with self.turn():
                self.db.execute(
                    "update instance set state = ? where deployment = 1 and number between ? and ?",
                    (state, int(part[0]), int(part[-1])),
                )

    def states_by_list(self) -> None:
        """Rows, where it does not."""
        for state, part in self.parts(self.shuffled):
            with self.turn():
                self.db.execute(
                    "update instance set state = ? where deployment = 1 and number in (select value from json_each(?))",
                    (state, json.dumps(part.tolist())),
                )

    def states_by_page(self, order: np.ndarray | None) -> None:
        """Pages; the owner holds the states in memory."""
        for state, part in self.parts(order):
            with self.turn():
                self.states[part] = state
                touched = np.zeros(INSTANCES // PAGE, np.bool_)
                touched[part // PAGE] = True
                self.db.executemany(
                    "insert or replace into state_page values (1, ?, ?)",
                    [
                        (page, self.states[page * PAGE : (page + 1) * PAGE].tobytes())
                        for page in np.flatnonzero(touched).tolist()
                    ],
                )

    def entries_by_row(self) -> None:
        """A narrow row when an entry ends."""
        for first in range(0, ENTRIES, TURN):
            with self.turn():
                rows = ((position,) for position in range(first, first + TURN))
                self.db.executemany("insert into entry values (1, ?, 6)", rows)

    def entries_by_page(self) -> None:
        """The page of an entry when it ends."""
        for first in range(0, ENTRIES, TURN):
            with self.turn():
                self.statuses[first : first + TURN] = 6
                self.db.executemany(
                    "insert or replace into page values (1, ?, ?)",
                    [(at // PAGE, self.statuses[at : at + PAGE].tobytes()) for at in range(first, first + TURN, PAGE)],
                )

    def read_rows(self) -> np.ndarray:
        """Statuses of a graph from rows."""
        rows = self.db.execute("select position, status from entry where graph = 1").fetchall()
        return np.array(rows, np.int32)

    def read_pages(self) -> np.ndarray:
        """Statuses of a graph from pages."""
        rows = self.db.execute("select statuses from page where graph = 1 order by number").fetchall()
        return np.frombuffer(b"".join(row[0] for row in rows), np.uint8)


def measured(name: str, work: Callable[[], object]) -> None:
    """One line: the shortest time, and the longest."""
    times = []
    for _ in range(1 if name.startswith("once") else ROUNDS):
        start = time.perf_counter()
        work()
        times.append(1_000 * (time.perf_counter() - start))
    print(f"{name:58} {min(times):8.1f} ms  (longest {max(times):.1f})")


def main() -> None:
    """All lines of the record."""
    with tempfile.TemporaryDirectory() as folder:
        layouts = Layouts(folder)
        measured("states, 100,000 x 11: rows, update by range", layouts.states_by_range)
        measured("states, 100,000 x 11: rows, scattered, json_each", layouts.states_by_list)
        measured("states, 100,000 x 11: pages, by range", lambda: layouts.states_by_page(None))
        measured("states, 100,000 x 11: pages, scattered", lambda: layouts.states_by_page(layouts.shuffled))
        measured("once: entries, 900,000: late narrow rows", layouts.entries_by_row)
        measured("entries, 900,000: pages", layouts.entries_by_page)
        measured("reopen 900,000 entries: rows", layouts.read_rows)
        measured("reopen 900,000 entries: pages", layouts.read_pages)
        layouts.db.close()


if __name__ == "__main__":
    main()
