"""Messages between the engine and a worker process: the length in four bytes, then JSON.

engine to worker   {"calls": [{..., "number": permit, "at": n, "told"?: site} ...]} · {"answer": n, "value": v} or {"answer": n, "error": text} · {"cancel": mark}
worker to engine   {"ready": process id} · {"begun": member} (first call of a site) · {"log": [level, text]} · {"lines": [level, [text ...]]} · {"ask": n, "name": text, "arguments": [...]}
                   {"outcome": {...}, "flavour": text, "changes": changes, "data": v} · {"done": flavour} (completed without changes or data)

Changes are [[instance number, [[path, value] ...], [path ...]] ...]: paths written, then paths removed.
"""

from __future__ import annotations

import json
import select
import threading
from typing import TYPE_CHECKING, Any

from phaseline.model.problems.problem import ProblemsError, problem_error

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""The longest message in bytes; a sender that announces a longer one uses another protocol."""
LONG_MESSAGE_BYTES = 1 << 20
"""Size in bytes at which a list is continued in another message."""
READ_BYTES, MOST_READ_BYTES = 65_536, 1 << 20
"""The fewest and the most bytes that are requested in one read."""
PRINTED = "printed"
"""Name of the question by which a worker, at the end of a call, waits until the engine has read its printed output."""
Message = dict[str, Any]
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Closed(EOFError):
    """The process at the other end has closed the connection."""


class Wire:
    """One end of a connected socket that carries messages. Any thread may send; one thread receives."""

    def __init__(self, connection: socket.socket) -> None:
        """Use a connected socket, and close it in ``close``."""
        self._connection = connection
        self._sending = threading.Lock()
        self._buffer = bytearray()
        self._poll: select.poll | None = None
        self.sent = 0
        """Number of writes to the socket."""

    def fileno(self) -> int:
        """Return the file descriptor, for ``select``. Raises: ``Closed`` if any thread has closed this end."""
        number = self._connection.fileno()
        if number < 0:
            raise Closed
        return number

    def send(self, message: Message) -> None:
        """Send one message. Raises ``Closed``, or PL-O034 for a message that cannot be sent; then nothing is sent."""
        self._send([written(message)])

    def send_list(self, name: str, bodies: Sequence[bytes]) -> None:
        """Send {name: list of values}, in several messages if it is long. Raises ``Closed``.

        ``bodies`` are the values as bytes, from ``written``.
        """
        messages, first, size = [], 0, 0
        for at, body in enumerate(bodies):
            if size + len(body) > LONG_MESSAGE_BYTES and at > first:
                messages.append(_list(name, bodies[first:at]))
                first, size = at, 0
            size += len(body)
        self._send([*messages, _list(name, bodies[first:])])

    def _send(self, bodies: Sequence[bytes]) -> None:
        parts = [part for body in bodies for part in (len(body).to_bytes(4, "big"), body)]
        try:
            with self._sending:
                self.sent += 1
                self._connection.sendall(b"".join(parts))
        except OSError as error:
            raise Closed from error

    def receive(self) -> Message:
        """Return the next message. Raises ``Closed`` if the other end is closed."""
        while not self.has_message():
            try:
                chunk = self._connection.recv(max(READ_BYTES, min(self._missing(), MOST_READ_BYTES)))
            except OSError as error:
                raise Closed from error
            if not chunk:
                raise Closed
            self._buffer += chunk
        end = 4 + int.from_bytes(self._buffer[:4], "big")
        body = self._buffer[4:end]
        del self._buffer[:end]
        message: Message = json.loads(body.decode("utf-8", "surrogatepass"))
        return message

    def has_message(self) -> bool:
        """Return True if the buffer contains a whole message: ``select`` does not report that."""
        return len(self._buffer) >= 4 and self._missing() <= 0

    def is_readable(self) -> bool:
        """Return True if the socket has unread input, or the other end has closed."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.fileno(), select.POLLIN)
        return bool(self._poll.poll(0))

    def _missing(self) -> int:
        """Return how many bytes of the present message are missing. Raises ``Closed`` for an impossible length."""
        if len(self._buffer) < 4:
            return 4 - len(self._buffer)
        length = int.from_bytes(self._buffer[:4], "big")
        if length > MAX_MESSAGE_BYTES + LONG_MESSAGE_BYTES:  # a list around what is just not too long
            raise Closed
        return 4 + length - len(self._buffer)

    def close(self) -> None:
        """Close the socket. Safe to call twice."""
        self._connection.close()


def written(value: object) -> bytes:
    """Return the value as JSON bytes. Raises: PL-O034 for a value that is too long or has no JSON form."""
    try:
        body = _encode(value).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise _unsendable(str(error)) from error
    if len(body) > MAX_MESSAGE_BYTES:
        raise _unsendable(f"it has {len(body):,} bytes, the limit is {MAX_MESSAGE_BYTES:,}")
    return body


def _list(name: str, bodies: Sequence[bytes]) -> bytes:
    return b'{"%s":[%s]}' % (name.encode(), b",".join(bodies))


def _unsendable(why: str) -> ProblemsError:
    mend = "give it texts, numbers, lists and mappings of these, as JSON knows them"
    return problem_error("PL-O034", f"the message between an engine and its worker cannot be written: {why}", mend)
