"""A proxy between a client and a database server that cuts the connection where a test wants."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

COMMIT = b"commit\x00"
"""How a client ends a transaction: the statement as it goes over the wire."""


class CuttingProxy:
    """Listens on a socket of its own and forwards to the server's socket.

    ``cut`` is what happens to the next commit: ``before`` it is forwarded, or ``after`` the server has got it and
    before its answer comes back; empty: nothing. ``cuts`` counts.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self.cut, self.cuts = "", 0
        self.is_open = True
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen(64)
        self._swallowed: set[socket.socket] = set()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self.is_open:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            pair = client, server
            self._pairs.add(pair)
            for work in (self._to_server, self._to_client):
                thread = threading.Thread(target=work, args=pair, daemon=True)
                self._threads.append(thread)
                thread.start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65_536):
                if self.cut and COMMIT in data:
                    how, self.cut = self.cut, ""
                    self.cuts += 1
                    if how == "before":
                        break
                    self._swallowed.add(server)
                server.sendall(data)
        if server not in self._swallowed:
            self._end(client, server)

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65_536):
                if server in self._swallowed:  # the server has carried it out, and nobody hears of it
                    break
                client.sendall(data)
        self._end(client, server)

    def _end(self, *pair: socket.socket) -> None:
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._pairs.discard((pair[0], pair[1]))

    def cut_all(self) -> None:
        """Cut every connection now."""
        for pair in list(self._pairs):
            self._end(*pair)

    def close(self) -> None:
        """Cut everything and listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()
        for thread in self._threads:
            thread.join()


@contextlib.contextmanager
def proxied(server: Path) -> Iterator[tuple[CuttingProxy, Path]]:
    """A proxy to the socket of a server, and the folder of the proxy's own socket."""
    with TemporaryDirectory(prefix="cut-", dir="/tmp") as folder:
        proxy = CuttingProxy(Path(folder), server)
        try:
            yield proxy, Path(folder)
        finally:
            proxy.close()
