"""Parts of a store in a file that most commands do not need; the code of each is imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite.connections import Problems

if TYPE_CHECKING:
    import sqlite3

    from phaseline.model.rows.maintenance import PurgeRules, StoreFinding
    from phaseline.ports.clock import Clock
    from phaseline.store.sql.hook_switches import SqliteSwitches
    from phaseline.store.sql.listings import SqliteListings
    from phaseline.store.sql.orders import SqliteOrders
    from phaseline.store.sql.packages import SqlitePackages
    from phaseline.store.sql.purging.rounds import SqlPurge
    from phaseline.store.sql.stack_documents import SqliteDocuments
    from phaseline.store.sql.stored_plans import SqlitePlans
    from phaseline.store.sqlite.connections import Connections, ReadSnapshot, Transaction
    from phaseline.store.sqlite.wake_pipe import WakePipe
    from phaseline.store.wake_ups import WakeUps


class Seldom:
    """Base class with the parts of a store that are imported and made when first used."""

    path: str
    connections: Connections
    _clock: Clock
    _listeners: WakeUps | None = None

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

    def check(self) -> Sequence[StoreFinding]:
        """Return all inconsistencies in the store."""
        from phaseline.store.sqlite import integrity as checking

        with Problems(self.path), closing(file.open_reader(self.path)) as db:
            return checking.check(db)

    def backup(self, path: str) -> int:
        """Copy the store's present state into a new file; return its size in bytes."""
        from phaseline.store.sqlite.backup import copy

        with Problems(self.path), closing(file.open_reader(self.path)) as db:
            return copy(db, path)

    def purging(self, rules: PurgeRules) -> SqlPurge:
        """Begin to remove what is older than the rules allow, in slices."""
        from phaseline.store.sql.purging.rounds import SqlPurge

        return SqlPurge(self._brief, rules)

    @contextmanager
    def _brief(self) -> Iterator[sqlite3.Connection]:
        """Return a transaction of a slice, which never has to copy much of the log into the file."""
        with self.connections.write_guard, self.connections.copying_often(), self._writing() as db:
            yield db

    # -- wake-ups: a process that only reads or only writes needs neither of the two objects

    def _wake_ups(self) -> WakeUps:
        """Return the listeners of this object, of which it has one set."""
        from phaseline.store.wake_ups import WakeUps

        with self.connections.write_guard:
            if self._listeners is None:
                self._listeners = WakeUps()
            return self._listeners

    @cached_property
    def _pipe(self) -> WakePipe:
        """The pipe by which other processes wake the owner."""
        from phaseline.store.sqlite.wake_pipe import WakePipe

        return WakePipe(self.path + ".wake")

    @contextmanager
    def listen(self, wake: Callable[[], None]) -> Iterator[int]:
        """Return a context in which ``wake`` is called after a request was stored, by any process of this machine."""
        from phaseline.store.wake_ups import UNHEARD_MS

        with self._wake_ups().on_requests(wake), self._pipe.listen(wake):
            yield UNHEARD_MS

    def listen_for_answers(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which ``wake`` is called after an answer was stored through this object."""
        return self._wake_ups().on_answers(wake)

    def _tell_owner(self) -> None:
        """Wake the owner. If it is not in this process, it reads the pipe."""
        if self._listeners is None or not self._listeners.asked():
            self._pipe.write()

    def _tell_askers(self) -> None:
        """Wake the threads of this process that wait for answers."""
        if self._listeners is not None:
            self._listeners.answered()
