"""``resources target|retry|complete|rerun|wake|cancel|delete`` and ``phases pause|unpause`` on a real store."""

from typing import Any

import pytest
from tests.cli.clusters import applied, moved, plugins, record, shown, worked
from tests.cli.terminal import Terminal

from phaseline.app.settings import load_settings
from phaseline.embedded.open_app import open_context

PHASE = "Acme.Create"


@pytest.fixture(autouse=True)
def _phases(terminal: Terminal) -> None:
    plugins(terminal)


def entry(terminal: Terminal, name: str, phase: str = PHASE) -> dict[str, Any]:
    """What the phase map of a resource says of a phase."""
    found: dict[str, Any] = shown(terminal, name)["record"]["PhaseMap"][phase]  # type: ignore[index]  # JSON
    return found


def states(terminal: Terminal) -> dict[str, str]:
    _, found = terminal.ask("resources", "list")
    return {one["name"]: one["state"] for one in found["resources"]}


def refused(terminal: Terminal, *words: str) -> list[str]:
    code, found = terminal.ask("resources", *words)
    assert code == 1
    return [one["code"] for one in found["problems"]]


def test_p79_a_decision_without_an_engine_keeps_nothing_from_listeners(terminal: Terminal) -> None:
    folder, heard = terminal.folder / "phases", terminal.folder / "heard"
    (folder / "ear.cfg").write_text(
        "ResourceStateListener = true\nResourceStates = Terminated\nResourceTypes = Cloud.Node\n"
    )
    tell = f"    with open({str(heard)!r}, 'a') as file:\n        print(event.getState(), *event.getResources().names(), file=file)"
    (folder / "ear.py").write_text(f"def onStateTransition(event):\n{tell}\n")
    moved(terminal, record("n1"), record("n2", Trouble="quota"))
    terminal.run("resources", "target", "Terminated", "n1", "n2")
    assert states(terminal) == {"n1": "Started", "n2": "Allocation"}, "an engine has to tell it"
    terminal.run("resources", "target", "Started", "n2")
    assert terminal.run("engine", "run", "--until-idle").exit_code == 0
    assert states(terminal) == {"n1": "Terminated", "n2": "Allocation"}
    assert heard.read_text() == "Terminated n1\n"
    assert terminal.ask("executions", "list", "--status", "running")[1]["total"] == 0


# retry


def test_p47_a_retry_clears_what_the_phase_kept(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1))
    terminal.run("resources", "wake", "n1")
    assert entry(terminal, "n1")["Calls"] == 1
    (terminal.folder / "trouble.rec").write_text(record("n1", Trouble="lost it"))
    terminal.run("resources", "apply", "trouble.rec", "-d", "night")
    worked(terminal)
    failed = entry(terminal, "n1")
    assert (failed["Status"], failed["Calls"]) == ("Failed", 1)
    code, found = terminal.ask("resources", "retry", "n1")
    assert (code, found["resources"], found["entries"], found["is_running"]) == (0, 1, 1, False)
    waiting = entry(terminal, "n1")
    assert (waiting["Status"], waiting["Attempt"]) == ("Waiting", 2)
    assert not {"Calls", "Message", "StartTime", "RunCount"} & waiting.keys()
    assert shown(terminal, "n1")["is_failed"] is False


def test_p52_a_retry_with_changes_sees_the_new_values(terminal: Terminal) -> None:
    moved(terminal, record("n1", Trouble="too big"), record("n2", Trouble="too big"))
    code, found = terminal.ask("resources", "retry", "--filter", "PhaseFailed", "--set", "Trouble=", "--set", "Size=3")
    assert (code, found["resources"]) == (0, 2)
    worked(terminal)
    assert states(terminal) == {"n1": "Started", "n2": "Started"}
    assert shown(terminal, "n1")["record"]["Size"] == 3  # type: ignore[index]  # JSON
    assert refused(terminal, "retry", "n1", "--set", "State=Started") == ["PL-R025"]


