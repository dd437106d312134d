"""Protocol of the maintenance of a whole store, for all tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.ports.tenant_store import Incarnations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.rows.maintenance import Compacted, StoreFinding
    from phaseline.model.rows.rows import Actor, ExecutionRow
    from phaseline.model.rows.secrets import AllSecrets


class IncarnationShelf(Incarnations, Protocol):
    """Incarnations of a store, and the executions that wait since a restore until an operator continues them (BK5)."""

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """Store a request to start each execution that waits since a restore; return these executions, oldest first."""
        ...


class StoreUpkeep(Protocol):
    """What an operator of the whole store does, for all tenants. Any process may, while an engine runs."""

    @property
    def incarnations(self) -> IncarnationShelf:
        """Incarnations of the store since its first restore, with the executions that a restore made wait."""
        ...

    @property
    def secrets(self) -> AllSecrets:
        """The secrets of the store, whose data keys can be replaced."""
        ...

    def sizes(self) -> tuple[int, int]:
        """Return (size of the stored data, size of the write-ahead log) in bytes; 0 for what does not exist."""
        ...

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server: (level, name, text, remedy); empty if there is no server."""
        ...

    def check(self) -> Sequence[StoreFinding]:
        """Return all inconsistencies in the store, and change nothing.

        An empty result means that the store is sound.
        """
        ...

    def backup(self, path: str) -> int:
        """Copy the store's present state into a new file, check the copy, and return its size in bytes.

        Raises: PL-S006 if the file exists or cannot be written.
        """
        ...

    def compact(self) -> Compacted:
        """Return free space of the store's file to the operating system, in steps that hardly slow a running engine."""
        ...

    def continue_upgrade(self) -> bool:
        """Do one step of what an upgrade has left, which takes well under a second. Return True if there may be another.

        Any process may call it. The owner does in ``refresh_lists``. Lists show the same before and after.
        """
        ...

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the stored list of known phases by ``known``: {name in lower case: description}."""
        ...
