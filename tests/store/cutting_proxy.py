"""A proxy between a client and a database server that reads what the client sends, and cuts the connection in it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

SECURE = (80_877_103, 80_877_104)
"""Codes of the messages with which a client asks whether the connection may be encrypted, before it starts."""
COMMITTED = b"COMMIT\x00"
"""How the server answers a commit."""
CHUNK = 65_536

Where = Literal["before", "during", "unheard", "after"]
"""Where a commit is cut: before it is forwarded, when a part of it is, when the whole of it is and at once, or when the
server has answered and the client has not heard it."""
Pair = tuple[socket.socket, socket.socket]
"""(socket of the client, socket of the server)"""


class _Messages:
    """The messages of a client, as they arrive in parts."""

    def __init__(self) -> None:
        self._data, self._has_started = b"", False
        self._texts: dict[bytes, bytes] = {}

    def taken(self, data: bytes) -> list[tuple[bytes, bool]]:
        """The messages that are complete now, each with True if it makes the server carry out a commit."""
        self._data += data
        found = []
        while (length := self._length()) and len(self._data) >= length:
            message, self._data = self._data[:length], self._data[length:]
            found.append((message, self._is_commit(message)))
        return found

    def _length(self) -> int:
        head = 1 if self._has_started else 0
        if len(self._data) < head + 4:
            return 0
        return head + int.from_bytes(self._data[head : head + 4], "big")

    def _is_commit(self, message: bytes) -> bool:
        if not self._has_started:
            self._has_started = int.from_bytes(message[4:8], "big") not in SECURE
            return False
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            return body.endswith(b"commit\x00")  # a notice may be sent together with it
        if kind == b"P":
            name, text, _ = body.split(b"\x00", 2)
            self._texts[name] = text
        if kind == b"B":
            return self._texts.get(body.split(b"\x00", 2)[1]) == b"commit"
        return False


class CuttingProxy:
    """Listens on a port of 127.0.0.1 and forwards to the socket of a server. Its fields may be set at any time.

    ``cut``: where to cut the next commit; empty: nowhere. ``messages_left``: after so many messages of any client cut
    its connection; -1: never. ``is_deaf``: cut a connection when the server answers next. ``is_open``: new connections
    are taken. ``cuts`` counts, and ``round_trips`` how often clients have waited for all answers.
    """

    def __init__(self, server: Path) -> None:
        self.cut: Where | Literal[""] = ""
        self.cuts, self.round_trips, self.messages_left = 0, 0, -1
        self.is_open, self.is_deaf = True, False
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        self._swallowed: set[socket.socket] = set()
        self._pairs: set[Pair] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                if not self.is_open:
                    raise ConnectionRefusedError
                server.connect(str(self._server))
            except OSError:  # the server is stopped
                client.close()
                server.close()
                continue
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pairs.add((client, server))
            for work in (self._to_server, self._to_client):
                thread = threading.Thread(target=work, args=((client, server),), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _to_server(self, pair: Pair) -> None:
        client, server = pair
        messages = _Messages()
        with suppress(OSError):
            while data := client.recv(CHUNK):
                for message, is_commit in messages.taken(data):
                    self.round_trips += message[:1] in {b"Q", b"S"}
                    if self._is_cut(pair, message, is_commit=is_commit):
                        self._end(pair)
                        return
                    server.sendall(message)
        if server not in self._swallowed:
            self._end(pair)

    def _is_cut(self, pair: Pair, message: bytes, *, is_commit: bool) -> bool:
        """Return True if the connection is to be cut now; then this message was forwarded as far as it is to be."""
        if self.messages_left > 0:
            self.messages_left -= 1
        elif self.messages_left == 0:
            self.messages_left = -1
            self.cuts += 1
            return True
        if not is_commit or not self.cut:
            return False
        where, self.cut = self.cut, ""
        self.cuts += 1
        if where == "after":
            self._swallowed.add(pair[1])
            return False
        if where == "unheard":
            pair[1].sendall(message + (b"" if message[:1] == b"Q" else b"E\x00\x00\x00\x09\x00\x00\x00\x00\x00"))
        if where == "during":
            pair[1].sendall(message[: len(message) // 2])
        return True

    def _to_client(self, pair: Pair) -> None:
        client, server = pair
        heard = b""
        with suppress(OSError):
            while data := server.recv(CHUNK):
                if server in self._swallowed:
                    heard += data
                    if COMMITTED in heard:
                        break
                    continue
                if self.is_deaf:
                    self.is_deaf = False
                    self.cuts += 1
                    break
                client.sendall(data)
        self._end(pair)

    def _end(self, pair: Pair) -> None:
        for one in pair:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._pairs.discard(pair)

    def cut_all(self) -> None:
        """Cut every connection now."""
        for pair in list(self._pairs):
            self._end(pair)

    def close(self) -> None:
        """Cut everything and listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()
        for thread in self._threads:
            thread.join()


@contextmanager
def proxied(server: Path) -> Iterator[CuttingProxy]:
    """A proxy to the socket of a server."""
    proxy = CuttingProxy(server)
    try:
        yield proxy
    finally:
        proxy.close()
