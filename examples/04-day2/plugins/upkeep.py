"""What day 2 asks of a process: whether it is well, to come back when it died, to take new settings."""

import json
import subprocess
from pathlib import Path

import tiers
from cloudify import ctx
from cloudify.decorators import operation
from cloudify.exceptions import NonRecoverableError

START_PATIENCE_S = 15


@operation(resumable=True)
def check(path="/health", **_):
    """Well is who answers."""
    url = ctx.instance.runtime_properties["url"] + path
    try:
        tiers.fetch(url)
    except OSError as error:
        raise NonRecoverableError(f"{ctx.instance.id} does not answer: {error}") from error


@operation(resumable=True)
def is_there(**_):
    """A machine is well while its folder is there."""
    if not Path(ctx.instance.runtime_properties["folder"]).is_dir():
        raise NonRecoverableError("the folder of the machine is gone")


@operation(resumable=True)
def revive(**_):
    """Start the process again where it stood: its folder, its port and what it was told are all there."""
    folder = Path(ctx.instance.runtime_properties["folder"])
    if tiers.running(folder) is None:
        _begin(folder)
        ctx.logger.info("%s is back", ctx.node.name)


@operation(resumable=True)
def take_settings(**_):
    """Write what the blueprint says now, and let the process read it: it keeps its port and its acquaintances."""
    folder = Path(ctx.instance.runtime_properties["folder"])
    file = folder / "settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **ctx.node.properties["settings"]}), "utf-8")
    tiers.stop()
    _begin(folder)
    ctx.logger.info("%s has new settings", ctx.instance.id)


def _begin(folder):
    """Run the program in a session of its own, until it has written its process id."""
    (folder / "pid").unlink(missing_ok=True)
    with (folder / "log").open("ab") as log:
        subprocess.Popen(
            ["python3", str(folder / "program.py"), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    for _ in range(START_PATIENCE_S * 20):
        if tiers.running(folder) is not None:
            return
        tiers.time.sleep(0.05)
    raise NonRecoverableError(f"it does not start; see {folder / 'log'}")
