"""Messages between the engine and a worker process: a length of four bytes, then JSON.

engine to worker   {"call": {...}} · {"answer": n, "value": v} or {"answer": n, "error": text} · {"cancel": member}
worker to engine   {"ready": process id} · {"begun": member} · {"log": [level, text]} · {"ask": n, "name": text, "arguments": [...]} · {"save": changes}
                   {"outcome": {...}, "changes": changes, "data": v}

Changes are [[instance number, [[path, value] ...], [path ...]] ...].
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from phaseline.model.problem import ProblemsError, fail

if TYPE_CHECKING:
    import socket

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""Longest message; whoever announces more speaks another language."""
Message = dict[str, Any]


class Closed(EOFError):
    """The other side is gone."""


class Wire:
    """One end of a connected socket. Any thread may send; one thread receives."""

    def __init__(self, connection: socket.socket) -> None:
        """Take the socket over."""
        self._connection = connection
        self._sending = threading.Lock()

    def fileno(self) -> int:
        """For waiting with ``select``. ``Closed`` if this side has been closed, by whichever thread."""
        number = self._connection.fileno()
        if number < 0:
            raise Closed
        return number

    def send(self, message: Message) -> None:
        """Send one message. ``Closed`` if the other side is gone. Raises PL-O034 for one that cannot be sent; nothing is sent then."""
        try:
            body = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError, RecursionError) as error:
            raise _unsendable(str(error)) from error
        if len(body) > MAX_MESSAGE_BYTES:
            raise _unsendable(f"it would take {len(body):,} bytes, and no more than {MAX_MESSAGE_BYTES:,} are taken")
        try:
            with self._sending:
                self._connection.sendall(len(body).to_bytes(4, "big") + body)
        except OSError as error:
            raise Closed from error

    def receive(self) -> Message:
        """The next message. ``Closed`` if the other side is gone."""
        length = int.from_bytes(self._exactly(4), "big")
        if length > MAX_MESSAGE_BYTES:
            raise Closed
        message: Message = json.loads(self._exactly(length).decode("utf-8", "surrogatepass"))
        return message

    def close(self) -> None:
        """Close the socket; safe to call twice."""
        self._connection.close()

    def _exactly(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count > 0:
            try:
                part = self._connection.recv(min(count, 1 << 20))
            except OSError as error:
                raise Closed from error
            if not part:
                raise Closed
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _unsendable(why: str) -> ProblemsError:
    mend = "Give it texts, numbers, lists and mappings of these, as JSON knows them."
    return fail("PL-O034", f"what is said between an engine and its worker cannot be written: {why}", mend)
