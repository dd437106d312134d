"""Acme, a simulated cloud provider behind HTTP: volumes, instances, and commands that run on instances.

Like real ones it is slow to answer, refuses whoever calls too often, takes its time until what was asked for is ready,
has few machines of a kind, and counts what it is asked. ``python3 provider.py`` prints its address.

``POST /create_volumes`` and the like take ``{"requests": [...]}``, ``POST /describe_volumes`` and ``/delete_volumes``
take ``{"ids": [...]}``; the answer has one item for each. ``PUT /repair`` ends the trouble with the package server,
``GET /report`` tells what was asked and what is still there.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LATENCY_S, EACH_S = 0.03, 0.0002
"""An answer takes so long, and so much longer for each item."""
CALLS_A_SECOND, AT_ONCE = 8, 4
"""Whoever calls more often is told to wait."""
READY_S = {"volumes": 0.4, "instances": 0.8, "commands": 0.5}
"""The least time until what was asked for is ready; each takes a little longer than the one before it."""
TYPES = ("small", "large", "gpu")
LEFT = {("gpu", "north"): 8}
"""How many machines of a type a zone has left; of others there are plenty."""
UNLUCKY = tuple(f"batch-{number:03}" for number in range(12, 97, 12))
"""Nodes that do not reach the package server before it is repaired."""


class Throttled(Exception):
    """The caller is too fast."""


class Provider:
    """Everything that was ever made, by kind and id, and the tokens under which it was asked for."""

    def __init__(self):
        self.lock = threading.Lock()
        self.made = {kind: {} for kind in READY_S}
        self.tokens = {}
        self.left = dict(LEFT)
        self.is_repaired = False
        self.calls, self.items, self.throttled = {}, {}, 0
        self.budget, self.filled_at = float(AT_ONCE), time.monotonic()

    def answer(self, verb, body):
        """One item for each that was asked about."""
        action, _, kind = verb.partition("_")
        asked = body.get("requests") or body.get("ids") or []
        with self.lock:
            self.admit()
            self.calls[verb] = self.calls.get(verb, 0) + 1
            self.items[verb] = self.items.get(verb, 0) + max(1, len(asked))
        time.sleep(LATENCY_S + EACH_S * len(asked))
        with self.lock:
            if verb == "describe_types":
                return list(TYPES)
            return [getattr(self, action)(kind, one) for one in asked]

    def admit(self):
        """Count this call against the budget, which fills again with time."""
        now = time.monotonic()
        self.budget = min(AT_ONCE, self.budget + (now - self.filled_at) * CALLS_A_SECOND)
        self.filled_at = now
        if self.budget < 1:
            self.throttled += 1
            raise Throttled
        self.budget -= 1

    def create(self, kind, request):
        """Asked again with the same token it is the same thing: nobody pays twice after a crash."""
        known = self.tokens.get(request["token"])
        if known:
            return {"id": known}
        place = (request.get("type"), request.get("zone"))
        if self.left.get(place, 1) < 1:
            return {"error": f"no {place[0]} machine is left in zone {place[1]} for {request['name']}"}
        if place in self.left:
            self.left[place] -= 1
        things = self.made[kind]
        id = f"{kind[:3]}-{len(things) + 1:04}"
        ready_at = time.monotonic() + READY_S[kind] * (1 + len(things) % 20 / 20)
        things[id] = {"id": id, **request, "ready_at": ready_at, "is_there": True}
        self.tokens[request["token"]] = id
        return {"id": id}

    def describe(self, kind, id):
        """``pending``, ``ready``, ``failed`` with an error, or ``gone``."""
        thing = self.made[kind].get(id)
        if not thing or not thing["is_there"]:
            return {"id": id, "state": "gone"}
        if time.monotonic() < thing["ready_at"]:
            return {"id": id, "state": "pending"}
        if kind == "commands" and thing["name"] in UNLUCKY and not self.is_repaired:
            return {
                "id": id,
                "state": "failed",
                "error": f"exit 100 on {thing['name']}: packages.example is unreachable",
            }
        found = {"id": id, "state": "ready"}
        if kind == "instances":
            number = int(id.split("-")[1])
            found["ip"] = f"10.0.{number // 250}.{number % 250}"
        return found

    def delete(self, kind, id):
        """Deleting twice does no harm."""
        if id in self.made[kind]:
            self.made[kind][id]["is_there"] = False
        return {"id": id, "state": "gone"}

    def report(self):
        """What was asked, as lines of text, and what is left."""
        lines = [f"{'':22}{'calls':>8}{'one by one':>14}"]
        lines += [
            f"{verb.replace('_', ' '):22}{self.calls[verb]:>8,}{self.items[verb]:>14,}" for verb in sorted(self.calls)
        ]
        calls, items = sum(self.calls.values()), sum(self.items.values())
        lines.append(f"{'in all':22}{calls:>8,}{items:>14,}")
        saved = items - calls
        lines.append(f"bulk saved {saved:,} API calls, {100 * saved / max(1, items):.0f} %")
        lines.append(f"{self.throttled:,} more were refused: too many at once")
        there = {
            kind: sum(thing["is_there"] for thing in self.made[kind].values()) for kind in ("instances", "volumes")
        }
        lines.append(f"{there['instances']} instances and {there['volumes']} volumes are there")
        return "\n".join(lines) + "\n"


class Requests(BaseHTTPRequestHandler):
    """One request."""

    provider = Provider()
    protocol_version = "HTTP/1.1"
    wbufsize = 64 * 1024

    def do_POST(self):
        """A verb."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        try:
            self.reply(200, json.dumps(self.provider.answer(self.path.strip("/"), body)))
        except Throttled:
            self.reply(429, json.dumps({"error": "too many calls"}), ("Retry-After", "0.3"))

    def do_PUT(self):
        """The package server works again."""
        self.provider.is_repaired = True
        self.reply(200, "packages.example is back\n")

    def do_GET(self):
        """The report."""
        self.reply(200, self.provider.report())

    def reply(self, status, text, *headers):
        """Say it."""
        sent = text.encode()
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(sent)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        """Calls are counted, not logged."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
