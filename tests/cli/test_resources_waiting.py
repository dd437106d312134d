"""What resources wait for, as a user sees it: other phases, phases that are not there, failures beside what goes on."""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.clusters import applied, moved, plugins, record, shown, worked
from tests.cli.terminal import Terminal


@pytest.fixture
def folder(terminal: Terminal) -> Path:
    """A volume is made before the instance, and a tag beside both."""
    folder = plugins(terminal)
    write(folder, "volume", "Acme.Volume")
    write(folder, "instance", "Acme.Instance", "Phase.Dependencies = Acme.Volume")
    (folder / "create.cfg").unlink()
    return folder


HANDLE = """
def handle(handler):
    for node in handler.getResources():
        trouble = node.getAsString(handler.getPhaseName().replace(".", "_"))
        if trouble:
            handler.setFailed(node, trouble)
        else:
            handler.setCompleted(node)
"""


def write(folder: Path, name: str, phase: str, *lines: str) -> None:
    """A pair of files of a phase of Allocation that fails where the resource says so."""
    head = ["HandlesStates = Allocation", "ResourceType = Cloud.Node", f"PhaseName = {phase}"]
    (folder / f"{name}.cfg").write_text("\n".join([*head, *lines]) + "\n")
    (folder / f"{name}.py").write_text(HANDLE)


