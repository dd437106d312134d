"""The floor: the same transitions with nothing around them.

100,000 instances go through nine operations. For each, a plain loop calls a no-op function with a fresh object that
holds three slots, inside ``try``, and writes the new state and version of each instance into a narrow row; one
transaction for each 10,000 transitions, write-ahead log, full sync. ``phases`` is the same for resources that phases
move: a call and a transaction for each batch. An orchestrator that is as fast as this adds
nothing but what durability itself costs.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

OPERATIONS = 9
PHASES = 5
PER_TRANSACTION = 10_000


class Subject:
    """What a plugin function is called with."""

    __slots__ = ("number", "operation", "properties")

    def __init__(self, number: int, operation: str, properties: dict[str, object]) -> None:
        """Three slots, as little as a context can hold."""
        self.number, self.operation, self.properties = number, operation, properties


def no_operation(subject: Subject) -> None:
    """Nothing."""


def narrow(folder: Path, count: int) -> float:
    """Seconds for ``count`` instances × 9 operations, one narrow row an instance rewritten at each transition."""
    path = folder / "floor.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table instance (number integer primary key, state integer, version integer)")
    db.execute("begin")
    db.executemany("insert into instance values (?, 0, 0)", ((number,) for number in range(count)))
    db.execute("commit")
    started = time.perf_counter()
    _transitions(db, count)
    took = time.perf_counter() - started
    db.close()
    return took


class Passing:
    """A resource on its way, as bare as it can be."""

    __slots__ = ("data", "number", "phase", "status")

    def __init__(self, number: int) -> None:
        """In no phase yet."""
        self.number, self.phase, self.status, self.data = number, 0, 0, None


def all_pass(resources: list[Passing]) -> None:
    """What a phase does at least: it marks each."""
    for resource in resources:
        resource.status = 1


def phases(folder: Path, count: int, cap: int) -> float:
    """Seconds for ``count`` resources through ``PHASES`` phases, ``cap`` of them a call: one transaction for each call."""
    path = folder / "phases.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table resource (number integer primary key, state integer, phase integer)")
    db.execute("begin")
    db.executemany("insert into resource values (?, 0, 0)", ((number,) for number in range(count)))
    db.execute("commit")
    resources = [Passing(number) for number in range(count)]
    started = time.perf_counter()
    for phase in range(1, PHASES + 1):
        for low in range(0, count, cap):
            part = resources[low : low + cap]
            all_pass(part)
            done = [(phase, resource.number) for resource in part if resource.status == 1]
            db.execute("begin")
            db.executemany("update resource set phase = ? where number = ?", done)
            db.execute("commit")
            for resource in part:
                resource.phase, resource.status = phase, 0
    took = time.perf_counter() - started
    db.close()
    return took


def commits(folder: Path, count: int) -> float:
    """Seconds for ``count`` transactions that rewrite one narrow row each: what storing calls one by one costs at least."""
    path = folder / "commits.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table instance (number integer primary key, state integer, version integer)")
    db.execute("insert into instance values (0, 0, 0)")
    started = time.perf_counter()
    for number in range(count):
        db.execute("begin immediate")
        db.execute("update instance set state = ?, version = ? where number = 0", (number % 250, number))
        db.execute("commit")
    took = time.perf_counter() - started
    db.close()
    return took


def _transitions(db: sqlite3.Connection, count: int) -> None:
    properties: dict[str, object] = {}
    function = no_operation
    for operation in range(1, OPERATIONS + 1):
        for low in range(0, count, PER_TRANSACTION):
            high = min(low + PER_TRANSACTION, count)
            done = []
            for number in range(low, high):
                try:
                    function(Subject(number, "operation", properties))
                except ValueError:
                    continue
                done.append((operation, operation, number))
            db.execute("begin")
            db.executemany("update instance set state = ?, version = ? where number = ?", done)
            db.execute("commit")
