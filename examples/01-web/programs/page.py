"""The page: HTML made from the inputs of the blueprint and from what the back end answers.

``PUT /back_end`` tells it where the back end is. Without one there is no page, and it says so.
"""

import html
import json
import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])
SETTINGS = json.loads((FOLDER / "settings.json").read_text("utf-8"))
BACK_END = FOLDER / "back_end"

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<h1>{title}</h1>
<p>{message}</p>
<ul>
{guests}
</ul>
<p>Visit number {visits}.</p>
</body>
</html>
"""


def guest_book() -> dict:
    """What the back end knows. Raises OSError if there is none, or it does not answer."""
    with urllib.request.urlopen(BACK_END.read_text("utf-8") + "/guestbook", timeout=5) as response:
        return json.load(response)


def render() -> str:
    """The page as text."""
    book = guest_book()
    return PAGE.format(
        title=html.escape(SETTINGS["title"]),
        message=html.escape(SETTINGS["message"]),
        guests="\n".join(f"<li>{html.escape(guest)}</li>" for guest in book["guests"]),
        visits=book["visits"],
    )


class Visits(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        """The page, or whether this process is well."""
        if self.path == "/health":
            return self.reply(200, json.dumps({"process": os.getpid()}), "application/json")
        if self.path != "/":
            return self.reply(404, "nothing here\n", "text/plain")
        try:
            return self.reply(200, render(), "text/html; charset=utf-8")
        except OSError as error:
            return self.reply(503, f"no back end: {error}\n", "text/plain")

    def do_PUT(self) -> None:
        """Remember the address of the back end, also for the next start."""
        BACK_END.write_bytes(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        self.reply(200, "thanks\n", "text/plain")

    def reply(self, status: int, text: str, kind: str) -> None:
        """Say it."""
        sent = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)


server = ThreadingHTTPServer((SETTINGS["address"], SETTINGS["port"]), Visits)
(FOLDER / "pid").write_text(f"{os.getpid()}\n", "utf-8")
server.serve_forever()
