"""A plugin that brought the path of a blueprint's nodes was removed: the plan refuses what the command refuses."""

from tests.cli.terminal import Terminal

TYPES = """\
AdType = "ResourceType"
Name = "Acme.Disk"

AdType = "StatePath"
ResourceType = "Acme.Disk"
TargetState = "Ready"
States = {"Making", "Ready"}

AdType = "StatePath"
ResourceType = "Acme.Disk"
TargetState = "Terminated"
States = {"Ending", "Terminated"}
"""
BLUEPRINT = """\
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_types:
  Disk: {derived_from: cloudify.nodes.Root, resource_type: Acme.Disk, target_state: Ready}
node_templates:
  disk: {type: Disk}
"""


def test_decision15_a_plan_is_refused_as_the_command_is_when_the_path_is_no_longer_known(terminal: Terminal) -> None:
    folder = terminal.folder / "phases"
    folder.mkdir()
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(folder)
    types = folder / "types.rec"
    types.write_text(TYPES)
    (terminal.folder / "disk.yaml").write_text(BLUEPRINT)
    done = terminal.run("install", "disk.yaml", "-d", "disk")
    assert done.exit_code == 0, done.output
    assert "Ending" in terminal.run("plan", "uninstall", "-d", "disk").output

    types.unlink()
    planned = terminal.run("plan", "uninstall", "-d", "disk")
    done = terminal.run("uninstall", "-d", "disk")
    assert done.exit_code == 1
    assert "PL-P020" in done.output
    assert planned.exit_code == 1, planned.output
    assert "PL-P020" in planned.output

    types.write_text(TYPES)
    done = terminal.run("uninstall", "-d", "disk")
    assert done.exit_code == 0, done.output
