"""Source document 1, its sections on phase plugins, dependencies, constraints and listeners: definitions as they stand there."""

from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import CODE, load

from phaseline.catalog.phases.plugin_set import LoadedPlugins


def given(folder: Path, files: dict[str, list[str]], code: str = CODE) -> LoadedPlugins:
    """Pairs of these definitions, loaded."""
    for name, lines in files.items():
        (folder / f"{name}.cfg").write_text("\n".join(lines) + "\n")
        (folder / f"{name}.py").write_text(code)
    return load(folder)


FIRST = [
    "HandlesStates = Allocation",
    "ResourceType = Cloud.Node",
    "PhaseName = Acme.CreateInstance",
    "Phase.Description = Starting Acme instance",
    "ForProvider = acme",
]
VOLUME = ["HandlesStates = Allocation", "ResourceType = Cloud.Node", "PhaseName = Example.CreateVolume"]
INSTANCE = [
    "HandlesStates = Allocation",
    "ResourceType = Cloud.Node",
    "PhaseName = Example.CreateInstance",
    "Phase.Dependencies = Example.CreateVolume",
]


def test_the_first_plugin_is_a_phase_of_nodes_of_one_provider(tmp_path: Path) -> None:
    loaded = given(tmp_path, {"create": FIRST})
    assert loaded.problems == ()
    [phase] = loaded.registry.of("Allocation", "Cloud.Node")
    assert (phase.name, phase.description, phase.policy.sleep_delay_s) == (
        "Acme.CreateInstance",
        "Starting Acme instance",
        15.0,
    )
    assert [phase.takes_provider(name) for name in ("acme", "other", None)] == [True, False, False]


def test_its_code_in_the_old_spelling_is_refused_with_the_line(tmp_path: Path) -> None:
    code = "def handle(handler):\n    try:\n        pass\n    except Exception, e:\n        pass\n"
    [problem] = given(tmp_path, {"create": FIRST}, code).problems
    assert (problem.code, problem.place.line) == ("PL-D003", 4)
    assert "`except Exception as e:`" in problem.mend


def test_an_instance_is_created_after_its_volumes(tmp_path: Path) -> None:
    loaded = given(tmp_path, {"instance": INSTANCE, "volume": VOLUME})
    assert loaded.problems == ()
    phase = loaded.registry.get("Example.CreateInstance")
    assert phase is not None
    assert loaded.registry.needs(phase, "Allocation") == ("Example.CreateVolume",)


def test_a_constraint_is_an_expression(tmp_path: Path) -> None:
    loaded = given(tmp_path, {"address": [*VOLUME, "ResourceConstraint := FixedPublicIp isnt undefined"]})
    assert loaded.problems == ()
    assert loaded.registry.phases[0].constraint == "FixedPublicIp isnt undefined"


@pytest.mark.parametrize("description", ["Phase_Description", "Phase.Description"])
def test_the_old_spelling_of_attributes_of_the_phase_is_kept(tmp_path: Path, description: str) -> None:
    loaded = given(tmp_path, {"volume": [*VOLUME, f"{description} = Creating volumes"]})
    assert loaded.registry.phases[0].description == "Creating volumes"


def test_a_listener_of_some_states_and_types(tmp_path: Path) -> None:
    lines = ["ResourceStateListener = true", "ResourceStates = Started, Terminated", "ResourceTypes = Cloud.Node"]
    loaded = given(tmp_path, {"told": lines}, "def onStateTransition(event):\n    pass\n")
    assert loaded.problems == ()
    assert [one.plugin for one in loaded.registry.listeners_of("Started", "Cloud.Node")] == ["told"]
    assert loaded.registry.listeners_of("Allocation", "Cloud.Node") == ()
