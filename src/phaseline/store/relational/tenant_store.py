"""What a tenant has in a store on a database (rule RF4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from phaseline.store.relational.connections import Transaction
from phaseline.store.relational.store import SqlRows
from phaseline.store.sql.tenant_rows import TenantRows

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Owner
    from phaseline.ports.clock import Clock
    from phaseline.store.codec.topologies import KnownTopologies
    from phaseline.store.relational.whole_store import SqlStore
    from phaseline.store.sql.turn_writer import TurnWriter


class SqlTenant(SqlRows):
    """Implements ``ports.tenant_store.TenantStore`` on a database; the protocol describes each method."""

    def __init__(
        self,
        whole: SqlStore,
        tenant: str,
        parts: tuple[Clock, KnownTopologies, TurnWriter],
        writing: Callable[[], Transaction],
        transaction: Callable[[], Transaction],
    ) -> None:
        """``parts`` are those of the whole store. ``writing`` and ``transaction`` begin its transactions."""
        self.tenant = tenant
        self.connections = whole.connections
        self.incarnations = whole.incarnations
        self._whole = whole
        self._begin_writing, self._begin = writing, transaction
        super().__init__(*parts, TenantRows(tenant))

    @property
    def is_owner(self) -> bool:
        """True while this process owns the store."""
        return self._whole.is_owner

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._whole.owner()

    def somebody_waits(self) -> bool:
        """Return True while another process waits to become the owner."""
        return self._whole.somebody_waits()

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        return self._whole.changed(since)

    def version(self) -> int:
        """Return a number above 0 that changes whenever another process has written."""
        return self._whole.version()

    def forget(self) -> None:
        """Forget which numbers are the tenant's, after a transaction that was not committed."""
        self._rows.forget()

    def _writing(self) -> Transaction:
        return self._begin_writing()

    def _transaction(self) -> Transaction:
        return self._begin()
