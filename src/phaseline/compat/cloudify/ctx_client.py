"""A Python client of the server in ``ctx_server``, for scripts that talk to their operation's context."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Sequence
from typing import Any, TypedDict

CTX_SOCKET_URL = "CTX_SOCKET_URL"
"""Environment variable with the address of the context of a script's operation."""


class Answered(TypedDict):
    """A decoded answer of the server. ``type`` is ``result``, ``error`` or ``stop_operation``."""

    type: str
    payload: Any


class _UnixConnection(http.client.HTTPConnection):
    """An HTTP connection over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask(url: str | None, words: Sequence[Any], timeout_s: float = 30) -> Answered:
    """Send the words of a ``ctx`` command to the context at ``url``, and return the answer.

    If ``url`` is None, the address is taken from ``CTX_SOCKET_URL``. Raises ``RuntimeError`` if there is no answer.
    """
    url = url or os.environ.get(CTX_SOCKET_URL) or ""
    connection, token = _connection(url, timeout_s)
    try:
        connection.request("POST", "/" + token, json.dumps({"args": list(words)}), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
    except OSError as error:
        raise RuntimeError(f"the context at {url} does not answer: {error}") from error
    finally:
        connection.close()
    if response.status != 200:
        raise RuntimeError(body.decode("utf-8", "replace"))
    answered: Answered = json.loads(body)
    return answered


def _connection(url: str, timeout_s: float) -> tuple[http.client.HTTPConnection, str]:
    scheme, _, rest = url.partition("://")
    if scheme == "unix":
        path, _, token = rest.rpartition("?")
        return _UnixConnection(path, timeout_s), token
    if scheme == "http":
        host, _, token = rest.partition("/")
        return http.client.HTTPConnection(host, timeout=timeout_s), token
    raise RuntimeError(f"{CTX_SOCKET_URL} is {url!r}; only a script that an operation runs can ask its context")
