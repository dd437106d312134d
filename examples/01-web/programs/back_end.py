"""The back end: answers in JSON what the page shows, from what the data process knows.

``GET /guestbook`` counts the visit and lists the guests.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])
SETTINGS = json.loads((FOLDER / "settings.json").read_text("utf-8"))


def ask(path: str, body: object = None) -> object:
    """What the data process answers; with a body it is a POST."""
    sent = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(SETTINGS["needs"] + path, data=sent, timeout=5) as response:
        return json.load(response)


class GuestBook(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        """The state of the back end, or the guest book."""
        try:
            if self.path == "/health":
                ask("/health")
                self.reply(200, {"process": os.getpid(), "data": "answers"})
            elif self.path == "/guestbook":
                self.reply(200, {"visits": ask("/keys/visits/add", 1), "guests": ask("/keys/guests")})
            else:
                self.reply(404, {"error": f"no {self.path} here"})
        except urllib.error.URLError as error:
            self.reply(503, {"error": f"the data process does not answer: {error}"})

    def reply(self, status: int, value: object) -> None:
        """Say it as JSON."""
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


server = ThreadingHTTPServer((SETTINGS["address"], SETTINGS["port"]), GuestBook)
(FOLDER / "pid").write_text(f"{os.getpid()}\n", "utf-8")
server.serve_forever()
