"""Results of maintaining a store: inconsistencies found, space freed, rows removed."""

from __future__ import annotations

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
    """A restored store: its file, where the previous file is kept (empty if there was none), and how many executions wait."""

    file: str
    kept: str
    waiting: int


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
