"""``breakpoints add|remove|list|clear`` and ``resources … --break``: H46 as somebody types it."""

import pytest
from tests.cli.clusters import plugins, record, worked
from tests.cli.terminal import Terminal

POINT = "pre-Acme.Create"


@pytest.fixture(autouse=True)
def _phases(terminal: Terminal) -> None:
    plugins(terminal)


def test_h46_a_resource_is_stopped_listed_and_cleared(terminal: Terminal) -> None:
    (terminal.folder / "nodes.rec").write_text("\n".join([record("n1"), record("n2")]))
    wrong = terminal.run("resources", "apply", "nodes.rec", "-d", "night", "--break", "Acme.Craete")
    assert (wrong.exit_code, "did you mean 'Acme.Create'?" in wrong.output) == (1, True)
    assert terminal.run("resources", "apply", "nodes.rec", "-d", "night", "--break", "Acme.Create=n1").exit_code == 0
    worked(terminal)
    _, found = terminal.ask("breakpoints", "list", "--cluster", "night")
    assert [(one["point"], one["instance"]) for one in found["stopped"]] == [(POINT, "n1")]
    assert f"phaseline breakpoints clear {POINT} -d night" in terminal.run("status").output
    assert f"{POINT}: 1 cleared" in terminal.run("breakpoints", "clear", "acme.create=n*", "n1").output
    worked(terminal)
    _, after = terminal.ask("resources", "list")
    assert [one["state"] for one in after["resources"]] == ["Started", "Started"]


def test_h46_a_time_for_breakpoints_that_are_not_given_is_refused_and_a_wrong_one_is_told(terminal: Terminal) -> None:
    (terminal.folder / "nodes.rec").write_text(record("n1"))
    for words in (("resources", "apply", "nodes.rec", "-d", "night"), ("install", "nodes.rec")):
        alone = terminal.run(*words, "--break-timeout", "10s")
        assert (alone.exit_code, "--break-timeout needs a --break" in alone.output) == (2, True)
        wrong = terminal.run(*words, "--break", "Acme.Create@5x")
        assert (wrong.exit_code, "'Acme.Create@5x' is invalid: '5x' is no span" in wrong.output) == (2, True)


def test_h46_breakpoints_are_kept_with_a_cluster_and_taken_back(terminal: Terminal) -> None:
    (terminal.folder / "nodes.rec").write_text(record("n1"))
    assert terminal.run("resources", "apply", "nodes.rec", "-d", "night").exit_code == 0
    added = terminal.run("breakpoints", "add", "Acme.Create=n*", "-d", "night", "--timeout", "10m")
    assert f"{POINT}=n*@600s" in added.output
    assert "Executions that have started do not stop there: reach-1." in added.output
    assert terminal.run("breakpoints", "add", "Acme.Create", "-d", "night", "--timeout", "soon").exit_code == 2
    _, found = terminal.ask("breakpoints", "add", "-d", "night")
    assert found["breakpoints"] == [f"{POINT}=n*@600s"]
    listed = terminal.run("breakpoints", "list").output
    assert "No instance is stopped at a breakpoint." in listed
    assert f"{POINT}=n*@600s  night" in listed
    assert [one["deployment"] for one in terminal.ask("breakpoints", "list", "-d", "night")[1]["kept"]] == ["night"]
    removed = terminal.run("breakpoints", "remove", POINT, "-d", "night")
    assert "'night' has no breakpoints" in removed.output
    assert terminal.run("resources", "target", "Terminated", "n1", "--break", "pre-Acme.Create=n2").exit_code == 1