def test_p51_what_has_not_failed_cannot_be_retried(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1), record("n2", Trouble="x"))
    before = terminal.run("resources", "show", "n1").stdout
    assert refused(terminal, "retry", "n1") == ["PL-C041"]
    assert refused(terminal, "retry", "n1", "n2", "--phase", PHASE) == ["PL-C040", "PL-C041"]
    assert refused(terminal, "retry", "n2", "--phase", "Acme.Creat") == ["PL-D053"]
    assert refused(terminal, "retry", "n2", "--phase", "Example.CreateFile") == ["PL-C040"]
    assert refused(terminal, "retry", "--all", "--phase", "Acme.Creat", "--phase", PHASE) == ["PL-D053"]
    assert refused(terminal, "retry") == ["PL-C033"]
    assert refused(terminal, "retry", "n9", "n8") == ["PL-C031", "PL-C031"]
    assert terminal.run("resources", "show", "n1").stdout == before
    assert entry(terminal, "n2")["Status"] == "Failed"


def test_p50_a_retry_leaves_others_of_the_phase_alone(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1), record("n2", Trouble="x"))
    before = terminal.run("resources", "show", "n1").stdout
    assert terminal.run("resources", "retry", "n2").exit_code == 0
    assert terminal.run("resources", "show", "n1").stdout == before


def test_p111_a_group_of_failures_is_retried_as_one(terminal: Terminal) -> None:
    moved(terminal, *(record(f"n{at}", Trouble=f"no quota for n{at}") for at in range(5)), record("odd", Trouble="x"))
    _, found = terminal.ask("resources", "list")
    key = found["failures"][0]["key"]
    _, found = terminal.ask("resources", "retry", "--group", key, "--set", "Trouble=")
    assert found["resources"] == 5
    worked(terminal)
    assert sorted(set(states(terminal).values())) == ["Allocation", "Started"]
    assert states(terminal)["odd"] == "Allocation"


# complete, rerun, wake


def test_p109_a_phase_is_taken_as_completed_with_a_reason_that_is_kept(terminal: Terminal) -> None:
    moved(terminal, record("n1", Trouble="x"))
    assert terminal.run("resources", "complete", "n1").exit_code == 2
    code, found = terminal.ask("resources", "complete", "n1", "--reason", "made by hand")
    assert (code, found["phases"]) == (0, [PHASE])
    worked(terminal)
    assert states(terminal) == {"n1": "Started"}
    _, told = terminal.ask("resources", "history", "n1", "--phase", PHASE)
    (audit,) = [event for event in told["events"] if "made by hand" in event["message"]]
    assert audit["actor"]


def test_p109_a_sleeper_is_woken(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1))
    assert entry(terminal, "n1")["Status"] == "Sleeping"
    code, found = terminal.ask("resources", "wake", "n1")
    assert (code, found["entries"]) == (0, 1)
    assert entry(terminal, "n1")["Status"] == "Waiting"
    worked(terminal)
    assert states(terminal) == {"n1": "Started"}
    assert refused(terminal, "wake", "n1") == ["PL-C041"]


def test_h_phases_that_sleep_find_what_was_said_to_their_resources(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=9), record("n2", Sleeps=9), record("n3", Sleeps=9), record("n4"))
    code, found = terminal.ask("resources", "signal", "--filter", 'Name != "n3"', "--data", '"wait"', "--phase", PHASE)
    assert (code, found["what"], found["resources"], found["entries"]) == (0, "signal", 2, 2)
    code, found = terminal.ask("resources", "signal", "--all", "--data", '"go"')
    assert found["resources"] == 1, "two are called already"
    worked(terminal)
    assert states(terminal) == {"n1": "Allocation", "n2": "Allocation", "n3": "Started", "n4": "Started"}
    assert terminal.run("resources", "signal", "n1", "n2", "--data", '"go"').exit_code == 0
    worked(terminal)
    assert set(states(terminal).values()) == {"Started"}
    assert shown(terminal, "n1")["record"]["Said"] == "wait go"  # type: ignore[index]  # JSON
    _, told = terminal.ask("resources", "history", "n1", "--phase", PHASE)
    said = [(event["message"], bool(event["actor"])) for event in told["events"] if event["what"] == "signaled"]
    assert said == [('Signal: "wait"', True), ('Signal: "go"', True)]


def test_h_resources_of_which_nothing_sleeps_take_no_signal(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1), record("n2"))
    assert refused(terminal, "signal", "n2", "--data", '"go"') == ["PL-C093"]
    assert refused(terminal, "signal", "--filter", 'Name == "n2"') == ["PL-C093"]
    assert refused(terminal, "signal") == ["PL-C033"]
    assert refused(terminal, "signal", "n1", "--data", '{"$expr": "1 +"}') == ["PL-R005"]
    assert refused(terminal, "signal", "n1", "--phase", "Acme.Creat") == ["PL-D053"]
    code, found = terminal.ask("instances", "signal", "n1", "-d", "night", "--data", '"go"')
    assert (code, "phaseline resources signal n1 -d night" in str(found)) == (1, True)
    assert entry(terminal, "n1")["Status"] == "Sleeping"
    assert "signals" not in entry(terminal, "n1")


