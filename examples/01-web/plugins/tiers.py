"""Python operations of the three tiers: settings and ports, health over HTTP, acquaintance, a clean end."""

import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

from cloudify import ctx
from cloudify.decorators import operation
from cloudify.exceptions import NonRecoverableError

STOP_PATIENCE_S = 5


@operation(resumable=True)
def configure(**_):
    """Find a free port if none is asked for, and write what the program reads at its start."""
    mine = ctx.instance.runtime_properties
    address = "127.0.0.1"
    if not mine.get("port"):
        mine["port"] = ctx.node.properties["port"] or free_port(address)
    mine["url"] = f"http://{address}:{mine['port']}"
    settings = {**ctx.node.properties["settings"], "address": address, "port": mine["port"]}
    if "needs" in mine:
        settings["needs"] = mine["needs"]
    (Path(mine["folder"]) / "settings.json").write_text(json.dumps(settings), "utf-8")
    ctx.logger.info("%s will listen on port %s", ctx.node.name, mine["port"])


@operation(resumable=True)
def check_health(path, **_):
    """Ask the process whether it is well, and again later if it is not yet."""
    url = ctx.instance.runtime_properties["url"] + path
    try:
        status, text = fetch(url)
    except OSError as error:
        return ctx.operation.retry(f"{url} does not answer yet: {error}")
    ctx.logger.info("%s answers %s: %s", url, status, text)
    return None


@operation(resumable=True)
def show(back_end_url, **_):
    """Tell the page where its back end is, then look at the page as a guest would."""
    page = ctx.source.instance.runtime_properties["url"]
    try:
        fetch(page + "/back_end", method="PUT", body=back_end_url)
        fetch(page + "/")
    except OSError as error:
        return ctx.operation.retry(f"the page cannot be seen yet: {error}")
    ctx.logger.info("the page at %s/ shows what %s knows", page, back_end_url)
    return None


@operation(resumable=True)
def hide(**_):
    """Let the page forget its back end. By now it may be stopped, so this goes by the file that it would read next."""
    folder = ctx.source.instance.runtime_properties.get("folder")
    if folder:
        (Path(folder) / "back_end").unlink(missing_ok=True)
        ctx.logger.info("the page has forgotten its back end")


@operation(resumable=True)
def stop(**_):
    """End the process of this instance and see that it is gone; nothing to do if it is not there."""
    folder = Path(ctx.instance.runtime_properties.get("folder") or os.devnull)
    pid = running(folder)
    if pid is None:
        ctx.logger.info("nothing runs")
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        os.kill(pid, sign)
        deadline = time.monotonic() + STOP_PATIENCE_S
        while running(folder) and time.monotonic() < deadline:
            time.sleep(0.02)
        if not running(folder):
            (folder / "pid").unlink()
            ctx.logger.info("process %s ended", pid)
            return
    raise NonRecoverableError(f"process {pid} does not end")


def running(folder):
    """The id of the living process whose program lies in the folder, or None. Ids are reused, so the command counts."""
    try:
        pid = int((folder / "pid").read_text("utf-8"))
        command = Path(f"/proc/{pid}/cmdline").read_bytes()  # empty for one that ended and was not yet waited for
    except (OSError, ValueError):
        return None
    return pid if os.fsencode(folder) in command else None


def free_port(address):
    """A port on which nobody listens."""
    with socket.socket() as listener:
        listener.bind((address, 0))
        return listener.getsockname()[1]


def fetch(url, method="GET", body=None):
    """(status, text) of an HTTP request. Raises OSError if nobody answers or the answer is an error."""
    sent = None if body is None else body.encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=sent, method=method), timeout=5) as response:
        return response.status, response.read().decode().strip()
