"""Old.Hang: never comes back while the store is made."""

import os
from pathlib import Path

WORLD = Path(os.environ["OLD_WORLD"])


def handle(handler):
    note("hangs", handler)
    (WORLD / "gate").read_text()
    note("hung", handler)
    for node in handler.getResources():
        handler.setCompleted(node)


def note(what, handler):
    with (WORLD / "calls").open("a") as file:
        file.writelines(f"{what} {node.getAsString('Name')}\n" for node in handler.getResources())
