"""A simulated cloud in a process of its own: makes machines, remembers client tokens, counts every call.

Run it with ``python -m phaseline.testing.fake_cloud --state FILE``; the first line it prints is its address. It talks
JSON over HTTP on the loopback interface:

=====================  =============================================  =====================================
``POST /create``       ``{"requests": [{"token", "name", "kind"}]}``  ``{"resources": [{"id", "state"}]}``
``POST /describe``     ``{"ids": [...]}``                             the same, ``state`` now
``POST /delete``       ``{"ids": [...]}``                             ``{"deleted": how many were there}``
``GET /report``                                                       the counts, see ``Report``
``PUT /pace``          ``{"make_ms": 4, "boot_ms": 300}``             the pace and the quota from now on
=====================  =============================================  =====================================

Resources beyond the quota are not made: they are answered as ``{"id": "", "state": "refused", "reason"}``.

A token that was seen before gives the resource of the first time: nothing is made. Whether a caller really kept its
tokens shows in ``doubles``, which counts by name: a name for which two resources were made was created twice.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from phaseline.lang.fast_dataclasses import frozen

MAX_REQUEST_BYTES = 64 * 1024 * 1024
STANDS_STILL_S = 0.01
"""Seconds between two checks of a stopped cloud, which find out whether it may continue."""
BOOT_SPREAD = 7
"""Number of different boot times: machine n takes 1 + (n mod 7) / 7 times the boot time of the pace."""


@frozen
class Pace:
    """The speed of the cloud: milliseconds to make one resource, and shortest time to boot one.

    ``most``: after that many resources the cloud stops until its pace changes (0: never). ``quota``: it refuses to make
    more while that many resources exist (0: no quota).
    """

    make_ms: float = 0.0
    boot_ms: float = 300.0
    most: int = 0
    quota: int = 0


@frozen
class Resource:
    """One resource of the cloud, such as a machine. Times are in ms since the epoch; ``deleted_at`` is 0 while it exists."""

    id: str
    token: str
    name: str
    kind: str
    created_at: int
    booted_at: int
    deleted_at: int = 0

    def state(self, now: int) -> str:
        """``booting``, ``running`` or ``deleted``."""
        if self.deleted_at:
            return "deleted"
        return "running" if now >= self.booted_at else "booting"


@frozen
class Report:
    """Counts of the cloud since its state file was created.

    ``calls`` is {verb: requests}, ``making`` the number of calls that are making resources now. ``tokens_again`` counts
    repeated tokens, for which nothing was made; ``doubles`` are names for which more than one resource was made.
    """

    calls: Mapping[str, int]
    making: int
    created: int
    alive: int
    deleted: int
    tokens_again: int
    doubles: Sequence[str]
    alive_by_kind: Mapping[str, int]


class Journal(Protocol):
    """A journal, to which facts are written before the answer: any object that takes lines of text."""

    def write(self, text: str, /) -> object:
        """Append a text."""
        ...

    def flush(self) -> object:
        """Write buffered lines to the operating system."""
        ...


@dataclass(slots=True)
class Cloud:
    """The state of the cloud, thread-safe. All facts are in the journal, so a new process can continue with it."""

    journal: Journal
    clock: Callable[[], int]
    pause: Callable[[float], None] = time.sleep
    pace: Pace = field(default_factory=Pace)
    _resources: dict[str, Resource] = field(default_factory=dict)
    _by_token: dict[str, str] = field(default_factory=dict)
    _calls: Counter[str] = field(default_factory=Counter)
    _made: Counter[str] = field(default_factory=Counter)
    _tokens_again: int = 0
    _alive: int = 0
    _making: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def replay(self, lines: Sequence[str]) -> None:
        """Load the facts of a journal."""
        for line in lines:
            self._apply(json.loads(line))

    def create(
        self, requests: Sequence[Mapping[str, str]], is_awaited: Callable[[], bool] = lambda: True
    ) -> list[dict[str, str]]:
        """Return one resource for each request, in order; for a known token the existing resource is returned.

        They are made one after another at the cloud's pace while the caller waits for the answer. If the caller dies
        in between, the resources made so far are kept.
        """
        self._record({"call": "create"})
        self._making += 1
        try:
            made = self._make(requests, is_awaited)
        finally:
            self._making -= 1
        refused = {"id": "", "state": "refused", "reason": f"the quota of {self.pace.quota} resources is used up"}
        return [found if found["id"] else refused for found in self.describe_all(made)]

    def describe(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Return [{id, present state}]; an id that never existed has the state ``unknown``."""
        self._record({"call": "describe"})
        return self.describe_all(ids)

    def describe_all(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Return what ``describe`` returns, without counting a call."""
        now = self.clock()
        with self._lock:
            found = [(id, self._resources.get(id)) for id in ids]
        return [{"id": id, "state": resource.state(now) if resource else "unknown"} for id, resource in found]

    def delete(self, ids: Sequence[str]) -> int:
        """Delete resources; returns how many existed. Deleting twice does no harm."""
        self._record({"call": "delete"})
        now = self.clock()
        with self._lock:
            alive = [id for id in dict.fromkeys(ids) if id in self._resources and not self._resources[id].deleted_at]
            if alive:
                self._write({"delete": alive, "at": now})
            self.journal.flush()
        return len(alive)

    def report(self) -> Report:
        """Return the counts so far; asking is not counted."""
        with self._lock:
            alive = [resource for resource in self._resources.values() if not resource.deleted_at]
            return Report(
                calls=dict(sorted(self._calls.items())),
                making=self._making,
                created=len(self._resources),
                alive=len(alive),
                deleted=len(self._resources) - len(alive),
                tokens_again=self._tokens_again,
                doubles=sorted(name for name, count in self._made.items() if count > 1),
                alive_by_kind=dict(sorted(Counter(resource.kind for resource in alive).items())),
            )

    def _make(self, requests: Sequence[Mapping[str, str]], is_awaited: Callable[[], bool]) -> list[str]:
        made_ms = self.pace.make_ms
        found: list[str] = []
        for bunch in _bunches(requests, 1 if made_ms else len(requests)):
            if not self._goes_on(is_awaited):
                break
            if made_ms and any(request["token"] not in self._by_token for request in bunch):
                self.pause(made_ms / 1000)
            with self._lock:
                found += [self._create_one(request) for request in bunch]
                self.journal.flush()
        return found

    def _goes_on(self, is_awaited: Callable[[], bool]) -> bool:
        """Wait while the cloud is stopped; return False as soon as the caller no longer waits."""
        while (awaited := is_awaited()) and 0 < self.pace.most <= len(self._resources):
            self.pause(STANDS_STILL_S)
        return awaited

    def _create_one(self, request: Mapping[str, str]) -> str:
        token = request["token"]
        if known := self._by_token.get(token):
            self._write({"again": token})
            return known
        if 0 < self.pace.quota <= self._alive:
            return ""
        number, now = len(self._resources) + 1, self.clock()
        kind = request.get("kind", "machine")
        boot_ms = self.pace.boot_ms * (1 + number % BOOT_SPREAD / BOOT_SPREAD)
        made = Resource(f"{kind}-{number:05d}", token, request["name"], kind, now, now + int(boot_ms))
        self._write({"create": asdict(made)})
        return made.id

    def _record(self, fact: Mapping[str, Any]) -> None:
        with self._lock:
            self._write(fact)
            self.journal.flush()

    def _write(self, fact: Mapping[str, Any]) -> None:
        self.journal.write(json.dumps(fact, separators=(",", ":")) + "\n")
        self._apply(fact)

    def _apply(self, fact: Mapping[str, Any]) -> None:
        if "call" in fact:
            self._calls[fact["call"]] += 1
        elif "again" in fact:
            self._tokens_again += 1
        elif "create" in fact:
            made = Resource(**fact["create"])
            self._resources[made.id] = made
            self._by_token[made.token] = made.id
            self._made[made.name] += 1
            self._alive += 1
        else:
            self._alive -= len(fact["delete"])
            for id in fact["delete"]:
                before = asdict(self._resources[id])
                self._resources[id] = Resource(**{**before, "deleted_at": fact["at"]})


def _bunches(requests: Sequence[Mapping[str, str]], size: int) -> Iterator[Sequence[Mapping[str, str]]]:
    for first in range(0, len(requests), max(1, size)):
        yield requests[first : first + max(1, size)]


Answer = dict[str, Any]


class BadRequest(ValueError):
    """A request that the cloud cannot understand; the answer contains the reason."""


def answer(cloud: Cloud, verb: str, body: Mapping[str, Any], is_awaited: Callable[[], bool] = lambda: True) -> Answer:
    """Return the answer of the cloud to one request, such as ``POST /create``, whose caller may disconnect meanwhile.

    Raises: BadRequest for an unknown path or a body that lacks something.
    """
    try:
        if verb == "GET /report":
            return asdict(cloud.report())
        if verb == "POST /create":
            return {"resources": cloud.create(body["requests"], is_awaited)}
        if verb == "POST /describe":
            return {"resources": cloud.describe(body["ids"])}
        if verb == "POST /delete":
            return {"deleted": cloud.delete(body["ids"])}
        if verb == "PUT /pace":
            cloud.pace = Pace(**{**asdict(cloud.pace), **body})
            return asdict(cloud.pace)
    except (KeyError, TypeError) as error:
        raise BadRequest(f"{verb}: {error}") from error
    raise BadRequest(f"{verb} is unknown here")


class CloudServer(ThreadingHTTPServer):
    """The cloud behind a loopback address."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, cloud: Cloud, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Requests)
        self.cloud = cloud

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a caller that was killed while it waited for its answer; report any other error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # the stub wants socket types


class _Requests(BaseHTTPRequestHandler):
    server: CloudServer
    protocol_version = "HTTP/1.1"
    wbufsize = 64 * 1024  # head and body in one packet, or each answer waits 40 ms for an acknowledgement

    def _serve(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        if size > MAX_REQUEST_BYTES:
            self._reply(413, {"error": f"at most {MAX_REQUEST_BYTES} bytes"})
            return
        try:
            body = json.loads(self.rfile.read(size) or b"{}")
            self._reply(200, answer(self.server.cloud, f"{self.command} {self.path}", body, self._is_awaited))
        except (BadRequest, json.JSONDecodeError) as error:
            self._reply(400, {"error": str(error)})

    def _is_awaited(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return not readable or self.connection.recv(1, socket.MSG_PEEK) != b""

    def _reply(self, status: int, content: Answer) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = _serve  # noqa: N815 - names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Write no log; requests are counted instead."""


@contextmanager
def open_cloud(state: Path, pace: Pace) -> Iterator[Cloud]:
    """Yield the cloud whose journal is in the file ``state``; a new one if there is no such file."""
    known = state.read_bytes() if state.exists() else b""
    whole = known[: known.rfind(b"\n") + 1]
    with state.open("a", encoding="utf-8", buffering=1024 * 1024) as journal:
        journal.truncate(len(whole))  # a line that a kill cut off was never answered
        cloud = Cloud(journal, clock=lambda: time.time_ns() // 1_000_000, pace=pace)
        cloud.replay(whole.decode().splitlines())
        yield cloud


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal to end (Ctrl-C, SIGTERM)."""
    parser = argparse.ArgumentParser(prog="python -m phaseline.testing.fake_cloud", description="A simulated cloud.")
    parser.add_argument("--state", type=Path, required=True, help="file that holds what the cloud has made")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--make-ms", type=float, default=Pace().make_ms, help="time to make one resource")
    parser.add_argument("--boot-ms", type=float, default=Pace().boot_ms, help="least time to boot one")
    chosen = parser.parse_args(arguments)
    with (
        open_cloud(chosen.state, Pace(chosen.make_ms, chosen.boot_ms)) as cloud,
        CloudServer(cloud, chosen.port) as server,
        suppress(KeyboardInterrupt),
    ):
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        server.serve_forever(poll_interval=0.1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