def entries(terminal: Terminal, name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = shown(terminal, name)["record"]["PhaseMap"]  # type: ignore[index]  # JSON
    return found


def test_p59_the_history_tells_what_was_awaited_before_what_waited(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1"))
    _, found = terminal.ask("resources", "history", "n1")
    assert [(one["phase"], one["what"]) for one in found["events"] if one["phase"]] == [
        ("Acme.Volume", "Running"),
        ("Acme.Volume", "Completed"),
        ("Acme.Instance", "Running"),
        ("Acme.Instance", "Completed"),
    ]


def test_p60_a_failed_dependency_blocks_and_is_named(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1", Acme_Volume="no disks"))
    found = entries(terminal, "n1")
    assert (found["Acme.Volume"]["Status"], found["Acme.Instance"]["Status"]) == ("Failed", "Blocked")
    assert found["Acme.Instance"]["WaitingFor"] == ["Acme.Volume (failed)"]
    _, why = terminal.ask("resources", "why", "n1")
    assert [(one["phase"], one["text"]) for one in why["phases"]] == [
        ("Acme.Volume", "no disks"),
        ("Acme.Instance", "waits for Acme.Volume (failed)"),
    ]
    terminal.run("resources", "retry", "n1", "--set", "Acme_Volume=")
    waiting = entries(terminal, "n1")
    assert waiting["Acme.Instance"]["WaitingFor"] == ["Acme.Volume"]
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Started"


def test_p48_p49_one_of_two_failures_retried_still_holds_the_state(terminal: Terminal, folder: Path) -> None:
    write(folder, "tag", "Acme.Tag")
    moved(terminal, record("n1", Acme_Volume="x", Acme_Tag="y"))
    terminal.run("resources", "retry", "n1", "--phase", "Acme.Tag", "--set", "Acme_Tag=")
    worked(terminal)
    half = shown(terminal, "n1")
    assert (half["state"], half["is_failed"], entries(terminal, "n1")["Acme.Tag"]["Status"]) == (
        "Allocation",
        True,
        "Completed",
    )
    terminal.run("resources", "retry", "n1", "--set", "Acme_Volume=")
    worked(terminal)
    whole = shown(terminal, "n1")
    assert (whole["state"], whole["is_failed"]) == ("Started", False)


def test_p64_a_dependency_that_is_not_installed_blocks_with_its_name(terminal: Terminal, folder: Path) -> None:
    (folder / "volume.cfg").unlink()
    (folder / "volume.py").unlink()
    moved(terminal, record("n1"))
    assert shown(terminal, "n1")["state"] == "Allocation"
    blocked = entries(terminal, "n1")["Acme.Instance"]
    assert blocked["Status"] == "Blocked"
    assert "Acme.Volume" in blocked["Message"]
    _, why = terminal.ask("resources", "why", "n1")
    assert any("'Acme.Volume' is not loaded" in one["text"] or "is not loaded" in one["text"] for one in why["phases"])
    write(folder, "volume", "Acme.Volume")
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Started"


def test_a_mistaken_dependency_is_forgotten_when_the_definition_is_mended_and_why_names_the_way_out(
    terminal: Terminal, folder: Path
) -> None:
    write(folder, "volume", "Acme.Volume", "Phase.Dependencies = Acme.Nothing")
    moved(terminal, record("n1"))
    _, why = terminal.ask("resources", "why", "n1")
    mends = {one["phase"]: one["mend"] for one in why["phases"]}
    assert mends["Acme.Nothing"] == "phaseline resources complete n1 --phase Acme.Nothing --reason TEXT"
    write(folder, "volume", "Acme.Volume")
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Started"


def test_why_names_the_way_out_where_a_dependency_was_taken_back(terminal: Terminal, folder: Path) -> None:
    write(folder, "volume", "Acme.Volume")
    moved(terminal, record("n1", Acme_Volume="no quota"))
    (folder / "instance.cfg").write_text(
        "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Acme.Instance\n"
    )
    _, why = terminal.ask("resources", "why", "n1")
    found = {one["phase"]: one for one in why["phases"]}["Acme.Instance"]
    assert found["text"] == "waits for Acme.Volume (failed); its definition no longer names Acme.Volume"
    assert found["mend"] == "phaseline resources complete n1 --phase Acme.Volume --reason TEXT"


def test_p94_a_plugin_that_is_gone_blocks_until_it_is_back(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1", Acme_Volume="x"))
    (folder / "instance.cfg").rename(folder / "instance.off")
    terminal.run("resources", "complete", "n1", "--phase", "Acme.Volume", "--reason", "made by hand")
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Allocation"
    blocked = entries(terminal, "n1")["Acme.Instance"]
    assert blocked["Status"] == "Blocked"
    assert blocked["Message"].startswith("its plugin 'instance' (")
    assert blocked["Message"].endswith("is not there any more")
    _, why = terminal.ask("resources", "why", "n1")
    assert {one["phase"]: one["mend"] for one in why["phases"]}["Acme.Instance"] == "phaseline plugins reload"
    (folder / "instance.off").rename(folder / "instance.cfg")
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Started"


def test_p94_who_comes_after_a_restart_does_not_pass_over_a_phase_that_is_gone(
    terminal: Terminal, folder: Path
) -> None:
    moved(terminal, record("n1"))
    (folder / "instance.cfg").rename(folder / "instance.off")
    moved(terminal, record("n2"))
    assert [shown(terminal, name)["state"] for name in ("n1", "n2")] == ["Started", "Allocation"]
    phases = {phase["name"]: phase for phase in terminal.ask("phases", "list")[1]}
    assert phases["Acme.Instance"]["is_invalid"]
    assert "is not there any more" in phases["Acme.Instance"]["obstacles"][0]
    assert phases["Acme.Instance"]["now"]["counts"] == {"Blocked": 1}
    assert terminal.ask("phases", "forget", "acme.instance")[0] == 0
    moved(terminal, record("n3"))
    assert [shown(terminal, name)["state"] for name in ("n2", "n3")] == ["Allocation", "Started"]
    phases = {phase["name"]: phase for phase in terminal.ask("phases", "list")[1]}
    assert phases["Acme.Instance"]["obstacles"] == ["no plugin defines the phase 'Acme.Instance'"]
    terminal.run("resources", "complete", "n2", "--phase", "Acme.Instance", "--reason", "there is none any more")
    worked(terminal)
    assert shown(terminal, "n2")["state"] == "Started"
    assert "Acme.Instance" not in {phase["name"] for phase in terminal.ask("phases", "list")[1]}


def test_a_phase_that_is_switched_off_is_known_no_more(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1"))
    write(folder, "instance", "Acme.Instance", "Disabled = true")
    moved(terminal, record("n2"))
    assert shown(terminal, "n2")["state"] == "Started"
    assert "Acme.Instance" not in [phase["name"] for phase in terminal.ask("phases", "list")[1]]


def test_only_phases_without_a_plugin_are_forgotten(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1"))
    told = terminal.run("phases", "forget", "Acme.Volume")
    assert (told.exit_code, "PL-D056" in told.output) == (1, True)
    assert "PL-D053" in terminal.run("phases", "forget", "Acme.Vol").output


def test_p71_a_phase_goes_from_running_to_sleeping_to_running_to_completed(terminal: Terminal) -> None:
    plugins(terminal, delay=0.05)
    moved(terminal, record("n1", Sleeps=1))
    _, found = terminal.ask("resources", "history", "n1", "--phase", "Acme.Create")
    assert [event["what"] for event in found["events"]] == ["Running", "Sleeping", "Running", "Completed"]
    _, phase = terminal.ask("phases", "show", "Acme.Create")
    assert (phase["now"]["activity"], phase["now"]["runs"]) == ("Inactive", 2)


def test_p55_a_constraint_that_is_an_error_fails_and_is_shown_as_that(terminal: Terminal) -> None:
    folder = plugins(terminal)
    (folder / "file.cfg").write_text(
        "HandlesStates = Configuration\nResourceType = Cloud.Node\nPhaseName = Acme.Odd\n"
        'ResourceConstraint := Cores + "x"\n'
    )
    moved(terminal, record("n1", Cores=3))
    found = entries(terminal, "n1")["Acme.Odd"]
    assert (found["Status"], "RunCount" in found) == ("Failed", False)
    assert 'Cores + "x"' in found["Message"]
    assert "integer + string" in found["Message"]
    _, history = terminal.ask("resources", "history", "n1", "--phase", "Acme.Odd")
    assert [event["what"] for event in history["events"]] == ["Failed"]
    assert terminal.run("resources", "retry", "n1", "--set", "Cores=x").exit_code == 0
    worked(terminal)
    assert entries(terminal, "n1")["Acme.Odd"]["Attempt"] == 2


def test_p08_p15_resources_of_two_types_clusters_and_states_come_in_one_call(terminal: Terminal) -> None:
    folder = plugins(terminal)
    (folder / "types.rec").write_text(
        'AdType = "ResourceType"\nName = "Volume"\n\n'
        'AdType = "StatePath"\nResourceType = "Volume"\nTargetState = "Ready"\nStates = {"Asked", "Made", "Ready"}\n'
        'Groups = [Ready = "Good"]\n\n'
        'AdType = "ResourceType"\nName = "Web"\nParent = "Cloud.Node"\n'
    )
    (folder / "create.cfg").write_text(
        "HandlesStates = Made, Allocation\nResourceType = Volume, Cloud.Node\nPhaseName = Make.It\n"
    )
    (terminal.folder / "all.rec").write_text(
        'AdType = "Volume"\nName = "v1"\nClusterName = "day"\nTargetState = "Ready"\n\n'
        'AdType = "Web"\nName = "w1"\nClusterName = "night"\nTargetState = "Started"\n'
    )
    code, found = terminal.ask("resources", "apply", "all.rec")
    assert (code, found["clusters"]) == (0, ["day", "night"])
    worked(terminal)
    _, found = terminal.ask("resources", "list")
    assert [(one["name"], one["state"], one["status"]) for one in found["resources"]] == [
        ("v1", "Ready", "Good"),
        ("w1", "Started", "Ready"),
    ]
    _, history = terminal.ask("resources", "history", "v1", "--phase", "Make.It")
    assert [(event["what"], event["batch_size"]) for event in history["events"]] == [("Running", 2), ("Completed", 0)]
    _, checked = terminal.ask("plugins", "check", "phases")
    assert not any("Did you mean 'Made'" in one["mend"] for one in checked["problems"])


def test_a_filter_tells_of_an_attribute_that_is_most_likely_misspelled(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1", Region="north"))
    told = terminal.run("resources", "list", "--filter", 'Regoin == "north"')
    assert "no resource has an attribute 'regoin'; did you mean 'Region'?" in told.stderr
    assert "no resource has" not in terminal.run("resources", "list", "--filter", 'Region == "south"').stderr
    assert "did you mean 'State'?" in terminal.run("resources", "list", "--filter", 'Stat == "Started"').stderr
    _, found = terminal.ask(
        "resources", "list", "--filter", "PhaseMap.'Acme.Volume'.RunCount == 1 && State is \"Started\""
    )
    assert [one["name"] for one in found["resources"]] == ["n1"]
    assert terminal.ask("resources", "list", "--filter", "PhaseMap.'Acme.Volume'.RunCount > 1")[1]["resources"] == []


def test_an_engine_tells_of_plugins_that_are_refused(terminal: Terminal, folder: Path) -> None:
    (folder / "tag.cfg").write_text("HandlesStates = Allocation\nPhaseName = Acme.Tag\n")
    (folder / "tag.py").write_text("def handle(handler): ...\n")
    applied(terminal, record("n1"))
    told = terminal.run("engine", "run", "--until-idle")
    assert "tag.cfg is called, for it is refused: PL-D" in told.stderr


def test_pd35_all_that_have_arrived_when_an_engine_looks_come_in_one_run(terminal: Terminal, folder: Path) -> None:
    for name in ("n1", "n2", "n3"):
        applied(terminal, record(name))
    worked(terminal)
    _, phase = terminal.ask("phases", "show", "Acme.Volume")
    assert (phase["now"]["runs"], phase["now"]["last_run_size"]) == (1, 3)


def test_pd53_a_phase_that_is_installed_late_is_run_before_the_state_is_left(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1", Acme_Instance="no room"))
    write(folder, "label", "Acme.Label", "Phase.Dependencies = Acme.Instance")
    terminal.run("resources", "retry", "n1", "--set", "Acme_Instance=")
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Started"
    assert entries(terminal, "n1")["Acme.Label"]["Status"] == "Completed"
    _, found = terminal.ask("resources", "history", "n1")
    assert [one["state"] for one in found["events"] if not one["phase"]].count("Allocation") == 1


def test_the_history_tells_what_counted_when_the_target_changes(terminal: Terminal, folder: Path) -> None:
    moved(terminal, record("n1", Acme_Volume="no disks"))
    assert terminal.run("resources", "target", "Terminated", "n1").exit_code == 0
    worked(terminal)
    _, found = terminal.ask("resources", "history", "n1")
    told = [(one["phase"], one["what"], one["message"]) for one in found["events"] if one["phase"]]
    assert told == [
        ("Acme.Volume", "Running", ""),
        ("Acme.Volume", "Failed", "no disks"),
        ("Acme.Instance", "Canceled", "it was Blocked"),
        ("Acme.Volume", "Canceled", "it was Failed"),
    ]
