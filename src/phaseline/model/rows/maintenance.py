"""Results of maintaining a store: inconsistencies found, space freed, rows removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phaseline.lang.fast_dataclasses import frozen


@frozen
class StoreFinding:
    """An inconsistency in a store: ``where`` names the table, ``count`` is the number of occurrences."""

    where: str
    message: str
    count: int = 1

    def __str__(self) -> str:
        """Return one line, such as ``page: 3 belong to no graph (the first: graph 7, page 0)``."""
        return f"{self.where}: {self.message}"


@frozen
class RestoredStore:
    """A restored store: its file or database, where the previous one is kept, and how many executions wait.

    ``kept``: the path of a file, or the name of a schema of the same database; empty if there was no store before.
    """

    file: str
    kept: str
    waiting: int


@frozen
class CopiedStore:
    """A store that was copied from ``source`` to ``target``: the number of rows of each table, and how many executions wait."""

    source: str
    target: str
    rows: int
    tables: Mapping[str, int]
    waiting: int


@frozen
class Filling:
    """What an upgrade has left to do in steps (UP3): ``done`` of ``total`` rows, counted by their numbers.

    ``at`` is the time of the last step in ms, 0 before the first one; ``worker`` is the process that has done it, or "".
    """

    name: str
    done: int
    total: int
    percent: int
    at: int = 0
    worker: str = ""


@frozen
class StoreVersion:
    """Version of a store's tables, the version that this program knows, and the process that owns the store, or None.

    ``upgraded_from`` is the version before an upgrade, or 0 if there was none. ``fillings`` are left of an upgrade, whose
    other parts are done; ``steps`` of them were done by this call.
    """

    schema: int
    known: int
    owner: str | None = None
    upgraded_from: int = 0
    fillings: Sequence[Filling] = ()
    steps: int = 0

    @property
    def is_due(self) -> bool:
        """True if the tables must be upgraded before this program can use the store."""
        return self.schema < self.known

    @property
    def is_finished(self) -> bool:
        """True if an upgrade has nothing to do: the tables have the present version, and are filled."""
        return not self.is_due and not self.fillings


@frozen
class Compacted:
    """Sizes in bytes of a store before and after; ``left`` bytes are free but could not be released, for this ``reason``."""

    before: int
    after: int
    left: int = 0
    reason: str = ""


@frozen
class PurgeRules:
    """What a purge removes, of one deployment or (None) of all.

    ``executions_before``: executions that ended before this time (ms), with all their data. ``lines_before``: log lines
    and events of executions that ended before this time. 0: none.
    """

    executions_before: int = 0
    lines_before: int = 0
    deployment: int | None = None


@frozen
class Purged:
    """Numbers of removed rows. ``deployments`` counts deleted deployments that were removed completely."""

    executions: int = 0
    graphs: int = 0
    batches: int = 0
    logs: int = 0
    events: int = 0
    requests: int = 0
    deployments: int = 0

    def __add__(self, other: Purged) -> Purged:
        """Return the sums of both objects' numbers."""
        return Purged(
            self.executions + other.executions,
            self.graphs + other.graphs,
            self.batches + other.batches,
            self.logs + other.logs,
            self.events + other.events,
            self.requests + other.requests,
            self.deployments + other.deployments,
        )
