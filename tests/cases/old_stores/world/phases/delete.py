"""Old.Delete: completes."""

import os
from pathlib import Path

WORLD = Path(os.environ["OLD_WORLD"])


def handle(handler):
    for node in handler.getResources():
        with (WORLD / "calls").open("a") as file:
            file.write(f"delete {node.getAsString('Name')}\n")
        handler.setCompleted(node)
