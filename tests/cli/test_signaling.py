"""``instances signal`` from the command line, with a real function that waits for it."""

import json
from collections.abc import Callable

from tests.cli.terminal import Terminal

from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.calls.deployments.progress import Progress
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {things: {executor: central_deployment_agent, install: false}}
node_templates:
  db:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: things.things.create}}
  web: {type: cloudify.nodes.Root}
"""
PLUGIN = """\
from phaseline import operation


@operation(repeatable=True)
def create(item):
    said = item.data.get("signals", [])
    item.runtime_properties["said"] = list(said)
    if "ready" not in [one["state"] for one in said]:
        item.again(3600, "not ready")
"""


class UntilItSleeps(NullWatcher):
    """Leaves when something sleeps."""

    wants_progress = True

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        self.interrupt = interrupt

    def progressed(self, progress: Progress, now: int) -> None:
        if progress.next_wake is not None:
            self.interrupt()


def sleeping(terminal: Terminal) -> str:
    """The instance of a deployment ``shop`` whose create waits for somebody."""
    (terminal.folder / "plugins").mkdir()
    (terminal.folder / "plugins" / "things.py").write_text(PLUGIN)
    (terminal.folder / "shop.yaml").write_text(BLUEPRINT)
    with open_context(Settings(terminal.environment["PHASELINE_STORE_URL"]), "a test") as ctx:
        follow(ctx, install(ctx, DeploymentSpec(str(terminal.folder / "shop.yaml"), "shop")), watcher=UntilItSleeps())
    _, listed = terminal.ask("instances", "list", "-d", "shop", "--node", "db")
    return str(listed["instances"][0]["id"])


def test_h_what_waits_is_called_now_and_finds_what_was_said(terminal: Terminal) -> None:
    db = sleeping(terminal)
    result = terminal.run(
        "instances", "signal", db, "-d", "shop", "--data", '{"state": "ready"}', "--operation", "create"
    )
    assert result.exit_code == 0, result.output
    assert terminal.ask("instances", "show", db)[1]["runtime_properties"] == {"said": [{"state": "ready"}]}
    _, events = terminal.ask("executions", "events", "install-1")
    (told,) = [event for event in events["events"] if event["level"] == "signaled"]
    assert told["text"].startswith('Signal: {"state": "ready"}')
    _, shown = terminal.ask("executions", "show", "install-1")
    assert [one["what"] for one in shown["decisions"]] == ["signal"]


def refused(terminal: Terminal, *words: str) -> str:
    code, said = terminal.ask("instances", "signal", "-d", "shop", *words)
    assert code == 1
    return json.dumps(said)


def test_h_who_does_not_wait_takes_no_signal(terminal: Terminal) -> None:
    db = sleeping(terminal)
    assert "PL-C093" in refused(terminal, "web")
    assert "PL-C012" in refused(terminal, "wax")
    assert "PL-C025" in refused(terminal, db, "--data", "{state: ")
    assert "PL-C027" in refused(terminal, db, "--operation", "crate")
    assert terminal.run("instances", "signal", db, "--data", "{state: ready}").exit_code == 0
    assert "install-1 is completed" in refused(terminal, db)
    assert terminal.run("suspend", "-d", "shop").exit_code == 0
    assert "PL-C080" in refused(terminal, db)
