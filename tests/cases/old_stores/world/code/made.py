"""Operations that note their calls in the file ``calls`` of the folder ``$OLD_WORLD``.

``gate`` is a pipe there while the store is made, so what opens it hangs until it is killed; later it is an empty file.
``up`` is not there while the store is made, so what looks for it comes again in an hour.
"""

import os
from pathlib import Path

from cloudify import ctx

from phaseline import operation

WORLD = Path(os.environ["OLD_WORLD"])


def note(name, *instances):
    with (WORLD / "calls").open("a") as file:
        file.writelines(f"{name} {instance}\n" for instance in instances)


def finish(batch, name):
    for item in batch:
        note(name, item.instance_id)
        item.runtime_properties["id"] = f"real-{item.node_id}"


def is_troubled(batch):
    return any(item.properties["troubled"] for item in batch)


@operation(bulk=True, repeatable=True)
def create(batch):
    finish(batch, "create")


@operation(bulk=True, repeatable=True)
def hang(batch):
    note("hangs", *(item.instance_id for item in batch))
    if is_troubled(batch):
        (WORLD / "gate").read_text()
    finish(batch, "create")


@operation(bulk=True)
def hang_once(batch):
    hang(batch)


@operation(bulk=True, repeatable=True)
def poll(batch):
    if not is_troubled(batch):
        finish(batch, "create")
        return
    for item in batch:
        if "ticket" not in item.data:
            note("order", item.instance_id)
            item.data["ticket"] = f"ticket-{item.token}"
            item.again(3600, "booting")
        elif not (WORLD / "up").exists():
            item.again(3600, "still booting")
        else:
            note("create", item.instance_id)
            item.runtime_properties["id"] = item.data["ticket"]


@operation(bulk=True, repeatable=True)
def fail(batch):
    if is_troubled(batch) and not (WORLD / "up").exists():
        for item in batch:
            note("fails", item.instance_id)
            item.fail("no quota", retry=True)
        return
    finish(batch, "create")


@operation(repeatable=True)
def backup(item):
    note("backup", item.instance_id)


@operation(bulk=True, repeatable=True)
def stop(batch):
    note("stop", *(item.instance_id for item in batch))


@operation(bulk=True, repeatable=True)
def delete(batch):
    note("delete", *(item.instance_id for item in batch))


def configure(**inputs):
    """As plugins of Cloudify are written."""
    ctx.instance.runtime_properties["configured"] = True
    note("configure", ctx.instance.id)
