"""What made a deployment or an execution that no user asked for, and which entries wait for which executions (BB2, BB3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CauseKind = Literal["component", "relationship", "group", "schedule", "program", "recursive", "capability"]
"""What made something: a Component's operation, an operation of a relationship, a run of a group, a schedule, a program,
an uninstall of all that needs a deployment, or a changed capability."""


@frozen
class CauseKey:
    """What made a deployment or an execution.

    ``number`` is that of an execution, of a group or of a schedule. ``key`` names one thing that this cause makes: of two
    with equal kind, number and key only one is stored. So a call that is repeated after a crash finds what it has made.
    """

    kind: CauseKind
    number: int
    key: str


def entry_key(graph: int, position: int, generation: int) -> str:
    """Return the key of what an entry makes; a user's retry of the entry has another generation, and so another key.

    >>> entry_key(7, 0, 1)
    '7/0/1'
    """
    return f"{graph}/{position}/{generation}"


@frozen
class CausedRow:
    """A stored execution (``is_execution``) or deployment with its number and its cause."""

    number: int
    is_execution: bool
    cause: CauseKey


@frozen
class AwaitRow:
    """An entry of an execution that sleeps until another execution (``awaited``) ends. ``since`` is in ms."""

    execution: int
    graph: int
    position: int
    awaited: int
    since: int


@frozen
class AwaitChanges:
    """Changes of what entries wait for: new rows, and executions that have ended, so that nothing waits for or in them.

    ``gone`` has rows to be deleted: (execution, graph, position, awaited).
    """

    new: tuple[AwaitRow, ...] = ()
    over: tuple[int, ...] = ()
    gone: tuple[tuple[int, int, int, int], ...] = ()

    def __bool__(self) -> bool:
        """Return True if there is anything to write."""
        return bool(self.new or self.over or self.gone)


NO_AWAITS = AwaitChanges()


class CauseShelf(Protocol):
    """Storage of causes, and of what entries wait for. Only the owner's turns and new rows write them."""

    def caused(self, kind: CauseKind, number: int) -> Sequence[CausedRow]:
        """Return all that a cause has made: deployments, then executions, each sorted by number."""
        ...

    def of_executions(self, executions: Sequence[int]) -> Sequence[CausedRow]:
        """Return those of the executions that have a cause, sorted by number."""
        ...

    def of_deployments(self, deployments: Sequence[int]) -> Sequence[CausedRow]:
        """Return those of the deployments that have a cause, sorted by number."""
        ...

    def of_blueprints(self, blueprints: Sequence[int]) -> Mapping[int, CauseKey]:
        """Return {number of a stored blueprint: its cause} of those of the blueprints that no user has stored."""
        ...

    def add_blueprint(self, blueprint: int, cause: CauseKey) -> None:
        """Store the cause of a stored blueprint; it is deleted with the blueprint."""
        ...

    def awaiting(self) -> Sequence[AwaitRow]:
        """Return what entries wait for, sorted by execution, graph, position and awaited execution.

        An entry that was called again meanwhile may still be in a row, until its execution or the awaited one ends.
        """
        ...
