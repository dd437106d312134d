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
    """A store that was put back: its file, where the one before is kept (empty: there was none), how many executions wait."""

    file: str
    kept: str
    waiting: int


@frozen
class Compacted:
    """Bytes of a store before and after; ``left`` of them are free but could not be released, for this ``reason``."""

    before: int
    after: int
    left: int = 0
    reason: str = ""


@frozen
class Purged:
    """How much was removed. ``deployments``: deleted ones of which nothing was left."""

    executions: int = 0
    graphs: int = 0
    batches: int = 0
    logs: int = 0
    events: int = 0
    requests: int = 0
    deployments: int = 0

    def __add__(self, other: Purged) -> Purged:
        """Both together."""
        return Purged(
            self.executions + other.executions,
            self.graphs + other.graphs,
            self.batches + other.batches,
            self.logs + other.logs,
            self.events + other.events,
            self.requests + other.requests,
            self.deployments + other.deployments,
        )
