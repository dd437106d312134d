"""Plugins and records for tests of ``phaseline resources``: what the phases do is said by the resources themselves."""

from collections.abc import Mapping
from pathlib import Path

from tests.cli.terminal import Terminal

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import load_settings
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.open_app import open_context
from phaseline.embedded.run_execution import open_engine

LONG_MS = 10_000
CREATE = """
HandlesStates = Allocation
ResourceType = Cloud.Node
PhaseName = Acme.Create
Phase.Description = Creating instances
Phase.SleepDelay = {delay}
"""
WORK = """
def handle(handler):
    for node in handler.getResources():
        data = handler.getResourcePhaseData(node)
        trouble = node.getAsString("Trouble")
        said = data.getAsList("Signals") or ()
        if trouble:
            handler.setFailed(node, trouble)
        elif "go" in said:
            node.setString("Said", " ".join(said))
            handler.setCompleted(node)
        elif node.getAsInteger("Sleeps") and (data.getAsInteger("Calls") or 0) < node.getAsInteger("Sleeps"):
            data.setInteger("Calls", (data.getAsInteger("Calls") or 0) + 1)
            handler.setSleeping(node, message="not ready yet")
        else:
            node.setString("InstanceId", "i-" + node.getAsString("Name"))
            data.setString("OperationId", "op-" + node.getAsString("Name"))
            handler.setCompleted(node)
"""
FILE = """
HandlesStates = Configuration
ResourceType = Cloud.Node
PhaseName = Example.CreateFile
ResourceConstraint := WantsFile is true
"""


def plugins(terminal: Terminal, *, delay: float = 60) -> Path:
    """A folder with two phases, which the settings name."""
    folder = terminal.folder / "phases"
    folder.mkdir(exist_ok=True)
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(folder)
    (folder / "create.cfg").write_text(CREATE.format(delay=delay))
    (folder / "file.cfg").write_text(FILE)
    (folder / "create.py").write_text(WORK)
    (folder / "file.py").write_text(WORK)
    return folder


def record(name: str, target: str = "Started", **attributes: object) -> str:
    """The text of a node's record."""
    lines = ['AdType = "Cloud.Node"', f'Name = "{name}"', *([f'TargetState = "{target}"'] if target else [])]
    shown = {True: "true", False: "false"}
    for key, value in attributes.items():
        lines.append(f"{key} = {shown[value] if isinstance(value, bool) else _text(value)}")
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def applied(terminal: Terminal, *records: str, cluster: str = "night", name: str = "nodes.rec") -> None:
    """The records are in the store."""
    (terminal.folder / name).write_text("\n".join(records))
    result = terminal.run("resources", "apply", name, "-d", cluster)
    assert result.exit_code == 0, result.output


def moved(terminal: Terminal, *records: str) -> None:
    """The records are in the store, and an engine has done what it can."""
    applied(terminal, *records)
    worked(terminal)


def worked(terminal: Terminal) -> None:
    """An engine has done what it can without waiting for a person, or for a sleeper that is not due soon."""
    settings = load_settings(environment=terminal.environment, folder=terminal.folder)
    with open_context(settings, "a test") as ctx:
        worked_at(ctx)


def worked_at(ctx: RequestContext) -> None:
    """The same at an open store."""
    with ctx.app.store.own("a test") as lease, open_engine(ctx, lease, NullWatcher()) as engine:

        def is_quiet() -> bool:
            if engine.has_work or engine.scheduler.batches:
                return False
            due = engine.wakes_at
            return due is None or due - ctx.clock.now() > LONG_MS

        engine.recover()
        engine.turn()
        engine.run(is_quiet)
        engine.close(0)


def shown(terminal: Terminal, name: str) -> Mapping[str, object]:
    """What ``show --json`` says of a resource."""
    code, found = terminal.ask("resources", "show", name)
    assert code == 0
    assert isinstance(found, dict)
    return found
