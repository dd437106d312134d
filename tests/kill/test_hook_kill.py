"""An engine that is killed while a hook class is being called: the call is made again, and nobody else's is (H30, H31)."""

import json
import os
from pathlib import Path

import pytest
from tests.processes.shells import Shell

from phaseline.model.graph.status import ExecutionStatus

HOUSE = Path(__file__).parents[1] / "hooks" / "house.py"
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {one: {type: cloudify.nodes.Root}, two: {type: cloudify.nodes.Root}}
"""

pytestmark = pytest.mark.kill


class House(Shell):
    """A shell whose settings name three classes, of which the second stands at a gate."""

    gate = "pre"

    @property
    def environment(self) -> dict[str, str]:
        """With the classes."""
        of = {"A": {}, "B": {"ordinal": 200, "gate": self.gate}, "C": {"ordinal": 300}}
        log = str(self.folder / "calls.txt")
        classes = [
            {"class": "house:Recorder", "name": name, "options": {"name": name, "log": log, **own}}
            for name, own in of.items()
        ]
        own = {"PHASELINE_PLUGINS_PATH": str(self.folder), "PHASELINE_HOOKS_CLASSES": json.dumps(classes)}
        return {**super().environment, **own}

    def calls(self) -> list[str]:
        """Who was called, in order."""
        log = self.folder / "calls.txt"
        return [" ".join(line.split()[:2]) for line in log.read_text().splitlines()] if log.exists() else []

    def attempts(self) -> list[int]:
        """What each of them was told: how many calls before it nobody saw the end of."""
        return [int(line.split()[-1]) for line in (self.folder / "calls.txt").read_text().splitlines()]

    def open_gate(self) -> None:
        """Let whoever stands there go on."""
        with (self.folder / "gate").open("w") as file:
            file.write("go")


@pytest.mark.parametrize("gate", ["pre", "post"])
def test_h30_h31_a_kill_in_a_hook_repeats_this_call_and_no_other(tmp_path: Path, gate: str) -> None:
    house = House(tmp_path)
    house.gate = gate
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "house.py").write_text(HOUSE.read_text().replace("id(self))", "id(self), cnxt.hook.attempt)"))
    os.mkfifo(tmp_path / "gate")
    with house.start("install", "blueprint.yaml", "-d", "shop") as engine:
        house.until(lambda: house.calls()[-1:] == [f"{gate} B"])
        engine.kill()
        engine.communicate()
    with house.start("executions", "resume", "install-1") as resumed:
        house.until(lambda: house.calls()[-2:] == [f"{gate} B"] * 2)
        house.open_gate()
        assert resumed.wait(60) == 0, resumed.communicate()
        resumed.communicate()
    once = ["pre A", "pre B", "pre C", "post A", "post B", "post C"]
    again = once.index(f"{gate} B")
    assert house.calls() == [*once[: again + 1], *once[again:]]
    assert house.attempts() == [0] * (again + 1) + [1] + [0] * (len(once) - again - 1), "of the call that is made again"
    shown = json.loads(house.run("executions", "show", "install-1", "--json").stdout)
    assert shown["status"] == ExecutionStatus.COMPLETED.value
