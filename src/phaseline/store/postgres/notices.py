"""The owner's connection that waits for notices of stored requests (ST8).

The transaction that stores a request notifies the owner. A thread receives it on a connection of its own. If the connection
is cut, it is opened again, and the owner is woken once, because notices may have been lost in between.
"""

from __future__ import annotations

import os
import select
import threading
from typing import TYPE_CHECKING, Self

import psycopg

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.connections import CHANNEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.store.postgres.connection import PostgresConnection
    from phaseline.store.postgres.connections import PostgresConnections

UNNOTICED_MS = 2_000
"""How often, in ms, a listener looks by itself, because a notice may be lost."""
AGAIN_MS = 500
"""Time in ms before each attempt to open a lost connection again."""
END = b"e"
"""What ends the thread."""


class Notices:
    """A context in which a thread calls ``wake`` after other processes have stored requests."""

    def __init__(self, connections: PostgresConnections, wake: Callable[[], None]) -> None:
        """Open nothing yet."""
        self._connections, self._wake = connections, wake
        self._thread = threading.Thread(target=self._run, name="phaseline-wake-ups", daemon=True)

    def __enter__(self) -> Self:
        """Begin to listen. If that is impossible now, the thread tries it again and again."""
        self._db = self._opened()
        self._end, self._ending = os.pipe()
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        """End the thread and close the connection."""
        os.write(self._ending, END)  # closing would not be noticed while a forked child has it open, too
        self._thread.join()
        os.close(self._end)
        os.close(self._ending)
        if self._db is not None:
            self._db.close()

    def _opened(self) -> PostgresConnection | None:
        """Return a new connection that listens, or None if the server cannot be reached."""
        db = None
        try:
            db = self._connections.connect()
            row = db.script(f"select {CHANNEL}")
            assert row is not None
            db.script(f'listen "{row[0]}"')
        except (psycopg.Error, ProblemsError):
            if db is not None:
                db.close()
            return None
        return db

    def _run(self) -> None:
        while True:
            db = self._db
            if db is None:
                if self._is_ended(AGAIN_MS):
                    return
                self._db = self._opened()
                if self._db is not None:
                    self._wake()
                continue
            try:
                if db.has_notices():  # some may have come together with an earlier answer
                    self._wake()
            except psycopg.Error:
                self._db = None
                db.close()
                continue
            if self._is_ended(None, db.fileno()):
                return

    def _is_ended(self, patience_ms: int | None, handle: int = -1) -> bool:
        """Wait until the context ends, then return True; or until the handle can be read or the time has passed."""
        waiting = select.poll()
        waiting.register(self._end, select.POLLIN)
        if handle >= 0:
            waiting.register(handle, select.POLLIN)
        return any(ready == self._end for ready, _ in waiting.poll(patience_ms))
