"""The command line in this process, with a store of its own, and small blueprints to feed it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from click.testing import CliRunner, Result

from phaseline.cli.command_tree import root

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs:
  count: {default: 2}
  word: {default: hello}
  secret: {default: hush, hidden: true}
plugins:
  made: {executor: central_deployment_agent, install: false}
node_types:
  Thing:
    derived_from: cloudify.nodes.Root
    properties: {word: {default: {get_input: word}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: made.made.create
        delete: made.made.delete
node_templates:
  base: {type: Thing}
  top:
    type: Thing
    capabilities: {scalable: {properties: {default_instances: {get_input: count}}}}
    relationships: [{type: cloudify.relationships.depends_on, target: base}]
outputs:
  said: {value: {get_attribute: [base, said]}}
"""
PLUGIN = """\
from pathlib import Path

from phaseline import NonRecoverableError, operation

TROUBLE = Path(__file__).with_name("trouble")
CALLS = Path(__file__).with_name("calls")


def note(item, what):
    with CALLS.open("a") as file:
        file.write(f"{what} {item.node_id}\\n")


@operation(repeatable=True)
def create(item):
    note(item, "create")
    wanted = TROUBLE.read_text() if TROUBLE.exists() else ""
    if item.node_id in wanted.split():
        raise NonRecoverableError(f"{item.node_id} is in trouble")
    item.runtime_properties["said"] = item.properties["word"]
    item.log.info(f"{item.properties['word']} from {item.node_id}")


@operation(repeatable=True)
def delete(item):
    note(item, "delete")
    if TROUBLE.exists() and "delete" in TROUBLE.read_text():
        raise NonRecoverableError("cannot be deleted")
"""


@dataclass
class Terminal:
    """Runs commands and reads their answers."""

    folder: Path
    environment: dict[str, str]

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """A terminal in a new folder named ``shop``, with a store beside it."""
        (folder / "shop").mkdir()
        environment = {
            "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
            "PHASELINE_RUN_TASK_RETRY_INTERVAL": "0.01",
            "PHASELINE_PLUGINS_PATH": "",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        return cls(folder / "shop", environment)

    def run(self, *words: str) -> Result:
        """The command with text answers."""
        return CliRunner().invoke(root, words, prog_name="phaseline", env=self.environment, catch_exceptions=False)

    def ask(self, *words: str) -> tuple[int, Any]:
        """(exit code, the one document on stdout)."""
        result = self.run(*words, "--json")
        return result.exit_code, json.loads(result.stdout)

    def make_store(self) -> None:
        """An empty store; commands that only look make none."""
        assert self.run("engine", "run", "--until-idle").exit_code == 0

    def has_store(self) -> bool:
        """Whether there is one."""
        return Path(self.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///")).exists()

    def write(self, text: str = BLUEPRINT, name: str = "blueprint.yaml") -> str:
        """A blueprint file in the folder, with the plugin beside it; its path."""
        (self.folder / "plugins").mkdir(exist_ok=True)
        (self.folder / "plugins" / "made.py").write_text(PLUGIN)
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def trouble(self, words: str) -> None:
        """Which nodes cannot be created from now on, or ``delete``."""
        (self.folder / "plugins" / "trouble").write_text(words)

    def calls(self) -> list[str]:
        """What the plugin was asked for, in order."""
        file = self.folder / "plugins" / "calls"
        return file.read_text().splitlines() if file.exists() else []
