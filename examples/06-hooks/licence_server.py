"""A licence server: ``POST {"who": name, "count": n}`` says how many licences somebody holds from now on; ``GET`` shows all.

Started as ``licence_server.py COUNT FILE``: so many licences there are, and into the file it writes its address.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

COUNT, FILE = int(sys.argv[1]), Path(sys.argv[2])
held = {}


class Licences(BaseHTTPRequestHandler):
    """Answers one request after the other."""

    def do_POST(self):
        """Grant it, or say why not."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        left = COUNT - sum(count for who, count in held.items() if who != asked["who"])
        if asked["count"] <= left:
            held[asked["who"]] = asked["count"]
            self.answer(200, "")
        else:
            self.answer(403, f"{asked['who']} wants {asked['count']} licences, and {left} are left")

    def do_GET(self):
        """Who holds how many."""
        told = [f"{who} {count}" for who, count in sorted(held.items()) if count]
        self.answer(200, ", ".join(told) or "none")

    def answer(self, status, text):
        """Send it."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_given):
        """Its own log is of no interest."""


server = HTTPServer(("127.0.0.1", 0), Licences)
beside = FILE.with_suffix(".new")
beside.write_text(f"http://127.0.0.1:{server.server_port}/")
beside.replace(FILE)
server.serve_forever()
