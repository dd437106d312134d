"""Old.Create: completes, fails or comes again, as ``Does`` of the node says."""

import os
from pathlib import Path

WORLD = Path(os.environ["OLD_WORLD"])


def handle(handler):
    for node in handler.getResources():
        name = node.getAsString("Name")
        data = handler.getResourcePhaseData(node)
        does = node.getAsString("Does")
        if does == "poll" and not data.isDefined("Ticket"):
            note("order", name)
            data.setString("Ticket", f"ticket-{name}")
            handler.setMessage(node, "asked for a machine")
        elif does == "poll" and not (WORLD / "up").exists():
            continue
        elif does == "fail" and not (WORLD / "up").exists():
            note("fails", name)
            handler.setFailed(node, "no quota")
        else:
            note("create", name)
            node.setString("InstanceId", f"i-{name}")
            handler.setCompleted(node)


def note(what, name):
    with (WORLD / "calls").open("a") as file:
        file.write(f"{what} {name}\n")