def test_p109_a_completed_phase_is_called_once_more_while_its_state_lasts(terminal: Terminal) -> None:
    folder = plugins(terminal)
    (folder / "other.cfg").write_text(
        "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Acme.Hold\nPhase.SleepDelay = 60\n"
    )
    (folder / "other.py").write_text("def handle(handler): pass\n")
    moved(terminal, record("n1"))
    first = entry(terminal, "n1")
    assert first["Status"] == "Completed"
    code, _ = terminal.ask("resources", "rerun", "n1", "--phase", PHASE)
    assert code == 0
    assert entry(terminal, "n1")["Status"] == "Waiting"
    worked(terminal)
    again = entry(terminal, "n1")
    assert (again["Status"], again["RunId"] > first["RunId"]) == ("Completed", True)
    terminal.run("resources", "complete", "n1", "--phase", "Acme.Hold", "--reason", "enough")
    worked(terminal)
    assert states(terminal) == {"n1": "Started"}
    assert refused(terminal, "rerun", "n1", "--phase", PHASE) == ["PL-C040"]


# target, cancel, delete


def test_p65_a_sleeping_phase_is_left_at_once_for_another_target(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=5))
    code, found = terminal.ask("resources", "target", "Terminated", "n1")
    assert (code, found["changed"]) == (0, 1)
    view = shown(terminal, "n1")
    assert (view["state"], view["target"]) == ("Terminated", "Terminated")
    assert entry(terminal, "n1")["Status"] == "Canceled"


def test_a_target_with_force_is_part_of_the_request(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=5), record("n2", Sleeps=5))
    for name, *force in (("n1", "--force"), ("n2",)):
        _, found = terminal.ask("resources", "target", "Terminated", name, *force)
        settings = load_settings(environment=terminal.environment, folder=terminal.folder)
        with open_context(settings, "a test") as ctx:
            row = ctx.store.execution(*found["executions"])
        assert row is not None
        assert row.request.parameters.get("force", False) is bool(force)
    assert states(terminal) == {"n1": "Terminated", "n2": "Terminated"}


def test_p68_a_failed_resource_is_terminated(terminal: Terminal) -> None:
    folder = plugins(terminal)
    (folder / "release.cfg").write_text(
        "HandlesStates = Deallocation\nResourceType = Cloud.Node\nPhaseName = Acme.Release\n"
    )
    (folder / "release.py").write_text("def handle(handler): handler.setCompleted(handler.getResources())\n")
    moved(terminal, record("n1", Trouble="x"))
    terminal.run("resources", "target", "Terminated", "n1")
    assert shown(terminal, "n1")["is_failed"] is False
    worked(terminal)
    assert states(terminal) == {"n1": "Terminated"}
    assert entry(terminal, "n1", "Acme.Release")["Status"] == "Completed"
    assert entry(terminal, "n1")["Status"] == "Canceled"


def test_p46_started_terminated_and_started_again_begins_with_nothing(terminal: Terminal) -> None:
    moved(terminal, record("n1"))
    assert entry(terminal, "n1")["OperationId"] == "op-n1"
    terminal.run("resources", "target", "Terminated", "n1")
    terminal.run("resources", "target", "Started", "n1")
    again = entry(terminal, "n1")
    assert (again["Status"], "OperationId" in again) == ("Waiting", False)
    worked(terminal)
    assert entry(terminal, "n1")["Status"] == "Completed"


def test_the_same_target_is_nothing_new_but_for_what_failed(terminal: Terminal) -> None:
    moved(terminal, record("n1"), record("n2", Sleeps=1), record("n3", Trouble="x"))
    code, found = terminal.ask("resources", "target", "Started", "n1", "n2")
    assert (code, found["changed"], found["executions"]) == (0, 0, [])
    assert refused(terminal, "target", "Started", "n3") == ["PL-C039"]
    assert refused(terminal, "target", "Ready", "n3") == ["PL-R024"]


