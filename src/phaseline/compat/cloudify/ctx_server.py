"""The server for the program ``ctx``: one socket for all calls of a process, with a token for each call (S5, decision
30).

Requests are ``POST /<token>`` with ``{"args": [...]}``. The answer is ``{"type": "result" | "error" |
"stop_operation", "payload": ...}``. Phaseline's own ``ctx`` sends its words separated by NUL bytes instead and gets
text to print, so that it needs no JSON.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phaseline.calls.protocol.plugin_boundary import message_of, trace_of
from phaseline.compat.cloudify import enable
from phaseline.compat.cloudify.ctx_commands import read_words, walk
from phaseline.compat.cloudify.ctx_program import write_program
from phaseline.compat.cloudify.temp_folder import own_folder
from phaseline.lang.fast_dataclasses import frozen

MAX_REQUEST_BYTES = 64 * 1024 * 1024
"""Largest request in bytes; no real command is longer."""
WAIT_S = 60.0
"""Seconds after which a connection that sends nothing is closed."""
WORDS = "application/x-ctx-words"
"""Content type of the requests by Phaseline's own ``ctx``."""


@frozen
class CtxReply:
    """The answer to a command. ``type`` is ``result``, ``error`` or ``stop_operation``."""

    type: str
    payload: Any


@dataclass
class _Call:
    """The context of one call, with a lock so that it answers one request at a time."""

    ctx: Any
    lock: threading.Lock = field(default_factory=threading.Lock)


class Served:
    """A context that answers requests at ``url`` until it is closed. ``program`` is the folder of
    the program ``ctx``.
    """

    def __init__(self, door: _Door, ctx: Any) -> None:
        self._token = secrets.token_urlsafe(24)
        self._door = door
        self.url = door.prefix + self._token
        self.program = door.program
        door.calls[self._token] = _Call(ctx)

    def close(self) -> None:
        """Refuse later requests for this context. After the last context the socket is closed, too.
        Safe to call twice.
        """
        with _opening:
            if self._door.calls.pop(self._token, None) is not None and not self._door.calls:
                self._door.close()


class _Door:
    """The socket on which scripts send requests to the contexts of their calls; it is open as long as there is a
    context.
    """

    def __init__(self, family: str) -> None:
        self.family = family
        self.process = os.getpid()
        self.calls: dict[str, _Call] = {}
        with ExitStack() as stack:
            folder = stack.enter_context(own_folder())
            self.program = write_program(folder)
            found = _listen_unix(folder / "ctx.sock") if family == "unix" else None
            listener, self.prefix = found or _listen_local()
            stack.callback(_shut, listener)
            stack.callback(
                (folder / "ctx.sock").unlink, missing_ok=True
            )  # first: a socket without a listener counts as left by a dead process
            threading.Thread(target=self._accept, args=(listener,), name="ctx", daemon=True).start()
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Close the socket, so that no more requests are accepted."""
        del _doors[self.family]
        self._stack.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), name="ctx call", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(WAIT_S)
            try:
                request = _read(connection)
                connection.sendall(_reply(self.calls, *request))
            except (OSError, ValueError):
                return  # the client has ended, or does not use this protocol


_doors: dict[str, _Door] = {}
_opening = threading.Lock()


def serve(ctx: Any, kind: str = "auto") -> Served:
    """Let scripts send requests to a context.

    ``kind`` ``auto`` or ``unix``: use a Unix socket if possible; ``http`` or ``tcp``: use a local port.
    """
    enable()
    family = "http" if kind in {"http", "tcp"} else "unix"
    with _opening:
        door = _doors.get(family)
        if door is None or door.process != os.getpid():
            door = _doors[family] = _Door(family)
        return Served(door, ctx)


def _listen_unix(path: Path) -> tuple[socket.socket, str] | None:
    """Return (a listening Unix socket, the beginning of its URLs), or None if it cannot be made.

    It cannot be made if the system has no Unix sockets, or if the path is too long. Only this user can enter the
    folder.
    """
    if not hasattr(socket, "AF_UNIX"):
        return None
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
    except OSError:
        listener.close()
        return None
    listener.listen(128)
    return listener, f"unix://{path}?"


def _listen_local() -> tuple[socket.socket, str]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}/"


def _shut(listener: socket.socket) -> None:
    """Close a listening socket, after waking the thread that waits for connections."""
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def answer(ctx: Any, words: list[Any]) -> CtxReply:
    """Evaluate the words of a command on a context, and return the answer."""
    from cloudify.proxy.client import ScriptException
    from cloudify.state import current_ctx

    try:
        with current_ctx.push(ctx):
            found = walk(ctx, words)
            if isinstance(found, ScriptException):
                return CtxReply("stop_operation", {"message": str(found)})
            return CtxReply("result", _shown(found, words))
    except Exception as error:  # a command of a script: every error is reported to the script
        return CtxReply(
            "error",
            {
                "type": type(error).__name__,
                "message": message_of(error) or type(error).__name__,
                "traceback": trace_of(error, error.__traceback__),
            },
        )


def _shown(value: Any, words: list[Any]) -> Any:
    """Return a value in a form that JSON can represent, or raise ``TypeError``.

    Bytes become text. A plain ``object()``, which stands for "no value", becomes None.
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if type(value) is object:
        return None
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        where = " ".join(map(str, words)) or "ctx"
        raise TypeError(f"'{where}' is a {type(value).__name__} and cannot be printed; name one of its parts") from None
    return value


