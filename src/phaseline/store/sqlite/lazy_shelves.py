"""Parts of a store in a file that most commands do not need; the code of each is imported when first used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from phaseline.model.rows.maintenance import PurgeRules
    from phaseline.ports.clock import Clock
    from phaseline.store.sql.hook_switches import SqliteSwitches
    from phaseline.store.sql.listings import SqliteListings
    from phaseline.store.sql.orders import SqliteOrders
    from phaseline.store.sql.packages import SqlitePackages
    from phaseline.store.sql.purging.rounds import SqlPurge
    from phaseline.store.sql.stack_documents import SqliteDocuments
    from phaseline.store.sql.stored_plans import SqlitePlans
    from phaseline.store.sqlite.connections import Connections, ReadSnapshot, Transaction


class Seldom:
    """Base class with the parts of a store that are imported and made when first used."""

    _clock: Clock
    connections: Connections

    if TYPE_CHECKING:

        def _reading(self) -> ReadSnapshot: ...

        def _writing(self) -> Transaction: ...

    @cached_property
    def packages(self) -> SqlitePackages:
        """Plugin packages that are installed."""
        from phaseline.store.sql.packages import SqlitePackages

        return SqlitePackages(self._reading, self._writing, self._clock)

    @cached_property
    def stack_documents(self) -> SqliteDocuments:
        """Stack documents: deployments as JSON."""
        from phaseline.store.sql.stack_documents import SqliteDocuments

        return SqliteDocuments(self._reading)

    @property
    def orders(self) -> SqliteOrders:
        """Orders that were given with a request id."""
        from phaseline.store.sql.orders import SqliteOrders

        return SqliteOrders(self._reading)

    @cached_property
    def hook_switches(self) -> SqliteSwitches:
        """Hook classes that are switched off."""
        from phaseline.store.sql.hook_switches import SqliteSwitches

        return SqliteSwitches(self._reading, self._writing, self._clock)

    @cached_property
    def listings(self) -> SqliteListings:
        """Rows for lists of many deployments."""
        from phaseline.store.sql.listings import SqliteListings

        return SqliteListings(self._reading)

    @cached_property
    def stored_plans(self) -> SqlitePlans:
        """Plans that users have stored."""
        from phaseline.store.sql.stored_plans import SqlitePlans

        return SqlitePlans(self._reading, self._writing)

    def purging(self, rules: PurgeRules) -> SqlPurge:
        """Begin to remove what is older than the rules allow, in slices."""
        from phaseline.store.sql.purging.rounds import SqlPurge

        return SqlPurge(self._brief, rules)

    @contextmanager
    def _brief(self) -> Iterator[sqlite3.Connection]:
        """Return a transaction of a slice, which never has to copy much of the log into the file."""
        with self.connections.write_guard, self.connections.copying_often(), self._writing() as db:
            yield db
