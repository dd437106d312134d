"""The data process: keys and values over HTTP, kept in one JSON file.

``GET /keys/NAME`` reads, ``PUT /keys/NAME`` writes, ``POST /keys/NAME/add`` counts up by the number in the body.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])
SETTINGS = json.loads((FOLDER / "settings.json").read_text("utf-8"))
FILE = FOLDER / SETTINGS["file"]
LOCK = threading.Lock()


def load() -> dict:
    """All keys; those of the settings if nothing was written yet."""
    if FILE.exists():
        return json.loads(FILE.read_text("utf-8"))
    return {"guests": SETTINGS["guests"], "visits": 0}


def save(keys: dict) -> None:
    """All keys at once: a reader sees the file before or after, never in between."""
    draft = FILE.with_suffix(".new")
    draft.write_text(json.dumps(keys), "utf-8")
    draft.replace(FILE)


class Keys(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        """The value of a key."""
        if self.path == "/health":
            return self.reply(200, {"process": os.getpid()})
        with LOCK:
            keys = load()
        name = self.path.removeprefix("/keys/")
        return self.reply(200, keys[name]) if name in keys else self.reply(404, f"no key {name}")

    def do_PUT(self) -> None:
        """A new value for a key."""
        value = self.body()
        with LOCK:
            save({**load(), self.path.removeprefix("/keys/"): value})
        self.reply(200, value)

    def do_POST(self) -> None:
        """The value of a key after adding to it."""
        name = self.path.removeprefix("/keys/").removesuffix("/add")
        amount = self.body()
        with LOCK:
            keys = load()
            keys[name] = keys.get(name, 0) + amount
            save(keys)
        self.reply(200, keys[name])

    def body(self) -> object:
        """What was sent."""
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")

    def reply(self, status: int, value: object) -> None:
        """Say it as JSON."""
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


server = ThreadingHTTPServer((SETTINGS["address"], SETTINGS["port"]), Keys)
(FOLDER / "pid").write_text(f"{os.getpid()}\n", "utf-8")
server.serve_forever()