def _read(connection: socket.socket) -> tuple[str, str, bytes]:
    """Read one request, and return (token, content type, body). Raises ``ValueError`` if it is no valid request."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        if not chunk or len(received) > 65536:
            raise ValueError("no request")
        received += chunk
    head, body = received.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    method, _, rest = lines[0].partition(" ")
    if method != "POST":
        raise ValueError("no request of ctx")
    token = rest.partition(" ")[0].lstrip("/")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= MAX_REQUEST_BYTES:
        raise ValueError("the request is too long")
    parts = [body]
    missing = length - len(body)
    while missing > 0:
        chunk = connection.recv(min(missing, 1 << 20))
        if not chunk:
            raise ValueError("the request was cut off")
        parts.append(chunk)
        missing -= len(chunk)
    return token, headers.get("content-type", ""), b"".join(parts)


def _reply(calls: dict[str, _Call], token: str, content_type: str, body: bytes) -> bytes:
    call = calls.get(token)
    if call is None:
        text = "this call has ended, or CTX_SOCKET_URL is not its own"
        return _http("403 Forbidden", "text/plain", "error", text.encode())
    if content_type == WORDS:
        with call.lock:
            kind, shown = _spoken(call.ctx, body)
        return _http("200 OK", "text/plain", kind, shown.encode("utf-8", "surrogateescape"))
    try:
        words = json.loads(body)["args"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return _http("400 Bad Request", "text/plain", "error", b'the request is not {"args": [...]}')
    with call.lock:
        found = answer(call.ctx, list(words))
    said = json.dumps({"type": found.type, "payload": found.payload})
    return _http("200 OK", "application/json", found.type, said.encode("ascii"))


def _spoken(ctx: Any, body: bytes) -> tuple[str, str]:
    """Evaluate a request of Phaseline's own ``ctx``, and return (type of the answer, text to print).

    The request is ``prefix NUL json-flag NUL word NUL word ...``.
    """
    fields = body.decode("utf-8", "surrogateescape").split("\0")
    prefix, flag, words = fields[0], fields[1:2] == ["1"], fields[2:]
    try:
        read = read_words(words, prefix)
    except (ValueError, RecursionError) as error:
        return "error", f"an argument that begins with {prefix} must be JSON: {error}"
    found = answer(ctx, read)
    if found.type != "result":
        return found.type, found.payload["message"]
    if flag:
        return found.type, json.dumps(found.payload)
    return found.type, str(found.payload) if found.payload else ""


def _http(status: str, content_type: str, kind: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.0 {status}\r\nContent-Type: {content_type}\r\nCtx-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