def test_what_is_canceled_stays_where_it_is_until_it_gets_its_target_again(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1), record("n2"))
    code, found = terminal.ask("resources", "cancel", "--all")
    assert (code, found["changed"], found["names"]) == (0, 1, ["n1"])
    view = shown(terminal, "n1")
    assert (view["state"], view["is_moving"]) == ("Allocation", False)
    assert entry(terminal, "n1")["Status"] == "Canceled"
    assert refused(terminal, "cancel", "n1") == ["PL-C017"]
    assert terminal.ask("resources", "target", "Started", "n1")[1]["changed"] == 1
    terminal.run("resources", "apply", "nodes.rec", "-d", "night")
    worked(terminal)
    assert entry(terminal, "n1")["Status"] == "Sleeping"


def test_deleted_resources_are_gone_and_their_names_are_free(terminal: Terminal) -> None:
    moved(terminal, record("n1"), record("n2", Trouble="x"))
    code, found = terminal.ask("resources", "delete", "n1", "n2")
    assert (code, found["changed"]) == (0, 2)
    assert states(terminal) == {}
    assert refused(terminal, "show", "n1") == ["PL-C031"]
    applied(terminal, record("n1", Size=7))
    assert shown(terminal, "n1")["state"] == ""
    worked(terminal)
    found = shown(terminal, "n1")
    assert (found["state"], found["record"]["Size"]) == ("Started", 7)  # type: ignore[index]  # JSON
    assert len(terminal.ask("resources", "history", "n1")[1]["events"]) < 12
    assert terminal.run("store", "check").exit_code == 0
    assert terminal.run("resources", "delete", "--all").exit_code == 0
    result = terminal.run("deployments", "delete", "night")
    assert result.exit_code == 0, result.output


def test_a_file_with_other_attributes_changes_the_resource(terminal: Terminal) -> None:
    moved(terminal, record("n1", Size=3, Color="blue"))
    (terminal.folder / "more.rec").write_text(record("n1", target="", size=4))
    _, found = terminal.ask("resources", "apply", "more.rec", "-d", "night")
    assert [(one["action"], one["target"]) for one in found["resources"]] == [("changed", "")]
    attributes = shown(terminal, "n1")["record"]
    assert isinstance(attributes, dict)
    assert (attributes["Size"], attributes["Color"], "size" in attributes) == (4, "blue", False)


# phases


def test_p109_a_paused_phase_is_not_called_until_it_is_unpaused(terminal: Terminal) -> None:
    applied(terminal, record("n1"))
    code, found = terminal.ask("phases", "pause", "acme.create", "--reason", "the cloud is down")
    assert (code, found["phase"], found["is_changed"]) == (0, PHASE, True)
    assert terminal.ask("phases", "pause", PHASE)[1]["is_changed"] is False
    worked(terminal)
    assert states(terminal) == {"n1": "Allocation"}
    assert entry(terminal, "n1")["Status"] == "Waiting"
    _, phase = terminal.ask("phases", "show", PHASE)
    assert "the cloud is down" in phase["now"]["paused"]
    _, why = terminal.ask("resources", "why", "n1")
    assert "the cloud is down" in why["phases"][0]["text"]
    assert why["phases"][0]["mend"] == f"phaseline phases unpause {PHASE}"
    assert terminal.ask("phases", "unpause", PHASE)[1]["is_paused"] is False
    assert terminal.ask("phases", "pause", PHASE, "--reason", " ")[1]["reason"] == "paused by a user"
    terminal.run("phases", "unpause", PHASE)
    worked(terminal)
    assert states(terminal) == {"n1": "Started"}
    code, wrong = terminal.ask("phases", "pause", "Acme.Creat")
    assert (code, wrong["problems"][0]["code"]) == (1, "PL-D053")


