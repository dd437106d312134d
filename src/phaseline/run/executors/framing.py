"""Messages between the engine and a worker process: a length of four bytes, then JSON.

engine to worker   {"calls": [{..., "number": permit, "at": n, "told"?: site} ...]} · {"answer": n, "value": v} or {"answer": n, "error": text} · {"cancel": mark}
worker to engine   {"ready": process id} · {"begun": member} (first call of a site) · {"log": [level, text]} · {"lines": [level, [text ...]]} · {"ask": n, "name": text, "arguments": [...]}
                   {"outcome": {...}, "flavour": text, "changes": changes, "data": v} · {"done": flavour} (completed without changes or data)

Changes are [[instance number, [[path, value] ...], [path ...]] ...].
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
"""Longest message; a longer announced length means that the sender uses another protocol."""
LONG_MESSAGE_BYTES = 1 << 20
"""Size at which a list is split into a further message."""
READ_BYTES, MOST_READ_BYTES = 65_536, 1 << 20
"""Bytes read at once, at least and at most."""
PRINTED = "printed"
"""The question of a worker at the end of a call: that the engine read all its printed output."""
Message = dict[str, Any]
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Closed(EOFError):
    """The other side is gone."""


class Wire:
    """One end of a connected socket. Any thread may send; one thread receives."""

    def __init__(self, connection: socket.socket) -> None:
        """Take the socket over."""
        self._connection = connection
        self._sending = threading.Lock()
        self._buffer = bytearray()
        self._poll: select.poll | None = None
        self.sent = 0
        """How often something was sent."""

    def fileno(self) -> int:
        """The file descriptor, to wait with ``select``. Raises: ``Closed`` if any thread has closed this side."""
        number = self._connection.fileno()
        if number < 0:
            raise Closed
        return number

    def send(self, message: Message) -> None:
        """Send one message. ``Closed`` if the other side is gone. Raises PL-O034 for one that cannot be sent; nothing is sent then."""
        self._send([written(message)])

    def send_list(self, name: str, bodies: Sequence[bytes]) -> None:
        """Send messages with a list of that name, of values that ``written`` has written: one, unless it were too long. ``Closed`` as above."""
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
        """The next message. ``Closed`` if the other side is gone."""
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
        """True when a whole message is in the buffer: the socket does not signal it any more."""
        return len(self._buffer) >= 4 and self._missing() <= 0

    def is_readable(self) -> bool:
        """True when there is unread input, or the other side has closed."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.fileno(), select.POLLIN)
        return bool(self._poll.poll(0))

    def _missing(self) -> int:
        """The number of missing bytes of the message in the buffer. ``Closed`` for an impossible length."""
        if len(self._buffer) < 4:
            return 4 - len(self._buffer)
        length = int.from_bytes(self._buffer[:4], "big")
        if length > MAX_MESSAGE_BYTES + LONG_MESSAGE_BYTES:  # a list around what is just not too long
            raise Closed
        return 4 + length - len(self._buffer)

    def close(self) -> None:
        """Close the socket; safe to call twice."""
        self._connection.close()


def written(value: object) -> bytes:
    """The value in the form in which it is sent. Raises: PL-O034 for a value that is too long or has no such form."""
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