def test_p01_p73_a_phase_record_says_what_is_done_with_it(terminal: Terminal) -> None:
    _, phase = terminal.ask("phases", "show", PHASE)
    assert (phase["description"], phase["now"]["activity"]) == ("Creating instances", "Inactive")
    moved(terminal, record("n1", Sleeps=1), record("n2", Trouble="x"))
    _, phase = terminal.ask("phases", "show", PHASE)
    now = phase["now"]
    assert (now["activity"], now["counts"]) == ("Sleeping", {"Sleeping": 1, "Failed": 1})
    assert (now["runs"], now["last_run_size"], now["failures"]) == (1, 2, 1)
    assert now["next_run_at"]
    assert (now["called"], now["mean_wait_ms"] * 2) == (2, now["waited_ms"])
    assert (phase["engine"]["is_running"], phase["engine"]["pools"]["bulk"]["busy"]) == (False, 0)
    (run,) = now["latest"]
    assert (run["size"], run["completed"], run["again"], run["failed"]) == (2, 0, 1, 1)
    assert "2 resources  " in terminal.run("phases", "show", PHASE).stdout
    assert phase["engine"]["listeners"] == {"waiting": 0, "told": 0, "errors": 0, "dropped": 0}
    assert "on average for a call, 2 resources" in terminal.run("phases", "show", PHASE).stdout
    assert "NEXT RUN" in terminal.run("phases", "list").stdout
    terminal.run("resources", "wake", "n1")
    worked(terminal)
    _, phase = terminal.ask("phases", "show", PHASE)
    assert (phase["now"]["activity"], phase["now"]["counts"]) == ("Inactive", {"Failed": 1})
    assert "Inactive: 1 failed" in terminal.run("phases", "list").stdout


def test_what_slept_when_it_was_deleted_is_never_called_again(terminal: Terminal) -> None:
    moved(terminal, record("n1", Sleeps=1), record("n2", Sleeps=1))
    assert terminal.ask("resources", "delete", "n1")[1]["changed"] == 1
    terminal.run("resources", "target", "Terminated", "n2")
    _, found = terminal.ask("executions", "list")
    assert [(one["id"], one["status"]) for one in found["executions"]] == [
        ("reach-3", "completed"),
        ("reach-2", "completed"),
        ("reach-1", "canceled"),
    ]
    assert terminal.run("resources", "delete", "--all").exit_code == 0
    result = terminal.run("deployments", "delete", "night")
    assert result.exit_code == 0, result.output


def test_a_retry_goes_beside_others_that_are_still_on_their_way(terminal: Terminal) -> None:
    moved(terminal, record("n1", Trouble="x"))
    (terminal.folder / "more.rec").write_text(record("n2", Sleeps=1))
    terminal.run("resources", "apply", "more.rec", "-d", "night")
    worked(terminal)
    _, found = terminal.ask("executions", "list")
    assert [(one["id"], one["status"]) for one in found["executions"]] == [
        ("reach-2", "running"),
        ("reach-1", "failed"),
    ]
    result = terminal.run("resources", "retry", "n1", "--set", "Trouble=")
    assert result.exit_code == 0, result.output
    worked(terminal)
    assert states(terminal) == {"n1": "Started", "n2": "Allocation"}
    _, status = terminal.ask("status")
    assert [(one["id"], one["counts"]["sleeping"]) for one in status["executions"]] == [("reach-2", 1)]


def test_an_execution_of_resources_is_retried_whole_and_names_them_elsewhere(terminal: Terminal) -> None:
    moved(terminal, record("n1", Trouble="x"))
    for words in (("retry",), ("complete", "--reason", "seen")):
        code, wrong = terminal.ask("executions", words[0], "reach-1", "--instance", "n1", *words[1:])
        assert (code, wrong["problems"][0]["code"]) == (1, "PL-C014")
        assert "phaseline resources retry n1 -d night" in wrong["problems"][0]["mend"]
    assert terminal.run("executions", "retry", "reach-1").exit_code == 1
    assert entry(terminal, "n1")["Attempt"] == 2
    assert refused(terminal, "complete", "n1", "--reason", " ") == ["PL-C029"]


def test_p109_who_paused_a_phase_and_who_changed_a_resource_is_kept(terminal: Terminal) -> None:
    applied(terminal, record("n1", Size=1))
    terminal.run("phases", "pause", PHASE, "--reason", "the cloud is down")
    terminal.run("phases", "unpause", PHASE)
    _, phase = terminal.ask("phases", "show", PHASE)
    told = [(pause["is_paused"], pause["reason"], bool(pause["actor"])) for pause in phase["now"]["pauses"]]
    assert told == [(True, "the cloud is down", True), (False, "", True)]
    applied(terminal, record("n1", Size=2))
    _, history = terminal.ask("resources", "history", "n1")
    (change,) = [event for event in history["events"] if event["what"] == "changed"]
    assert (change["message"], bool(change["actor"])) == ("Size", True)
